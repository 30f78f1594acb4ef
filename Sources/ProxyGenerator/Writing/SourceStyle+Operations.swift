internal import EDM

extension SourceStyle {
    /// Returns the method that invokes a function or action.
    func function(of operation: ServicePlan.Operation) -> [String] {
        var parameters: [Layout] = []
        var arguments: [Layout] = [.text(SwiftText.literal(operation.invokedName))]
        switch operation.binding {
        case nil: break
        case .entity(let type):
            parameters.append(.text("on binding: \(type)"))
            arguments.append(.text("on: .entity(binding)"))
        case .set(let set, let derived):
            let type = derived.map { Layout.call("as: \(metadata).entityType(", [SwiftText.literal($0)]) }
            let items = [.text(SwiftText.literal(set))] + (type.map { [$0] } ?? [])
            parameters.append(.group("on binding: InvocationBinding = .set(", items, ")", .call))
            arguments.append(.text("on: binding"))
        case .other:
            parameters.append(.text("on binding: InvocationBinding"))
            arguments.append(.text("on: binding"))
        }
        parameters += operation.parameters.map { parameter in
            let type = parameter.isOptional ? parameter.type + "? = nil" : parameter.type
            return .text("\(SwiftName.parameter(parameter.label)): \(type)")
        }
        let pairs = operation.parameters.map { parameter in
            Layout.text("\(SwiftText.literal(parameter.parameter.name)): \(argument(for: parameter))")
        }
        if !pairs.isEmpty { arguments.append(.group("[", pairs, "]", .literal)) }
        if operation.result.isOfEntities {
            parameters.append(.text("query: DataQuery = DataQuery()"))
            arguments.append(.text("query: query"))
        }
        return function(
            operation.name, parameters, returns: operation.result.type, comment(of: operation),
            body(of: operation, arguments))
    }

    private func argument(for parameter: ServicePlan.Operation.Parameter) -> String {
        let name = SwiftName.escaped(parameter.label)
        let given =
            switch parameter.form {
            case .value: ".value(\(name))"
            case .entity: ".entity(\(name))"
            case .entities: ".entities(\(name)\(parameter.isOptional ? " ?? []" : ""))"
            }
        return parameter.parameter.isOptional ? "\(name) == nil ? .omitted : \(given)" : given
    }

    private func body(of operation: ServicePlan.Operation, _ arguments: [Layout]) -> [String] {
        guard let reading = operation.result.reading else {
            return Layout.group("_ = try await self.invoke(", arguments, ")", .call).lines(indentation: 8)
        }
        return Layout.group("let result = try await self.invoke(", arguments, ")", .call).lines(indentation: 8)
            + ["        return try result.\(reading)"]
    }

    private func comment(of operation: ServicePlan.Operation) -> [String] {
        let kind = operation.kind == .action ? "action" : "function"
        var notes = operation.parameters.compactMap { DocComment.parameter($0.label, $0.parameter.annotations) }
        if operation.result.isOfEntities { notes.append("- Parameter query: The properties to select and expand.") }
        return DocComment.lines(
            "Calls the \(kind) `\(DocComment.code(operation.invokedName))`. Online only.", operation.annotations,
            notes: notes, indentation: 4)
    }
}

extension ServicePlan.Operation.Result {
    /// The Swift type; nil if there is no result.
    fileprivate var type: String? {
        switch self {
        case .nothing: nil
        case .value(let type, let isOptional), .entity(let type, let isOptional): isOptional ? type + "?" : type
        case .entities(let type): "[\(type)]"
        }
    }

    /// The call that reads the value from the result; nil if there is none.
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
