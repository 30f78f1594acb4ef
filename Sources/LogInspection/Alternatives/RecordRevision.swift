import Operations

/// The adaptation of a record to another history, in which operations have other numbers or are missing.
///
/// It is pure. References to missing operations and entities are removed; a record without any remaining content is
/// dropped.
struct RecordRevision {
    /// Returns the number of an operation in the other history, or nil if it is missing there.
    let number: (SequenceNumber) -> SequenceNumber?
    /// Returns the new number of the first member of a change set, given its old number.
    var firstOfChangeSet: (SequenceNumber) -> SequenceNumber
    /// Entities that do not exist in the other history.
    var absent: Set<EntityID> = []
    /// Returns whether an outcome may still apply to the operation, by its new number.
    var awaitsAnswer: (SequenceNumber) throws -> Bool = { _ in true }
    /// Returns whether an operation may be sent, by its new number.
    var isSendable: (SequenceNumber) throws -> Bool = { _ in true }

    /// Returns the adapted record, or nil if no content remains.
    func revised(_ body: Record.Body) throws -> Record.Body? {
        switch body {
        case .operation(var operation):
            operation.changeSet = operation.changeSet.map(firstOfChangeSet)
            return .operation(operation)
        case .downloadPage(let page): return .downloadPage(revised(page))
        case .entitiesRead(let images):
            return images.isEmpty ? body : some(images.compactMap(revised)).map { .entitiesRead($0) }
        case .entitiesMissing(let entities): return some(entities.filter(isThere)).map { .entitiesMissing($0) }
        case .batchPrepared(let prepared): return try revised(prepared)
        case .batchAnswered(let answered): return try revised(answered)
        case .operationsReleased(let list): return some(list.compactMap(number)).map { .operationsReleased($0) }
        case .operationsUndone(let list): return some(list.compactMap(number)).map { .operationsUndone($0) }
        case .operationsRedone(let list): return some(list.compactMap(number)).map { .operationsRedone($0) }
        case .operationsElided(let list): return some(list.compactMap(number)).map { .operationsElided($0) }
        case .clientChangesKept(let list): return some(list.compactMap(number)).map { .clientChangesKept($0) }
        case .deliveryChanged(let list, let delivery):
            return some(list.compactMap(number)).map { .deliveryChanged($0, to: delivery) }
        case .conflictResolved(let resolved): return revised(resolved)
        case .operationsIncompatible(let incompatible):
            let left = incompatible.compactMap { incompatible in
                number(incompatible.operation).map {
                    IncompatibleOperation(operation: $0, refusal: incompatible.refusal)
                }
            }
            return some(left).map { .operationsIncompatible($0) }
        case .operationsAmended(let amended):
            let left = amended.compactMap { amended -> AmendedOperation? in
                guard let operation = number(amended.operation) else { return nil }
                var content = amended.content
                content.changeSet = content.changeSet.map(firstOfChangeSet)
                return AmendedOperation(operation: operation, content: content)
            }
            return some(left).map { .operationsAmended($0) }
        case .streamsStored(let images): return some(images.filter { isThere($0.entity) }).map { .streamsStored($0) }
        case .serviceInstalled, .definingQueryAdded, .definingQueryRemoved, .downloadStarted, .downloadFinished,
            .linksLeftOpen, .entitiesQuarantined, .batchAccepted, .batchInterrupted, .uploadPostponed, .lost, .unknown:
            return body
        }
    }

    private func isThere(_ id: EntityID) -> Bool { !absent.contains(id) }

    private func some<T>(_ list: [T]) -> [T]? { list.isEmpty ? nil : list }

    private func revised(_ image: EntityImage) -> EntityImage? {
        guard isThere(image.entity) else { return nil }
        guard !absent.isEmpty, !image.links.isEmpty else { return image }
        var image = image
        for index in image.links.indices { image.links[index].targets.removeAll { !isThere($0) } }
        return image
    }

    private func revised(_ page: DownloadPage) -> DownloadPage {
        guard !absent.isEmpty else { return page }
        var page = page
        page.entities = page.entities.compactMap(revised)
        page.unchanged.removeAll { !isThere($0) }
        page.removed.removeAll { !isThere($0) }
        page.left.removeAll { !isThere($0) }
        page.links.removeAll { link in !isThere(link.source) || link.target.map { !isThere($0) } ?? false }
        return page
    }

    private func revised(_ prepared: BatchPrepared) throws -> Record.Body? {
        var revised = prepared
        var isWhole = true
        revised.changeSets = try prepared.changeSets.compactMap { changeSet in
            let left = try changeSet.compactMap { request -> BatchPrepared.Request? in
                guard let operation = number(request.operation), try isSendable(operation) else { return nil }
                var request = request
                request.operation = operation
                return request
            }
            if left.count != changeSet.count { isWhole = false }
            return left.isEmpty ? nil : left
        }
        // The requests would have been different.
        if !isWhole {
            (revised.sent, revised.fingerprint) = ([], nil)
            revised.changeSets = revised.changeSets.map { changeSet in
                changeSet.map { BatchPrepared.Request(contentID: $0.contentID, operation: $0.operation) }
            }
        }
        return revised.changeSets.isEmpty ? nil : .batchPrepared(revised)
    }

    private func revised(_ answered: BatchAnswered) throws -> Record.Body? {
        var revised = answered
        revised.outcomes = try answered.outcomes.compactMap { outcome in
            guard let operation = number(outcome.operation), try awaitsAnswer(operation) else { return nil }
            guard case .confirmed(let images) = outcome.result else {
                return BatchAnswered.Outcome(operation: operation, result: outcome.result)
            }
            return BatchAnswered.Outcome(
                operation: operation, result: .confirmed(images: images.compactMap(self.revised)))
        }
        return revised.outcomes.isEmpty ? nil : .batchAnswered(revised)
    }

    private func revised(_ resolved: ConflictResolved) -> Record.Body? {
        guard isThere(resolved.entity) else { return nil }
        let dropped = resolved.dropped.compactMap { part in
            number(part.operation).map {
                ConflictResolved.PartialUpdate(
                    operation: $0, properties: part.properties, navigations: part.navigations)
            }
        }
        return .conflictResolved(
            ConflictResolved(
                entity: resolved.entity, decision: resolved.decision, dropped: dropped,
                takenBack: resolved.takenBack.compactMap(number), released: resolved.released.compactMap(number)))
    }
}
