extension Expression {
    /// The direct operands of the expression, including those in path segments.
    var operands: [Expression] {
        switch self {
        case .literal, .enumeration, .isof(nil, _), .cast(nil, _): []
        case .path(let path): path.operands
        case .comparison(_, let left, let right), .arithmetic(_, let left, let right): [left, right]
        case .and(let operands), .or(let operands), .list(let operands), .call(_, let operands): operands
        case .not(let operand), .negation(let operand), .isof(let operand?, _), .cast(let operand?, _): [operand]
        case .object(let members): members.map(\.value)
        case .choice(let choices): choices.flatMap { [$0.condition, $0.value] }
        }
    }

    /// Returns whether the expression is nested more than `limit` levels deep. Does not search deeper than that.
    func isHigher(than limit: Int) -> Bool {
        operands.contains { limit == 0 || $0.isHigher(than: limit - 1) }
    }

    /// Returns whether one of the functions is called anywhere in the expression.
    package func calls(_ functions: Set<CanonicalFunction>) -> Bool {
        if case .call(let function, _) = self, functions.contains(function) { return true }
        return operands.contains { $0.calls(functions) }
    }
}

extension ExpressionPath {
    fileprivate var operands: [Expression] {
        var found: [Expression] = []
        if case .expression(let expression) = root { found.append(expression) }
        for segment in segments {
            switch segment {
            case .function(_, let arguments), .key(let arguments): found += arguments.map(\.value)
            case .count(let options): found += options.expressions
            case .filter(let condition): found.append(condition)
            case .any(let lambda?), .all(let lambda): found.append(lambda.predicate)
            case .aggregate(let item): found += item.operands
            case .property, .type, .annotation, .any(nil): break
            }
        }
        return found
    }
}

extension AggregateItem {
    fileprivate var operands: [Expression] { if case .values(let expression, _) = subject { [expression] } else { [] } }
}

extension QueryOptions {
    /// All expressions of the options, including those within `$expand`, `$select` and `$apply`.
    package var expressions: [Expression] {
        var found: [Expression] = []
        if let filter { found.append(filter) }
        found += orderBy.map(\.expression)
        found += compute.map(\.expression)
        for item in expand { found += item.options.expressions }
        for item in select { found += item.options.expressions }
        for transformation in apply { found += transformation.expressions }
        return found
    }
}

extension Transformation {
    fileprivate var expressions: [Expression] {
        switch self {
        case .filter(let condition): [condition]
        case .compute(let items): items.map(\.expression)
        case .orderBy(let items): items.map(\.expression)
        case .aggregate(let items): items.flatMap(\.operands)
        case .groupBy(_, let inner): inner.flatMap(\.expressions)
        case .concat(let sequences): sequences.flatMap { $0.flatMap(\.expressions) }
        case .ranked(_, let count, let by): [count, by]
        // Only the service can evaluate these.
        case .nest, .addNested, .join, .relatives, .traverse, .function: []
        case .identity, .search, .top, .skip: []
        }
    }
}

extension ServiceRequest {
    /// All expressions of the path and the options.
    package var expressions: [Expression] {
        var found = options.expressions
        for case .filter(let condition) in path.segments { found.append(condition) }
        return found
    }
}
