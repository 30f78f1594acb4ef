package import EDM
import ODataQuery
package import ODataWire
package import Operations

/// Converts the response to a batch to an outcome for each operation: the keys and ETags of new entities, and the
/// service's error for rejected operations.
///
/// It is pure: the same plan, state and response always give the same outcomes.
package struct Reconciler {
    let model: EntityDataModel
    let storage: WorkingSet
    let reader: PayloadReader
    private let links: EntityLinks
    private let options: ServiceOptions
    /// Operations that were rejected before and are sent again.
    private let retried: Set<SequenceNumber>
    /// Operations that were sent before and whose outcome no response reported.
    private let doubtful: Set<SequenceNumber>
    private let budget: RetryBudget
    var builder: ImageBuilder

    /// Creates a reconciler.
    ///
    /// - Parameters:
    ///   - options: The service's capabilities that the plan was made with.
    ///   - retried: Operations that were rejected before.
    ///   - doubtful: Operations that were in doubt before.
    ///   - budget: The remaining number of deferrals of each operation.
    package init(
        storage: WorkingSet, model: EntityDataModel, serviceRoot: String, options: ServiceOptions = ServiceOptions(),
        retried: Set<SequenceNumber> = [], doubtful: Set<SequenceNumber> = [], budget: RetryBudget = RetryBudget()
    ) throws(StateError) {
        self.options = options
        self.retried = retried
        self.doubtful = doubtful
        self.budget = budget
        self.storage = storage
        self.model = model
        links = EntityLinks(model: model, serviceRoot: serviceRoot)
        reader = PayloadReader(version: model.version, model: model)
        builder = try ImageBuilder(storage: storage, model: model)
    }

    /// The stream metadata in the responses. They are stored after the outcomes were folded.
    package var streams: [StreamImage] { builder.streams }

    /// Returns the outcomes of all operations of a batch with the outcomes of its change sets.
    package mutating func outcomes(of batch: UploadedBatch) throws(StateError) -> [BatchAnswered.Outcome] {
        var result: [BatchAnswered.Outcome] = []
        for changeSet in batch.changeSets { result += try outcomes(of: changeSet) }
        return result
    }

    private mutating func outcomes(
        of changeSet: UploadedChangeSet
    ) throws(StateError) -> [BatchAnswered.Outcome] {
        switch changeSet.outcome {
        case .members(let responses):
            // A successful status with an error in the body is neither a success nor a refusal.
            if let error = try inStreamError(changeSet, responses) {
                return all(changeSet) { _ in .inDoubt(error.message) }
            }
            return try members(changeSet, responses)
        case .notProcessed, nil: return all(changeSet) { _ in .notProcessed }
        case .inDoubt(let reason): return all(changeSet) { _ in .inDoubt(reason) }
        case .failed(let response, let culprit): return failed(changeSet, response, culprit)
        }
    }

    private func all(
        _ changeSet: UploadedChangeSet, _ result: (SequenceNumber) -> BatchAnswered.Result
    ) -> [BatchAnswered.Outcome] {
        changeSet.operations.map { BatchAnswered.Outcome(operation: $0, result: result($0)) }
    }

    // MARK: Success

    private mutating func members(
        _ changeSet: UploadedChangeSet, _ responses: [WireResponse]
    ) throws(StateError) -> [BatchAnswered.Outcome] {
        var images: [SequenceNumber: [EntityImage]] = [:]
        let checks = changeSet.checks
        // Requests that create single entities first, because the response to a deep insert may contain the same
        // entities.
        for isDeepInsert in [false, true] {
            // By index, because a loop over the elements copies each request and response.
            for (place, answer) in zip(changeSet.requests.indices, responses.indices)
            where changeSet.requests[place].isDeepInsert == isDeepInsert && !checks.contains(place) {
                // With the last operation of the request, because then all entities that the request creates exist.
                let last = changeSet.requests[place].operations.max() ?? changeSet.requests[place].operation
                images[last, default: []] += try self.images(changeSet.requests[place], responses[answer])
            }
        }
        return all(changeSet) { .confirmed(images: images[$0] ?? []) }
    }

    private func inStreamError(
        _ changeSet: UploadedChangeSet, _ responses: [WireResponse]
    ) throws(StateError) -> PayloadError? {
        for (place, response) in zip(changeSet.requests.indices, responses)
        where reader.mayReportError(response.body) {
            let request = changeSet.requests[place]
            let pending = try storage.pendingOperation(request.operation)?.operation.subject
            let set = try (request.creates?.id ?? pending).flatMap { id throws(StateError) in try storage.set(of: id) }
            var type = set.flatMap(model.findEntitySet)?.entityType
            if let invocation = request.invocation {
                type = (invocation.operation.returnType?.type.name).flatMap(model.findEntityType)
            }
            if let error = reader.inStreamError(in: response.body, of: type) { return error }
        }
        return nil
    }

    private mutating func images(
        _ request: UploadedRequest, _ response: WireResponse
    ) throws(StateError) -> [EntityImage] {
        switch request.effect {
        case .create: return try created(request, response)
        // The ETag in the response is the stream's.
        case .update where request.writesStream: return []
        case .update: return try updated(request, response)
        case .delete, .link, .unlink: return []
        case .invoke: return try returned(request, response)
        }
    }

    private mutating func created(
        _ request: UploadedRequest, _ response: WireResponse
    ) throws(StateError) -> [EntityImage] {
        guard let new = request.creates, let name = try storage.set(of: new.id), let set = model.findEntitySet(name)
        else { return [] }
        let type = try storage.row(new.id).flatMap { model.findEntityType($0.type) } ?? set.entityType
        let body = request.body ?? EntityBody(type: type, values: [:])
        let etag = response.headers["ETag"]
        guard !response.body.isEmpty, var payload = try? reader.entity(response.body, type: set.entityType) else {
            return [
                EntityImage(
                    entity: new.id, set: set.name, type: body.type.name, values: keyInHeaders(response, set), etag: etag
                )
            ]
        }
        // If the body begins with the key, the key in the headers neither adds values nor changes their order.
        if !payload.values.names.starts(with: set.entityType.keyParts.lazy.map(\.path)) {
            var values = keyInHeaders(response, set)
            values.merge(payload.values)
            payload.values = values
        }
        payload.etag = payload.etag ?? etag
        payload.type = payload.type ?? body.type.name
        return try identified(payload, set, new, body)
    }

    /// Returns the key in the headers, which identify the entity if there is no body (OData 4.01 Part 1, 8.3.4 and
    /// 8.3.2) or the body lacks the key.
    private func keyInHeaders(_ response: WireResponse, _ set: EntitySet) -> PropertyValues {
        for header in ["OData-EntityId", "Location"] {
            guard let url = response.headers[header], let key = links.key(in: url, of: set) else { continue }
            return key.properties(of: set.entityType)
        }
        return [:]
    }

    /// Returns the image of a new entity, and those of the children of a deep insert that the response contains.
    private mutating func identified(
        _ payload: EntityPayload, _ set: EntitySet, _ new: NewEntity, _ body: EntityBody
    ) throws(StateError) -> [EntityImage] {
        var payload = payload
        var below: [(level: NewEntity.Level, bodies: [EntityBody], set: EntitySet, answered: [EntityPayload])] = []
        for level in new.below {
            guard let inline = body.inline.first(where: { $0.navigation.name == level.navigation }),
                let index = payload.expanded.firstIndex(where: { $0.navigation == level.navigation }),
                let target = model.target(of: inline.navigation, in: set)
            else { continue }
            below.append((level, inline.entities, target, payload.expanded.remove(at: index).entities))
        }
        // The parent first, because the response may contain it again below its children.
        var images = try builder.images(of: payload, in: set, known: new.id) ?? []
        for (level, bodies, target, shown) in below {
            // Existing bound entities are excluded; ambiguous children stay unmatched.
            var answered: [EntityPayload] = []
            for child in shown where try !builder.isKnown(child, target, below: new.id) { answered.append(child) }
            let navigation = body.inline.first { $0.navigation.name == level.navigation }?.navigation
            let isSingle = navigation?.isCollection == false
            for (sent, place) in ChildMatching(options: options).pairs(bodies, answered, isSingle: isSingle) {
                images += try identified(answered[place], target, level.entities[sent], bodies[sent])
            }
        }
        return images
    }

    private mutating func updated(
        _ request: UploadedRequest, _ response: WireResponse
    ) throws(StateError) -> [EntityImage] {
        guard let id = try storage.pendingOperation(request.operation)?.operation.subject,
            let name = try storage.set(of: id), let set = model.findEntitySet(name)
        else { return [] }
        let etag = response.headers["ETag"]
        let type = try EntityResolver(storage: storage, model: model).anyRow(id)?.type ?? set.entityType.name
        if !response.body.isEmpty,
            // The service may have changed the type to one that is not derived from the known one.
            var payload = (try? reader.entity(response.body, type: model.findEntityType(type) ?? set.entityType))
                ?? (try? reader.entity(response.body, type: set.entityType)).flatMap({ $0.type == nil ? nil : $0 })
        {
            payload.etag = payload.etag ?? etag
            payload.type = payload.type ?? type
            return try builder.images(of: payload, in: set, known: id) ?? []
        }
        // A service may change the key of an entity as a result of the update.
        let values = keyInHeaders(response, set)
        guard etag != nil || !values.isEmpty else { return [] }
        return [EntityImage(entity: id, set: set.name, type: type, values: values, etag: etag)]
    }

    // MARK: Refusal

    private func failed(
        _ changeSet: UploadedChangeSet, _ response: WireResponse, _ culprit: String?
    ) -> [BatchAnswered.Outcome] {
        let blamed = changeSet.culprit(response, culprit)
        let index = blamed.flatMap { id in changeSet.requests.firstIndex { $0.contentID == id } }
        // A change set of one operation needs no culprit. Otherwise all operations are refused unless one is named.
        let operations = Set(changeSet.operations)
        let waiting = changeSet.requests.filter { !$0.operations.isEmpty }
        let named =
            index.map { changeSet.requests[$0] }
            ?? (operations.count == 1 || waiting.count == 1 ? waiting.first : nil)
        if let named, isDone(named, of: changeSet, response) {
            // The other operations were rolled back with it, and are sent again without it.
            return all(changeSet) { named.operations.contains($0) ? .confirmed(images: []) : .notProcessed }
        }
        if named == nil, mayBeOwnDoing(changeSet, response) {
            return all(changeSet) { _ in
                .inDoubt(
                    "The response to an earlier attempt was lost, and the service now reports that an entity of the request does not exist."
                )
            }
        }
        if FailureClass.mayHaveBeenExecuted(status: response.status) {
            return all(changeSet) { _ in .inDoubt("The service responded with status \(response.status).") }
        }
        return all(changeSet) { operation in
            if let named, !named.operations.contains(operation) { return .notProcessed }
            let own = index ?? changeSet.requests.firstIndex { $0.operations.contains(operation) } ?? 0
            return budget.result(of: refusal(response, changeSet.requests[own].wire), for: operation)
        }
    }

    /// Returns whether the missing entity or link may have been removed by an earlier transmission of this change set.
    private func mayBeOwnDoing(_ changeSet: UploadedChangeSet, _ response: WireResponse) -> Bool {
        Self.isMissing(response)
            && changeSet.requests.contains { request in
                switch request.effect {
                case .delete, .unlink: doubtful.contains(request.operation)
                default: false
                }
            }
    }

    private static func isMissing(_ response: WireResponse) -> Bool { response.status == 404 || response.status == 410 }

    /// Returns whether the entity or link to be removed no longer exists, so that the aim is reached.
    private func isDone(
        _ request: UploadedRequest, of changeSet: UploadedChangeSet, _ response: WireResponse
    ) -> Bool {
        guard Self.isMissing(response) else { return false }
        // The request may be the check of a deletion.
        let isDeletion = changeSet.requests.contains { $0.operation == request.operation && $0.effect == .delete }
        if isDeletion { return options.deletedOnServiceIsDone || retried.contains(request.operation) }
        return request.effect == .unlink
    }

    /// The largest number of request bytes that a rejection contains.
    private static var shownBody: Int { 16_384 }

    private static func shown(_ body: [UInt8]) -> String? {
        guard !body.isEmpty else { return nil }
        guard body.count > shownBody else { return String(decoding: body, as: UTF8.self) }
        return String(decoding: body.prefix(shownBody), as: UTF8.self) + "… (\(body.count) bytes)"
    }

    private func refusal(_ response: WireResponse, _ request: WireRequest?) -> Refusal {
        let error = ServiceErrorReader.read(response.body)
        let words = String(decoding: response.body.prefix(500), as: UTF8.self)
        return Refusal(
            status: response.status, code: error?.code ?? "", message: error?.message ?? words,
            innerError: error?.innerError, method: request?.method ?? "", url: request?.url ?? "",
            requestBody: Self.shown(request?.body ?? []))
    }
}

extension UploadedRequest {
    fileprivate var isDeepInsert: Bool { creates?.below.isEmpty == false }
}
