internal import EDM
internal import ODataWire

extension Sandbox {
    /// Calls a function and discards its changes.
    func callFunction(
        _ target: OperationTarget, _ url: RequestURL, _ request: WireRequest, _ view: ServiceView
    ) throws(SandboxError) -> WireResponse {
        var transaction = Transaction(on: state, schema: schema)
        let (operation, result) = try OperationRun(view: view, target: target, url: url, request: request).run(
            on: &transaction)
        return try response(to: request, result, of: operation, url, view)
    }

    /// Returns the response with the result. The result of a GET is paged; that of an action is not, because it cannot
    /// be requested again.
    func response(
        to request: WireRequest, _ result: SandboxResult, of operation: InvokedOperation, _ url: RequestURL,
        _ view: ServiceView
    ) throws(SandboxError) -> WireResponse {
        guard let type = operation.returnType?.type else { return view.response(204) }
        switch result {
        case .nothing, .entity(nil), .value(.null):
            guard view.isLegacy else { return view.response(204) }
            let json = view.writer(for: request).result(.null, type: type, name: operation.name)
            return view.response(200, json: json, type: type)
        case .value(let value):
            let json = view.writer(for: request).result(
                value.converted(to: type), type: type, name: operation.name)
            return view.response(200, json: json, type: type)
        case .entity(let content?):
            guard let row = state[content.row], let set = view.set(content.set) else { throw Transaction.gone }
            let address = Target.EntityAddress(set: set, row: row.id, source: nil)
            return try entity(address, url, request, view)
        case .entities(let contents):
            let set = try set(of: contents, operation, view)
            let options = try view.options(url.query, set)
            return try page(
                contents.compactMap { state[$0.row] }, in: set, options, isPaged: request.method == "GET", url, request,
                view)
        }
    }

    private func set(
        of contents: [StoredEntity], _ operation: InvokedOperation, _ view: ServiceView
    ) throws(SandboxError) -> EntitySet {
        let type = operation.returnType?.type.name
        let set =
            (contents.first?.set ?? operation.entitySet).flatMap(view.set)
            ?? view.model.entitySets.first { $0.entityType.name == type }
        guard let set else {
            throw SandboxError(
                501, .notImplemented, "The entity set of the entities that \(operation.name) returns is unknown.")
        }
        return set
    }
}
