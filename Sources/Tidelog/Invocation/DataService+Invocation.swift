import EDM
public import ODataWire
public import SyncEngine

extension DataService {
    /// Calls a function or action of the service, and returns what it returned.
    ///
    /// Checked before anything is sent: whether there is such an operation on what it is called on, with these parameters,
    /// and whether each value is one of its parameter's. Which overload is meant is told by the names of the parameters, and
    /// of bound ones by the type of what they are called on. A parameter that may be null can be left out.
    ///
    /// Only online: what a service does can't be foreseen. A store, and a past, refuses with `unsupported`; nothing is
    /// logged and nothing is queued for an upload.
    ///
    /// An action that is called on an entity takes effect only if that is still as it was read (`If-Match` with its ETag);
    /// `If-Match: *` in the headers lifts that. Where an action's answer does not come, the error is `inDoubt` and the action
    /// is not repeated.
    ///
    /// - Parameters:
    ///   - name: the name of a function or action import, or of what is bound: qualified, or its last part alone.
    ///   - binding: what it is called on; nil for an import.
    ///   - query: what to select, expand and so on of the entities that it returns.
    @discardableResult
    public func invoke(
        _ name: String, on binding: InvocationBinding? = nil, _ arguments: InvocationArguments = [:],
        query: DataQuery = DataQuery(), headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> InvocationResult {
        let model = try await provider.model()
        let invocation = try InvocationBuilder(model: model).invocation(
            name, on: binding, arguments, query: query, headers: headers)
        let factory = factory(model)
        switch try await provider.invoke(invocation) {
        case .nothing: return InvocationResult(value: nil, entities: [], name: name)
        case .value(let value): return InvocationResult(value: value, entities: [], name: name)
        case .entities(let snapshots):
            return InvocationResult(value: nil, entities: snapshots.compactMap { factory.entity($0) }, name: name)
        }
    }
}

/// Turns a call with an app's objects into one that holds values only, and checks it.
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
        var invocation = OperationInvocation(operation, on: target?.binding(of: operation, in: model), headers: headers)
        for (name, argument) in arguments.pairs {
            guard let parameter = operation.parameters.first(where: { $0.name == name }) else { continue }
            invocation.arguments.append(.init(name, try argument.resolved(parameter.type, in: model)))
        }
        try checked { () throws(InvocationError) in try invocation.check(in: model) }
        if operation.kind == .action, headers["If-Match"] == nil { invocation.ifMatch = target?.etag }
        invocation.options = try options(query, of: operation)
        return invocation
    }

    private func options(_ query: DataQuery, of operation: InvokedOperation) throws(TidelogError) -> QueryOptions {
        guard query.set == nil, query.url == nil else {
            throw TidelogError(
                .invalidRequest, "The query of \(operation.name) names a set or a URL of its own.",
                recovery: "Leave out from(_:) and withURL(_:).")
        }
        guard query != DataQuery() else { return QueryOptions() }
        guard let type = operation.returnType.flatMap({ model.findEntityType($0.type.name) }) else {
            throw TidelogError(
                .invalidRequest, "\(operation.name) returns no entities that a query could be about.",
                recovery: "Leave out the query.")
        }
        return query.resolvedOptions(type)
    }

    private func checked<T>(_ body: () throws(InvocationError) -> T) throws(TidelogError) -> T {
        do throws(InvocationError) {
            return try body()
        } catch {
            throw TidelogError(error.code == .unsupported ? .unsupported : .invalidRequest, error.message, cause: error)
        }
    }
}
