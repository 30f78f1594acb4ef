import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncCore
import SyncEngine

/// Modifications as requests to the service: single requests, or a change set as one batch.
struct OnlineModification {
    private let session: ServiceSession
    private let model: EntityDataModel
    private let encoder: RequestEncoder
    private let reading: OnlineReader

    private let options: ServiceOptions
    private let form: OnlineRewriter
    private let messages: MessageReceiver

    init(session: ServiceSession, model: EntityDataModel, options: ServiceOptions, messages: MessageReceiver) {
        self.messages = messages
        self.session = session
        self.model = model
        self.options = options
        encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: session.root, options: options)
        reading = OnlineReader(session: session, model: model, options: options)
        form = OnlineRewriter(session: session, model: model, options: options, encoder: encoder)
    }

    /// Sends the requests of one intent. An intent with several requests is a change set, so that it is never executed
    /// partially.
    func single(_ intent: Intent, _ options: IntentOptions) async throws(TidelogError) -> IntentResult {
        let requests = try await requests(of: [(intent, options)])
        guard requests.steps.count == 1, let step = requests.steps.first else {
            return try await send(requests)[0]
        }
        return try await results(of: requests, [try await send(step)])[0]
    }

    func changeSet(_ intents: [(intent: Intent, options: IntentOptions)]) async throws(TidelogError) -> [IntentResult] {
        let changeSet = try await requests(of: intents)
        guard options.supportsBatch || changeSet.steps.count != 1 else {
            return try await results(of: changeSet, [try await send(changeSet.steps[0])])
        }
        return try await send(changeSet)
    }

    private func send(_ changeSet: Requests) async throws(TidelogError) -> [IntentResult] {
        let batch = BatchRequest(parts: [.changeSet(changeSet.members)])
        let outcome = try await OnlineBatch(session: session, encoder: encoder, options: options).send(batch).first
        guard case .changeSet(let answered)? = outcome else { throw OnlineBatch.unanswered }
        return try await results(of: changeSet, try OnlineBatch.responses(of: answered))
    }

    /// Sends a request by itself.
    private func send(_ step: OnlineStep) async throws(TidelogError) -> WireResponse {
        let request = encoder.encode(step.modification)
        // Changes are sent to the service only, wherever its links lead.
        guard session.isOfService(request.url) else { throw .elsewhere(request.url) }
        let response: WireResponse
        if let content = step.content {
            response = try await session.modify(request, stream: content)
        } else {
            response = try await session.modify(request)
        }
        try response.requireSuccess(request.method, request.url)
        return response
    }

    // MARK: Requests

    /// A change set as requests.
    struct Requests {
        let members: [BatchPart.Member]
        fileprivate let steps: [OnlineStep]
        fileprivate let intents: Int
        /// The number after the last Content-ID.
        let nextContentID: Int
    }

    /// - Parameter first: the first Content-ID. Content-IDs are unique in a batch.
    func requests(
        of intents: [(intent: Intent, options: IntentOptions)], from first: Int = 1
    ) async throws(TidelogError) -> Requests {
        var writer = OnlineStepWriter(model: model, service: options, first: first)
        var steps = try writer.steps(intents)
        var members: [BatchPart.Member] = []
        var adapted: [DataModification] = []
        for index in steps.indices {
            adapted.append(try await form.adapted(steps[index].modification, after: adapted))
            steps[index].modification = adapted[index]
            let request = encoder.encode(adapted[index])
            members.append(BatchPart.Member(contentID: steps[index].contentID, request: request.asBatchPart))
        }
        return Requests(members: members, steps: steps, intents: intents.count, nextContentID: writer.next)
    }

    // MARK: Results

    func results(
        of changeSet: Requests, _ responses: [WireResponse]
    ) async throws(TidelogError) -> [IntentResult] {
        var results = Array(repeating: IntentResult(), count: changeSet.intents)
        for (step, response) in zip(changeSet.steps, responses) {
            messages.receive(response, to: encoder.encode(step.modification))
            await add(step, response, to: &results[step.intent])
        }
        return results
    }

    /// Adds the entities of a response to the result: their representation, or at least their keys.
    private func add(_ step: OnlineStep, _ response: WireResponse, to result: inout IntentResult) async {
        switch step.modification.action {
        case .create, .createRelated:
            guard let creation = step.creation, let body = step.createdBody else { return }
            await add(creation, body, response, to: &result)
        case .update(_, let body, _):
            let type = body.declaredType ?? body.type
            let set = model.entitySets.first { $0.entityType == type }
            if step.modification.stream == nil, response.status == 200, let payload = entity(response, type) {
                result.entities[IntentResult.subject] = reading.snapshots.snapshot(payload, type, set)
            } else {
                result.etag = response.headers["ETag"]
            }
        case .delete, .link, .unlink: return
        case .invoke(let invocation):
            // The action has taken effect, whether its result can be read or not.
            result.returned =
                (try? OnlineInvocation(session: session, model: model, options: options).answer(
                    of: invocation, response)) ?? .nothing
        }
    }

    private func add(
        _ creation: OnlineCreation, _ body: EntityBody, _ response: WireResponse, to result: inout IntentResult
    ) async {
        guard let set = model.findEntitySet(creation.set), let type = model.findEntityType(creation.type) else {
            return
        }
        let children = OnlineChildren(model: model, options: options, snapshots: reading.snapshots)
        let link = response.headers["OData-EntityId"] ?? response.headers["Location"] ?? ""
        var isComplete = creation.below.isEmpty
        if let payload = entity(response, type) {
            let place =
                set.isContained ? response.headers["Location"].map(OnlineSnapshots.ContainedLocation.entity) : nil
            isComplete = children.take(creation, body, payload, set, at: place, into: &result.entities)
        } else {
            let edit = reading.urls.encoder.url(of: .url(response.headers["Location"] ?? link))
            result.entities[creation.draft] = EntitySnapshot(
                set: set.name, type: type.name, values: creation.values, etag: response.headers["ETag"],
                readLink: reading.urls.encoder.url(of: .url(link)), editLink: edit)
        }
        guard !isComplete, let own = result.entities[creation.draft] else { return }
        await readChildren(of: own, creation, body, children, &result)
    }

    /// Reads a new entity with the entities that were created inside of it, whose keys the response does not contain.
    ///
    /// If that fails, the objects of these entities have no link. The creation itself has succeeded.
    private func readChildren(
        of own: EntitySnapshot, _ creation: OnlineCreation, _ body: EntityBody, _ children: OnlineChildren,
        _ result: inout IntentResult
    ) async {
        guard let set = model.findEntitySet(creation.set), let type = model.findEntityType(creation.type) else {
            return
        }
        var options = QueryOptions()
        options.expand = children.expansion(of: creation)
        guard let suffix = try? reading.urls.suffix(options), !own.readLink.isEmpty,
            let response = try? await session.get(own.readLink + suffix, headers: encoder.headers),
            let payload = entity(response, type)
        else { return }
        _ = children.take(
            creation, body, payload, set, at: set.isContained ? .entity(own.readLink) : nil, into: &result.entities)
    }

    /// Returns the entity in a success response, or `nil` if there is none.
    private func entity(_ response: WireResponse, _ type: EntityType) -> EntityPayload? {
        guard response.isSuccess, !response.body.isEmpty else { return nil }
        return try? PayloadReader(version: model.version, model: model, limits: session.limits.reading).entity(
            response.body, type: type)
    }
}

extension TidelogError {
    fileprivate static func elsewhere(_ url: String) -> TidelogError {
        TidelogError(
            .invalidRequest, "The service has another origin than the link for writing the stream.",
            place: URLText.withoutSecrets(url), recovery: "Report the error to the operator of the service.")
    }
}
