internal import EDM

extension EvaluationRun {
    mutating func walk(_ path: ExpressionPath) throws(EvaluationError) -> EvaluationOperand {
        var position: EvaluationOperand
        var segments = path.segments[...]
        switch path.root {
        case .implicit, .this: position = current
        case .it: position = it
        case .these:
            guard let these else { throw EvaluationError(.unsupported, "$these can be used only in $apply.") }
            position = .entities(these)
        case .variable(let name): position = variables[name] ?? .value(.null)
        case .alias(let name): position = try alias(name)
        case .expression(let expression): position = try operand(expression)
        case .root: position = try start(&segments)
        }
        for segment in segments { position = try step(segment, from: position) }
        return position
    }

    /// Returns the entity set or singleton at the start of a path from `$root`, or the entity with the given key, and
    /// removes its segment.
    private mutating func start(
        _ segments: inout ArraySlice<ExpressionPath.Segment>
    ) throws(EvaluationError) -> EvaluationOperand {
        let root: ((String) -> EvaluationOperand?)? = if case .entity(let entity?) = it { entity.root } else { nil }
        switch segments.popFirst() {
        case .property(let name)?:
            if let found = root?(name) { return found }
        case .function(let name, let arguments)?:
            if let found = root?(name) { return try member(of: found, with: arguments) }
        default: break
        }
        throw EvaluationError(.unsupported, "Only the service can evaluate this path from $root.")
    }

    mutating func step(
        _ segment: ExpressionPath.Segment, from position: EvaluationOperand
    ) throws(EvaluationError) -> EvaluationOperand {
        switch segment {
        case .property(let name): return try property(name, of: position)
        case .type(let name): return cast(position, to: evaluator.resolve(name))
        case .count(let options):
            var items = try items(of: position)
            if let filter = options.filter { items = try select(items, where: filter, variable: nil) }
            guard options.search == nil else {
                throw EvaluationError(.unsupported, "Only the service can evaluate $search within $count.")
            }
            return .value(.integer(Int64(items.count)))
        case .filter(let predicate):
            let items = try select(try items(of: position), where: predicate, variable: nil)
            return collection(items, like: position)
        case .any(let lambda):
            let items = try items(of: position)
            guard let lambda else { return .value(.boolean(!items.isEmpty)) }
            for item in items where try holds(lambda, for: item) { return .value(.boolean(true)) }
            return .value(.boolean(false))
        case .all(let lambda):
            for item in try items(of: position) where try !holds(lambda, for: item) { return .value(.boolean(false)) }
            return .value(.boolean(true))
        case .aggregate(let item):
            let run = Aggregation(evaluator: evaluator, these: these)
            return .value(try run.value(of: item, over: try items(of: position)))
        case .key(let arguments): return try member(of: position, with: arguments)
        case .function(let name, let arguments):
            if let collection = try keyed(name, of: position) { return try member(of: collection, with: arguments) }
            throw EvaluationError(.unsupported, "Only the service can evaluate the function \(name).")
        case .annotation(let name):
            throw EvaluationError(.unsupported, "Only the service can evaluate the annotation @\(name).")
        }
    }

    func property(
        _ name: String, of position: EvaluationOperand
    ) throws(EvaluationError) -> EvaluationOperand {
        switch position {
        // The properties of a missing entity or value are null.
        case .entity(nil), .value(.null): return .value(.null)
        case .entity(let entity?):
            if let operand = entity.property(name) { return operand }
            if let type = unqualifiedType(name) { return cast(position, to: type) }
            throw EvaluationError(.unknownProperty, "There is no property \(name).")
        case .value(.complex(let complex)):
            if let value = complex.properties[name] { return .value(value) }
            guard evaluator.model?.complexNavigations.contains(name) != true else {
                throw EvaluationError(
                    .unsupported, "Only the service can evaluate the navigation property \(name) of a complex value.")
            }
            return .value(.null)
        default:
            if let type = unqualifiedType(name) { return cast(position, to: type) }
            throw EvaluationError(.unknownProperty, "A value has no property \(name).")
        }
    }

    /// Returns the qualified name for the unqualified type name of 4.01, or nil if there is no such type.
    private func unqualifiedType(_ name: String) -> String? {
        guard case .structured(let type)? = evaluator.model?.findType(name, isLocalAllowed: true) else { return nil }
        return type.name
    }

    func cast(_ position: EvaluationOperand, to type: String) -> EvaluationOperand {
        switch position {
        case .entity(let entity): return .entity(entity.flatMap { $0.isInstance(type) ? $0 : nil })
        case .entities(let entities): return .entities(entities.filter { $0.isInstance(type) })
        case .value(.collection(let values)):
            return .value(.collection(values.filter { evaluator.isInstance($0, of: type) }))
        case .value(let value): return .value(evaluator.isInstance(value, of: type) ? value : .null)
        }
    }

    func items(of position: EvaluationOperand) throws(EvaluationError) -> [EvaluationOperand] {
        switch position {
        case .entities(let entities): return entities.map { .entity($0) }
        case .value(.collection(let values)): return values.map { .value($0) }
        case .entity(nil), .value(.null): return []
        default: throw EvaluationError(.wrongOperand, "Expected a collection.")
        }
    }

    private func collection(_ items: [EvaluationOperand], like position: EvaluationOperand) -> EvaluationOperand {
        if case .entities = position {
            return .entities(items.compactMap { if case .entity(let entity) = $0 { entity } else { nil } })
        }
        return .value(.collection(items.compactMap { if case .value(let value) = $0 { value } else { nil } }))
    }

    private mutating func holds(
        _ lambda: ExpressionPath.Lambda, for item: EvaluationOperand
    ) throws(EvaluationError) -> Bool {
        let outer = variables[lambda.variable]
        variables[lambda.variable] = item
        defer { variables[lambda.variable] = outer }
        return try condition(lambda.predicate) == true
    }

    private mutating func select(
        _ items: [EvaluationOperand], where predicate: Expression, variable: String?
    ) throws(EvaluationError) -> [EvaluationOperand] {
        let outer = current
        defer { current = outer }
        var result: [EvaluationOperand] = []
        for item in items {
            current = item
            if try condition(predicate) == true { result.append(item) }
        }
        return result
    }
}
