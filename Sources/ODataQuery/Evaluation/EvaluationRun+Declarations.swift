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
        guard let model = evaluator.model else { return nil }
        let start: EvaluationOperand?
        switch path.root {
        case .implicit, .this: start = current
        case .it: start = it
        case .variable(let name): start = variables[name]
        case .root, .these, .expression, .alias: return nil
        }
        guard case .entity(let entity?)? = start else { return nil }
        return model.propertyType(of: path.segments, from: entity.type)
    }
}
