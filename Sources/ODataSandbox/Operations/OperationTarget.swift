internal import EDM
internal import ODataQuery
internal import ODataWire

/// The target of a URL that calls a function or action. The parameters, which may be in the body, determine the
/// overload.
struct OperationTarget {
    let name: String
    let arguments: [ExpressionPath.Argument]
    /// The binding parameter, or nil for an import.
    let binding: Binding?

    struct Binding {
        let type: TypeReference
        let set: EntitySet
        let rows: [RowID]
    }
}

/// One call of a function or action.
struct OperationRun {
    let view: ServiceView
    let target: OperationTarget
    let url: RequestURL
    let request: WireRequest

    /// Looks up the operation, reads its arguments, and executes it.
    func run(
        on transaction: inout Transaction
    ) throws(SandboxError) -> (operation: InvokedOperation, result: SandboxResult) {
        let isAction = !view.isLegacy && request.method == "POST"
        let names = isAction ? try read { () throws(PayloadError) in try reader.names(inBody: request.body) } : given
        let operation: InvokedOperation
        do throws(InvocationError) {
            operation = try view.model.invokedOperation(target.name, on: target.binding?.type, parameters: names)
        } catch {
            throw SandboxError(400, .badRequest, error.message, target: target.name)
        }
        guard request.method == operation.method else {
            throw SandboxError(405, .methodNotAllowed, "\(operation.name) must be called with \(operation.method).")
        }
        let name = operation.name.split(separator: ".").last.map(String.init) ?? operation.name
        guard let body = view.operations[name] else {
            throw SandboxError(501, .notImplemented, "The sandbox has no implementation of \(operation.name).")
        }
        try requireMatch(transaction)
        var call = try self.call(
            name, operation, isAction ? try arguments(inBody: operation) : try arguments(inURL: operation), transaction)
        let result = try body(&call)
        transaction = call.transaction
        return (operation, result)
    }

    private var reader: InvocationReader { InvocationReader(version: view.version, model: view.model) }

    private func read<T>(_ body: () throws(PayloadError) -> T) throws(SandboxError) -> T {
        do throws(PayloadError) { return try body() } catch { throw SandboxError(error) }
    }

    private func call(
        _ name: String, _ operation: InvokedOperation, _ arguments: [String: InvocationReader.ArgumentValue],
        _ transaction: Transaction
    ) throws(SandboxError) -> SandboxCall {
        var parameters = PropertyValues()
        var entities: [String: [Sandbox.StoredEntity]] = [:]
        for parameter in operation.parameters {
            switch arguments[parameter.name] {
            case nil: break
            case .value(let value):
                let reason = value.mismatch(
                    with: parameter.type, facets: parameter.facets, isNullable: parameter.isNullable, in: view.model)
                if let reason {
                    throw SandboxError(
                        400, .typeMismatch, "The parameter \(parameter.name) \(reason).", target: parameter.name)
                }
                parameters[parameter.name] = value
            case .entities(let given):
                let resolver = Resolver(view: view, state: transaction.state)
                for entity in given {
                    switch entity {
                    case .reference(let url):
                        guard let row = transaction.state[try resolver.entity(url)] else { throw Transaction.gone }
                        entities[parameter.name, default: []].append(row.content)
                    case .body(let body):
                        parameters[parameter.name] = .complex(
                            ComplexValue(type: body.type ?? parameter.type.name, properties: body.values))
                    }
                }
            }
        }
        return SandboxCall(
            name: name, parameters: parameters, entities: entities,
            binding: target.binding?.rows.compactMap { transaction.state[$0]?.content } ?? [], transaction: transaction)
    }

    /// Checks `If-Match` in a call on one entity. The header is optional.
    private func requireMatch(_ transaction: Transaction) throws(SandboxError) {
        guard let condition = request.headers["If-Match"], let binding = target.binding, !binding.type.isCollection,
            let row = binding.rows.first.flatMap({ transaction.state[$0] })
        else { return }
        let etag = view.etag(of: row)
        guard EntityTag.list(condition, contains: etag) else {
            throw SandboxError(
                412, .preconditionFailed,
                "\(row.name) was changed: its ETag is \(etag ?? "none"), but If-Match is \(condition).")
        }
    }

    // MARK: Arguments

    /// The names of the parameters in the URL.
    private var given: [String] {
        guard view.isLegacy else { return target.arguments.compactMap(\.name) }
        let imports = view.model.schemas.flatMap(\.containers).flatMap(\.functionImports)
        let known = imports.first { $0.name == target.name }?.parameters.map(\.name) ?? []
        return known.filter { option($0) != nil }
    }

    private func arguments(
        inBody operation: InvokedOperation
    ) throws(SandboxError) -> [String: InvocationReader.ArgumentValue] {
        try read { () throws(PayloadError) in try reader.arguments(inBody: request.body, of: operation) }
    }

    private func arguments(
        inURL operation: InvokedOperation
    ) throws(SandboxError) -> [String: InvocationReader.ArgumentValue] {
        var result: [String: InvocationReader.ArgumentValue] = [:]
        for parameter in operation.parameters {
            guard let text = try text(of: parameter.name) else { continue }
            result[parameter.name] = try read { () throws(PayloadError) in
                try reader.argument(text, type: parameter.type)
            }
        }
        return result
    }

    /// Returns the text of a parameter in the URL, with aliases resolved.
    private func text(of name: String) throws(SandboxError) -> String? {
        if view.isLegacy { return option(name) }
        guard let argument = target.arguments.first(where: { $0.name == name }) else { return nil }
        if case .path(let path) = argument.value, case .alias(let alias) = path.root, path.segments.isEmpty {
            return option("@" + alias) ?? "null"
        }
        do throws(URLSyntaxError) {
            return try argument.value.print(version: view.version)
        } catch {
            throw SandboxError(400, .badRequest, "\(error)", target: name)
        }
    }

    private func option(_ name: String) -> String? {
        for option in url.query.split(separator: "&") {
            let parts = option.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, (try? PercentCoding.decode(parts[0])) == name else { continue }
            return try? PercentCoding.decode(parts[1])
        }
        return nil
    }
}
