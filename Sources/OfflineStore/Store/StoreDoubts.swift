package import EDM
package import ODataWire
import OperationLog
package import Operations
package import SyncCore
import Views

/// The part of a batch without a response.
package struct OutstandingResponse {
    /// The positions of the change sets.
    package var places: [Int]
    var operations: [SequenceNumber]
    /// Whether the batch was sent before, so that there may have been an earlier response.
    package var isRepeated: Bool
    /// The time of transmission.
    package var since: Timestamp
}

/// Batches and operations with unknown outcomes.
package actor StoreDoubts {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    /// Marks the operations of abandoned batches as in doubt: after a crash, or if a response could not be logged. It
    /// may only run while no upload is running. The next upload polls asynchronous batches.
    package func interruptOpenBatches() async throws(TidelogError) {
        var open: [BatchID] = []
        do throws(StateError) {
            let batches = Set(try core.state.pendingOperations(.inFlight).compactMap(\.status.batch))
            for batch in batches.sorted() where try core.state.bookkeeping.openBatch(batch)?.monitor == nil {
                open.append(batch)
            }
        } catch {
            throw TidelogError(error, views: core.files.views)
        }
        for batch in open {
            try await core.record([
                .batchInterrupted(BatchInterrupted(batch: batch, reason: "No response to the batch was recorded."))
            ])
        }
    }

    package func openBatches() throws(TidelogError) -> [OpenBatch] {
        try core.read { try $0.bookkeeping.openBatches() }
    }

    package func openBatch(_ batch: BatchID) throws(TidelogError) -> OpenBatch? {
        try core.read { try $0.bookkeeping.openBatch(batch) }
    }

    /// Returns the change sets of a batch at these positions, as they were sent.
    package func uploaded(_ prepared: BatchPrepared, _ places: [Int]) throws(TidelogError) -> UploadedBatch {
        let model = try core.model
        return try core.read { try LoggedBatchReader(storage: $0, model: model).batch(prepared, places) }
    }

    /// Returns the positions of the change sets of a batch that are in doubt.
    package func inDoubtPlaces(of open: OpenBatch) throws(TidelogError) -> [Int] {
        try core.read { state in
            try open.prepared.changeSets.indices.filter { place in
                try open.prepared.changeSets[place].contains {
                    if case .inDoubt(open.batch, _)? = try state.pendingOperation($0.operation)?.status { return true }
                    return false
                }
            }
        }
    }

    /// Returns those of the change sets of a batch that must not be executed before the operations, or before the other
    /// change sets.
    package func places(
        _ places: [Int], of prepared: BatchPrepared, behind operations: Set<SequenceNumber>, _ left: [Int] = []
    ) throws(TidelogError) -> [Int] {
        let model = try core.model
        return try core.read {
            try RepetitionOrder(storage: $0, model: model).places(places, of: prepared, behind: operations, left)
        }
    }

    /// Returns the outstanding part of a batch, or nil if there is none.
    package func outstanding(of open: OpenBatch) throws(TidelogError) -> OutstandingResponse? {
        try core.read { state in
            var found = OutstandingResponse(places: [], operations: [], isRepeated: false, since: .max)
            for place in open.prepared.changeSets.indices {
                let members = try open.prepared.changeSets[place].compactMap {
                    try state.pendingOperation($0.operation)
                }.filter { $0.status.batch == open.batch }
                guard !members.isEmpty else { continue }
                found.places.append(place)
                found.operations += Set(members.map(\.sequence)).sorted()
                found.since = members.reduce(found.since) { min($0, $1.since) }
                if members.contains(where: { if case .inDoubt = $0.status { true } else { false } }) {
                    found.isRepeated = true
                }
            }
            return found.places.isEmpty ? nil : found
        }
    }

    /// Returns the operations that the service processes asynchronously, by batch.
    package func awaitedOperations() throws(TidelogError) -> [BatchID: [SequenceNumber]] {
        var awaited: [BatchID: [SequenceNumber]] = [:]
        for open in try openBatches() where open.monitor != nil {
            awaited[open.batch] = try outstanding(of: open)?.operations
        }
        return awaited
    }

    /// Returns the pending operations before an operation that refer to any of the entities and may be sent.
    package func earlierOperations(
        than operation: SequenceNumber, naming entities: [EntityID]
    ) throws(TidelogError) -> [PendingOperation] {
        try core.read { state in
            let named = Set(try entities.flatMap { try state.pendingOperations(naming: $0) })
            return try named.filter { $0 < operation }.sorted().compactMap { try state.pendingOperation($0) }.filter {
                $0.operation.delivery != .localOnly
            }
        }
    }

    /// Returns the operations in doubt, grouped by those that took effect all or none: they were in one change set, and
    /// the service rolls back rejected ones.
    package func inDoubtSets() throws(TidelogError) -> [[PendingOperation]] {
        let isAtomic = try core.serviceOptions.changeSetRollback != .absent
        return try core.read { state in
            var sets: [[PendingOperation]] = []
            var places: [String: Int] = [:]
            var batches: [BatchID: OpenBatch?] = [:]
            for pending in try state.pendingOperations(.inDoubt) {
                guard case .inDoubt(let batch, let reason) = pending.status else { continue }
                guard isAtomic, !DoubtReason.isOfRefusal(reason) else {
                    sets.append([pending])
                    continue
                }
                if batches[batch] == nil { batches[batch] = .some(try state.bookkeeping.openBatch(batch)) }
                // Batch 0 stands for operations whose batch is unknown because its record is lost.
                let place = batches[batch]??.prepared.changeSets.firstIndex {
                    $0.contains { $0.operation == pending.sequence }
                }
                let key = place.map { "\(batch)/\($0)" } ?? "\(pending.sequence)"
                if let known = places[key] {
                    sets[known].append(pending)
                } else {
                    places[key] = sets.count
                    sets.append([pending])
                }
            }
            return sets
        }
    }

    /// Logs that operations in doubt did not take effect, according to a search.
    package func release(_ members: [PendingOperation], because finding: String) async throws(TidelogError) {
        let operations = members.map(\.sequence)
        try core.transaction { () throws -> Void in
            try DoubtFindings(core: core).add(finding, for: members)
            try core.add(.operationsReleased(operations))
            try IncompatibleOperations(core: core).add(among: operations)
            _ = try core.commit()
        }
        try await core.acknowledge()
    }

    /// Logs that operations in doubt did not take effect.
    package func release(_ operations: [SequenceNumber]) async throws(TidelogError) {
        try core.transaction { () throws -> Void in
            try core.add(.operationsReleased(operations))
            try IncompatibleOperations(core: core).add(among: operations)
            _ = try core.commit()
        }
        try await core.acknowledge()
    }

    // MARK: Confirmation

    private var streams: StreamRecords { StreamRecords(core: core) }

    /// Logs that an operation in doubt took effect, with the service's current version of its entity.
    package func confirm(
        _ pending: PendingOperation, of batch: BatchID, _ payload: EntityPayload, _ set: EntitySet
    ) async throws(TidelogError) {
        let model = try core.model
        try core.transaction { () throws -> Void in
            var builder = try ImageBuilder(storage: core.state, model: model)
            let images = try builder.images(of: payload, in: set, known: pending.operation.subject) ?? []
            // The read is no response: other clients may have changed the entity since, even a new one.
            let outcome = BatchAnswered.Outcome(
                operation: pending.sequence,
                result: .confirmed(
                    images: pending.operation.imagesAsSent(to: pending.operation.createdEntities, images, model)))
            let sent = try streams.sentCopies(of: [pending.sequence])
            let twins = try DownloadedDuplicates(
                of: Set(pending.operation.createdEntities), in: images, state: core.state, model: model)
            let answered = BatchAnswered(batch: batch, outcomes: [outcome])
            try twins.add([.batchAnswered(answered), .entitiesRead(images)], isRead: true, to: core)
            try streams.add(builder.streams)
            try streams.remove(sent)
            _ = try core.commit()
        }
        try await core.acknowledge()
    }

    /// Logs that operations in doubt took effect together, with the service's current versions of those that were
    /// found.
    ///
    /// - Parameter evidence: The reason as a sentence, and the IDs under which downloads had stored the entities; nil
    ///   if a key or unique value is the proof.
    package func confirm(
        _ members: [PendingOperation], of batch: BatchID,
        found: [(operation: SequenceNumber, payload: EntityPayload, set: EntitySet)],
        because evidence: (finding: String, replacing: [EntityID])? = nil
    ) async throws(TidelogError) {
        let model = try core.model
        try core.transaction { () throws -> Void in
            var builder = try ImageBuilder(storage: core.state, model: model)
            var read: [EntityImage] = []
            for (operation, payload, set) in found {
                let subject = members.first { $0.sequence == operation }?.operation.subject
                read += try builder.images(of: payload, in: set, known: subject) ?? []
            }
            let created = members.flatMap(\.operation.createdEntities)
            let outcomes = members.map { member in
                BatchAnswered.Outcome(
                    operation: member.sequence,
                    result: .confirmed(images: member.operation.imagesAsSent(to: created, read, model)))
            }
            let sent = try streams.sentCopies(of: members.map(\.sequence))
            if let evidence { try DoubtFindings(core: core).add(evidence.finding, for: members) }
            let twins = try DownloadedDuplicates(
                of: Set(created), in: read, and: evidence?.replacing ?? [], state: core.state, model: model)
            let answered = BatchAnswered(batch: batch, outcomes: outcomes)
            try twins.add([.batchAnswered(answered), .entitiesRead(read)], isRead: true, to: core)
            try streams.add(builder.streams)
            try streams.remove(sent)
            _ = try core.commit()
        }
        try await core.acknowledge()
    }

    /// Logs that operations in doubt took effect, without reading their entities.
    ///
    /// - Parameter images: The user's statements about the created entities.
    package func confirm(
        _ operations: [SequenceNumber], of batch: BatchID, images: [SequenceNumber: [EntityImage]]
    ) async throws(TidelogError) {
        let outcomes = operations.map {
            BatchAnswered.Outcome(operation: $0, result: .confirmed(images: images[$0] ?? []))
        }
        let model = try core.model
        try core.transaction { () throws -> Void in
            let sent = try streams.sentCopies(of: operations)
            let twins = try DownloadedDuplicates(confirming: outcomes, state: core.state, model: model)
            let answered = BatchAnswered(batch: batch, outcomes: outcomes)
            try twins.add([.batchAnswered(answered)], isRead: false, to: core)
            try streams.remove(sent)
            _ = try core.commit()
        }
        try await core.acknowledge()
    }

    // MARK: Decisions of the user

    /// Logs the outcome of an operation in doubt, and of those in the same change set. Not permitted during an upload,
    /// which may be sending them again.
    ///
    /// - Parameter address: The location of the created entity on the service: a URL, `Orders(5)`, or the key alone.
    ///   Without it, operations on an entity with a service-generated key wait until a download or ``identify(_:as:)``
    ///   provides the key.
    /// - Returns: All resolved operations.
    @discardableResult
    package func resolveInDoubt(
        _ operation: SequenceNumber, as settlement: DoubtSettlement, at address: String? = nil
    ) async throws(TidelogError) -> [SequenceNumber] {
        guard core.uploadState.running == 0 else {
            throw TidelogError(
                .invalidRequest, "An upload is running and may determine the outcome of operation \(operation).",
                recovery: "Wait until the upload has ended, or cancel it.")
        }
        let sets = try inDoubtSets()
        guard let members = sets.first(where: { $0.contains { $0.sequence == operation } }) else {
            throw TidelogError(
                .invalidRequest, "Operation \(operation) is not in doubt.", recovery: "See 'tidelog status'.")
        }
        let operations = members.map(\.sequence)
        guard try !awaitedOperations().values.joined().contains(operation) else {
            throw TidelogError(
                .invalidRequest, "The service is still processing operation \(operation) and will report the outcome.",
                recovery: "Upload again later.")
        }
        switch settlement {
        case .tookEffect:
            var reported: [SequenceNumber: [EntityImage]] = [:]
            if let address { reported[operation] = try images(operation, address, members) }
            let all = try replacedDeletions(before: operations) + operations
            try await confirm(all, of: members[0].status.batch ?? 0, images: reported)
            return all
        case .resend:
            guard address == nil else {
                throw TidelogError(
                    .invalidRequest, "An operation that did not take effect has no address.",
                    recovery: "State that the operation took effect, or omit the address.")
            }
            try await release(operations)
        }
        return operations
    }

    /// Sends all operations in doubt again as new ones, except those of batches that the service is still processing.
    package func resendInDoubt() async throws(TidelogError) {
        guard core.uploadState.running == 0 else {
            throw TidelogError(
                .invalidRequest, "An upload is running and may determine the outcome of the operations in doubt.",
                recovery: "Wait until the upload has ended, or cancel it.")
        }
        let awaited = Set(try awaitedOperations().values.joined())
        let doubts = try core.read { try $0.pendingOperations(.inDoubt) }.map(\.sequence).filter {
            !awaited.contains($0)
        }
        if !doubts.isEmpty { try await release(doubts) }
    }

    /// Logs the location of an entity that the service created without returning its key. Operations that wait for the
    /// key are sent by the next upload, which reads the entity first.
    ///
    /// - Parameter address: A URL, `Orders(5)`, or the key alone.
    /// - Returns: The new readLink of the entity.
    @discardableResult
    package func identify(_ entity: EntityAddress, as address: String) async throws(TidelogError) -> String {
        let model = try core.model
        let image = try core.read { state in
            let root = try state.header().service?.root
            return try AddressResolver(state: state, model: model, root: root).image(of: entity, at: address)
        }
        try core.transaction { () throws -> Void in
            let twins = try DownloadedDuplicates(of: [image.entity], in: [image], state: core.state, model: model)
            try twins.add([.entitiesRead([image])], isRead: false, to: core)
            _ = try core.commit()
        }
        try await core.acknowledge()
        return try core.read { state in
            let names = EntityNames(storage: state, model: model, serviceRoot: try state.header().service?.root ?? "")
            return try EntityResolver(storage: state, model: model).serviceRow(image.entity).map(names.readLink)
                ?? address
        }
    }

    /// Returns the images of an entity that an operation in doubt created: the sent values, and then the key alone,
    /// which indicates that the entity has not been read.
    private func images(
        _ operation: SequenceNumber, _ address: String, _ members: [PendingOperation]
    ) throws(TidelogError) -> [EntityImage] {
        guard case .create(let creation, _)? = members.first(where: { $0.sequence == operation })?.operation.action
        else {
            throw TidelogError(
                .invalidRequest, "Operation \(operation) does not create an entity, so it has no address.",
                recovery: "Omit the address.")
        }
        let model = try core.model
        return try core.read { state throws -> [EntityImage] in
            let resolver = AddressResolver(state: state, model: model, root: try state.header().service?.root)
            let key = try resolver.image(
                of: creation.entity, creation.set, creation.type, known: creation.values, at: address)
            var sent = key
            sent.values = creation.values
            sent.values.merge(key.values)
            return [sent, key]
        }
    }

    /// Returns the deletions in doubt that precede one of these operations, which create entities with the same keys.
    /// If these took effect, the deletions did too, and must not be sent again.
    private func replacedDeletions(before operations: [SequenceNumber]) throws(TidelogError) -> [SequenceNumber] {
        let model = try core.model
        let replaced = try core.read { try EntityResolver(storage: $0, model: model).replacedDeletions() }
        return replaced.filter {
            operations.contains($0.creation.sequence) && !operations.contains($0.deletion.sequence)
        }.map(\.deletion.sequence)
    }
}
