import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncEngine
import Transport

/// Executes functions and actions as requests to the service.
struct OnlineInvocation {
    let session: ServiceSession
    let model: EntityDataModel
    let encoder: RequestEncoder
    let reading: OnlineReader

    init(session: ServiceSession, model: EntityDataModel, options: ServiceOptions) {
        self.session = session
        self.model = model
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: session.root, options: options)
        reading = OnlineReader(session: session, model: model, options: options)
    }

    /// - Parameter messages: receives the messages of the service.
    func answer(
        to invocation: OperationInvocation, _ messages: MessageReceiver
    ) async throws(TidelogError) -> InvocationAnswer {
        var invocation = invocation
        invocation.options = reading.urls.selectingExpanded(invocation.options)
        let request: WireRequest
        do throws(URLSyntaxError) {
            request = try encoder.encode(invocation)
        } catch {
            throw TidelogError(
                .unsupported, "\(error.description) (MS-ODATA, section 2.2.3.6.3)", cause: error)
        }
        let response = try await send(request, invocation.operation)
        try response.requireSuccess(request.method, request.url)
        messages.receive(response, to: request)
        guard let type = invocation.operation.returnType?.type, response.status != 204, !response.body.isEmpty else {
            return .nothing
        }
        return try await read(response, request, type, invocation)
    }

    /// Returns the result of a call in a change set from its response. Reads only the first page of a collection.
    func answer(of invocation: OperationInvocation, _ response: WireResponse) throws(TidelogError) -> InvocationAnswer {
        guard let type = invocation.operation.returnType?.type, response.status != 204, !response.body.isEmpty else {
            return .nothing
        }
        let known = invocation.resultSet(in: model)
        let place = Self.place(invocation.operation.method, invocation.operation.name)
        switch try payload(response, type, invocation.operation, place: place) {
        case .nothing: return .nothing
        case .value(let value): return .value(value)
        case .values(let values, _): return .value(.collection(values))
        case .entity(let entity, let name): return .entities([snapshot(entity, type, known ?? set(name, type))])
        case .entities(let page, let name):
            let set = known ?? set(name, type)
            return .entities(page.entities.map { snapshot($0, type, set) })
        }
    }

    private func send(
        _ request: WireRequest, _ operation: InvokedOperation
    ) async throws(TidelogError) -> WireResponse {
        guard operation.mayChangeSomething else {
            return try await session.get(request.url, headers: request.headers)
        }
        do throws(TidelogError) {
            return try await session.modify(request)
        } catch {
            guard (error.cause as? TransportError)?.mayHaveBeenSent == true else { throw error }
            throw TidelogError(
                .inDoubt, "Whether \(operation.name) took effect is not known: \(error.message)",
                place: Self.place(request.method, request.url),
                recovery: "Check the effect at the service before you call it again.", cause: error.cause)
        }
    }

    /// Reads the result including all following pages.
    private func read(
        _ first: WireResponse, _ request: WireRequest, _ type: TypeReference, _ invocation: OperationInvocation
    ) async throws(TidelogError) -> InvocationAnswer {
        let known = invocation.resultSet(in: model)
        var (values, entities): ([Value], [EntitySnapshot]) = ([], [])
        var (method, url, response) = (request.method, request.url, first)
        var seen: Set<ExactText> = []
        while true {
            let next: String?
            switch try payload(response, type, invocation.operation, place: Self.place(method, url)) {
            case .nothing: return .nothing
            case .value(let value): return .value(value)
            case .entity(var entity, let name):
                if case .entity(let name) = type.kind, let declared = model.findEntityType(name) {
                    try await reading.complete(&entity, declared, of: url, encoder.headers)
                }
                return .entities([snapshot(entity, type, known ?? set(name, type))])
            case .values(let page, let link):
                values += page
                next = link
            case .entities(var page, let name):
                if case .entity(let name) = type.kind, let declared = model.findEntityType(name) {
                    for index in page.entities.indices {
                        try await reading.complete(&page.entities[index], declared, of: url, encoder.headers)
                    }
                }
                let set = known ?? set(name, type)
                entities += page.entities.map { snapshot($0, type, set) }
                next = page.nextLink
            }
            guard let next = next.map({ session.resolve($0, from: url) }) else { break }
            guard seen.insert(ExactText(next)).inserted else {
                throw TidelogError(
                    .notOData, "The next links of the service form a cycle.", place: Self.place("GET", next))
            }
            (method, url) = ("GET", next)
            response = try await session.get(next, headers: encoder.headers)
            try response.requireSuccess(method, url)
        }
        if case .entity = type.kind { return .entities(entities) }
        return .value(.collection(values))
    }

    private func payload(
        _ response: WireResponse, _ type: TypeReference, _ operation: InvokedOperation, place: String
    ) throws(TidelogError) -> InvocationPayload {
        do throws(PayloadError) {
            return try PayloadReader(version: model.version, model: model, limits: session.limits.reading).result(
                response.body, type: type, name: operation.name)
        } catch {
            let what = operation.mayChangeSomething ? "\(operation.name) was executed, but its" : "The"
            throw TidelogError(.notOData, "\(what) result cannot be read: \(error)", place: place, cause: error)
        }
    }

    /// Returns the set that the response names, or the only set of the type.
    private func set(_ name: String?, _ type: TypeReference) -> EntitySet? {
        if let set = name.flatMap(model.findEntitySet) { return set }
        let candidates = model.entitySets.filter { model.isType(type.name, derivedFrom: $0.entityType.name) }
        return candidates.count == 1 ? candidates[0] : nil
    }

    private func snapshot(_ entity: EntityPayload, _ type: TypeReference, _ set: EntitySet?) -> EntitySnapshot {
        let declared = model.findEntityType(type.name) ?? StructuredType(kind: .entity, name: type.name, properties: [])
        return reading.snapshots.snapshot(entity, declared, set)
    }

    /// Returns the location for errors, with the URL without its query.
    private static func place(_ method: String, _ url: String) -> String { "\(method) \(url.prefix { $0 != "?" })" }
}
