internal import EDM

extension EvaluationRun {
    /// Returns the primitive type of the property at the end of a path, or nil if the model does not contain it.
    func primitiveType(_ path: ExpressionPath) -> PrimitiveType? {
        if case .alias(let name) = path.root, path.segments.isEmpty,
            case .literal(_, let type)? = evaluator.aliases.first(where: { $0.name == name })?.value
        {
            return type
        }
        return declaredType(path)?.primitive
    }

    /// Returns the declared type of the property at the end of a path that starts at an entity.
    func declaredType(_ path: ExpressionPath) -> TypeReference? {
        guard let model = evaluator.model, let entity = start(of: path) else { return nil }
        return model.propertyType(of: path.segments, from: entity.type)
    }

    /// Returns the enumeration of a computed or aggregated value.
    func computedEnumeration(_ path: ExpressionPath) -> EnumerationType? {
        guard path.segments.count == 1, case .property(let name) = path.segments[0] else { return nil }
        return start(of: path)?.enumerations[name]
    }

    /// Returns the entity at which the path starts.
    private func start(of path: ExpressionPath) -> EvaluationScope? {
        let start: EvaluationOperand?
        switch path.root {
        case .implicit, .this: start = current
        case .it: start = it
        case .variable(let name): start = variables[name]
        case .root, .these, .expression, .alias: return nil
        }
        guard case .entity(let entity)? = start else { return nil }
        return entity
    }
}
