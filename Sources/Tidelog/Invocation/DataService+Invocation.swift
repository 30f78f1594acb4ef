import EDM
import ODataQuery
public import ODataWire
public import OfflineStore

extension DataService {
    /// Calls a function or action of the service and returns its result.
    ///
    /// The call is checked before anything is sent: the operation must exist for the binding, with these parameters,
    /// and each value must have the type of its parameter. The overload is selected by the parameter names and, for a
    /// bound operation, by the type of the binding. A nullable parameter can be omitted.
    ///
    /// Available online only, because the effect on the service cannot be predicted. A store or historical store
    /// throws `unsupported`; nothing is logged or queued for an upload. ``queueAction(_:on:_:effect:answer:headers:options:)``
    /// queues the call of an action.
    ///
    /// An action on an entity takes effect only if the entity is unchanged since it was read (`If-Match` with its
    /// ETag). `If-Match: *` in the headers disables this check. If the response to an action is lost, the call throws
    /// `inDoubt` and does not repeat the action.
    ///
    /// - Parameters:
    ///   - name: the name of a function or action import, or the qualified or unqualified name of a bound operation.
    ///   - binding: the binding parameter; `nil` for an import.
    ///   - arguments: the values of the parameters.
    ///   - query: options such as `$select` and `$expand` for the returned entities.
    ///   - headers: additional headers of the request.
    /// - Returns: The returned value or entities.
    /// - Throws: `invalidRequest` if the operation, the arguments or the query do not match the metadata; `unsupported`
    ///   for a store; `inDoubt` if the response to an action is lost; `service`, `unauthorized` or `unreachable` if the
    ///   service rejects the call or is not reached.
    @discardableResult
    public func invoke(
        _ name: String, on binding: InvocationBinding? = nil, _ arguments: InvocationArguments = [:],
        query: DataQuery = DataQuery(), headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> InvocationResult {
        let model = try await backend.model()
        let invocation = try InvocationBuilder(model: model).invocation(
            name, on: binding, arguments, query: query, headers: headers)
        let factory = factory(model)
        switch try await backend.invoke(invocation) {
        case .nothing: return InvocationResult(value: nil, entities: [], name: name)
        case .value(let value): return InvocationResult(value: value, entities: [], name: name)
        case .entities(let snapshots):
            return InvocationResult(value: nil, entities: factory.entities(snapshots), name: name)
        }
    }
}

/// Converts a call with entity objects into one that contains only values, and checks it.
struct InvocationBuilder {
    let model: EntityDataModel

    func invocation(
        _ name: String, on binding: InvocationBinding?, _ arguments: InvocationArguments, query: DataQuery,
        headers: HTTPHeaders
    ) throws(TidelogError) -> OperationInvocation {
        let target = try binding.map { given throws(TidelogError) in try ResolvedBinding(given, in: model) }
        let operation = try checked { () throws(InvocationError) in
            try model.invokedOperation(name, on: target?.type, parameters: arguments.pairs.map(\.name))
        }
        var invocation = OperationInvocation(
            operation,
            on: try target.map { target throws(TidelogError) in try target.binding(of: operation, in: model) },
            headers: query.requestHeaders(headers))
        for (name, argument) in arguments.pairs {
            guard let parameter = operation.parameters.first(where: { $0.name == name }) else { continue }
            invocation.arguments.append(.init(name, try argument.resolved(for: parameter, in: model)))
        }
        try checked { () throws(InvocationError) in try invocation.check(in: model) }
        if operation.kind == .action, headers["If-Match"] == nil { invocation.ifMatch = target?.etag }
        invocation.options = try options(query, of: operation)
        return invocation
    }

    private func options(_ query: DataQuery, of operation: InvokedOperation) throws(TidelogError) -> QueryOptions {
        guard query.set == nil, query.url == nil else {
            throw TidelogError(
                .invalidRequest, "The query for \(operation.name) names an entity set or a URL.",
                recovery: "Remove from(_:) and withURL(_:).")
        }
        guard query.options != QueryOptions() || query.selectsKey else { return QueryOptions() }
        guard let type = operation.returnType.flatMap({ model.findEntityType($0.type.name) }) else {
            throw TidelogError(
                .invalidRequest, "\(operation.name) does not return entities, so it does not accept a query.",
                recovery: "Remove the query.")
        }
        return query.resolvedOptions(type)
    }

    private func checked<T>(_ body: () throws(InvocationError) -> T) throws(TidelogError) -> T {
        do throws(InvocationError) { return try body() } catch { throw TidelogError(error) }
    }
}

extension TidelogError {
    init(_ error: InvocationError) {
        self.init(error.code == .unsupported ? .unsupported : .invalidRequest, error.message, cause: error)
    }
}
