internal import EDM

extension EvaluationRun {
    /// Returns the entity of a collection with the key, or no entity if there is none or if a key value is null.
    mutating func member(
        of position: EvaluationOperand, with arguments: [ExpressionPath.Argument]
    ) throws(EvaluationError) -> EvaluationOperand {
        let entities: [EvaluationScope]
        switch position {
        case .entities(let found): entities = found
        case .entity(nil), .value(.null): return .entity(nil)
        default: throw EvaluationError(.wrongOperand, "Only a collection of entities can be followed by a key.")
        }
        var wanted: [(name: String?, value: Value)] = []
        for argument in arguments { wanted.append((argument.name, try value(of: argument.value))) }
        for entity in entities where try Self.matches(entity, wanted) { return .entity(entity) }
        return .entity(nil)
    }

    private static func matches(
        _ entity: EvaluationScope, _ wanted: [(name: String?, value: Value)]
    ) throws(EvaluationError) -> Bool {
        guard let type = entity.type else {
            throw EvaluationError(.unsupported, "The key of the entities is not known.")
        }
        let keys = [type.keyParts] + type.alternateKeys.map(\.parts)
        for (name, value) in wanted {
            let part = name.map { name in keys.joined().first { $0.name == name } } ?? type.keyParts.first
            guard let part, name != nil || type.keyParts.count == 1 else {
                throw EvaluationError(.wrongOperand, "\(name ?? "The value") is not a key of \(type.name).")
            }
            let own = try self.value(of: part, in: entity)
            guard value != .null, ValueComparison.isEqual(part.identity(of: own), part.identity(of: value)) else {
                return false
            }
        }
        return true
    }

    private static func value(
        of part: KeyPart, in entity: EvaluationScope
    ) throws(EvaluationError) -> Value {
        let names = part.path.split(separator: "/").map(String.init)
        guard let first = names.first, case .value(var value)? = entity.property(first) else {
            throw EvaluationError(.unknownProperty, "There is no property \(part.path).")
        }
        for name in names.dropFirst() { value = value.complexValue?.properties[name] ?? .null }
        return value
    }

    /// Returns the collection if a property or type with a named key was parsed as a function with named arguments.
    /// Returns nil for functions.
    func keyed(_ name: String, of position: EvaluationOperand) throws(EvaluationError) -> EvaluationOperand? {
        switch position {
        case .entity(let entity?) where entity.type?.findProperty(name)?.isCollection == true:
            return try property(name, of: position)
        case .entities:
            guard case .structured(let type)? = evaluator.model?.findType(name, isLocalAllowed: true) else {
                return nil
            }
            return cast(position, to: type.name)
        default: return nil
        }
    }
}
