internal import EDM

extension SourceStyle {
    /// A function or action of the service.
    func function(of operation: ServicePlan.Operation) -> [String] {
        var parameters: [String] = []
        var arguments = [SwiftText.literal(operation.invokedName)]
        switch operation.binding {
        case nil: break
        case .entity(let type):
            parameters.append("on binding: \(type)")
            arguments.append("on: .entity(binding)")
        case .set(let set, let derived):
            let type = derived.map { ", as: \(metadata).entityType(\(SwiftText.literal($0)))" } ?? ""
            parameters.append("on binding: InvocationBinding = .set(\(SwiftText.literal(set))\(type))")
            arguments.append("on: binding")
        case .other:
            parameters.append("on binding: InvocationBinding")
            arguments.append("on: binding")
        }
        parameters += operation.parameters.map { parameter in
            let type = parameter.isOptional ? parameter.type + "? = nil" : parameter.type
            return "\(SwiftName.escaped(parameter.label)): \(type)"
        }
        let pairs = operation.parameters.map { parameter in
            let function =
                switch parameter.form {
                case .value: "value"
                case .entity: "entity"
                case .entities: "entities"
                }
            return "\(SwiftText.literal(parameter.parameter.name)): .\(function)(\(SwiftName.escaped(parameter.label)))"
        }
        if !pairs.isEmpty { arguments.append("[\(pairs.joined(separator: ", "))]") }
        if operation.result.isOfEntities {
            parameters.append("query: DataQuery = DataQuery()")
            arguments.append("query: query")
        }
        return function(
            operation.name, parameters, returns: operation.result.type, comment(of: operation),
            body(of: operation, arguments))
    }

    private func body(of operation: ServicePlan.Operation, _ arguments: [String]) -> [String] {
        guard let reading = operation.result.reading else {
            return Self.list("        _ = try await self.invoke(", arguments, ")")
        }
        return Self.list("        let result = try await self.invoke(", arguments, ")")
            + ["        return try result.\(reading)"]
    }

    private func comment(of operation: ServicePlan.Operation) -> [String] {
        let kind = operation.kind == .action ? "action" : "function"
        var notes: [String] = []
        if operation.result.isOfEntities { notes.append("- Parameter query: what to select and expand.") }
        return DocComment.lines(
            "The \(kind) `\(DocComment.code(operation.invokedName))`. Online only.", operation.annotations,
            notes: notes, indentation: 4)
    }
}

extension ServicePlan.Operation.Result {
    /// The Swift type; nil for nothing.
    fileprivate var type: String? {
        switch self {
        case .nothing: nil
        case .value(let type, let isOptional), .entity(let type, let isOptional): isOptional ? type + "?" : type
        case .entities(let type): "[\(type)]"
        }
    }

    /// How it is taken from the result of the call; nil for nothing.
    fileprivate var reading: String? {
        switch self {
        case .nothing: nil
        case .value(let type, let isOptional): "\(isOptional ? "optionalValue" : "value")(\(type).self)"
        case .entity(let type, let isOptional): "\(isOptional ? "optionalEntity" : "entity")(\(type).self)"
        case .entities(let type): "entityList(\(type).self)"
        }
    }

    fileprivate var isOfEntities: Bool {
        switch self {
        case .entity, .entities: true
        case .nothing, .value: false
        }
    }
}
