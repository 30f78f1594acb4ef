import ODataQuery

/// The subject of a path without a root.
enum PathSubject {
    /// The entity that the whole expression applies to.
    case entity
    /// An item of a collection: in `$filter(…)`, `$count($filter=…)` and `aggregate(…)`.
    case item
}

extension Expression {
    /// Returns the expression with every path replaced; paths within a path are replaced before the path itself.
    ///
    /// `isof` and `cast` without an operand are treated as having the path `$it`.
    func mappingPaths(_ change: (ExpressionPath, PathSubject) -> ExpressionPath) -> Expression {
        mappingPaths(.entity, change)
    }

    fileprivate func mappingPaths(
        _ subject: PathSubject, _ change: (ExpressionPath, PathSubject) -> ExpressionPath
    ) -> Expression {
        func map(_ expression: Expression) -> Expression { expression.mappingPaths(subject, change) }
        switch self {
        case .literal, .enumeration: return self
        case .path(let path): return .path(change(path.mappingInnerPaths(subject, change), subject))
        case .comparison(let comparison, let left, let right): return .comparison(comparison, map(left), map(right))
        case .and(let operands): return .and(operands.map(map))
        case .or(let operands): return .or(operands.map(map))
        case .not(let operand): return .not(map(operand))
        case .arithmetic(let operation, let left, let right): return .arithmetic(operation, map(left), map(right))
        case .negation(let operand): return .negation(map(operand))
        case .call(let function, let arguments): return .call(function, arguments.map(map))
        case .isof(let operand, let type): return .isof(Self.map(operand, subject, change), type: type)
        case .cast(let operand, let type): return .cast(Self.map(operand, subject, change), type: type)
        case .list(let items): return .list(items.map(map))
        case .object(let members): return .object(members.map { Member(name: $0.name, value: map($0.value)) })
        case .choice(let choices):
            return .choice(choices.map { Choice(condition: map($0.condition), value: map($0.value)) })
        }
    }

    private static func map(
        _ operand: Expression?, _ subject: PathSubject, _ change: (ExpressionPath, PathSubject) -> ExpressionPath
    ) -> Expression? {
        if let operand { return operand.mappingPaths(subject, change) }
        let it = ExpressionPath(root: .it, segments: [])
        let changed = change(it, subject)
        return changed == it ? nil : .path(changed)
    }
}

extension ExpressionPath {
    fileprivate func mappingInnerPaths(
        _ subject: PathSubject, _ change: (ExpressionPath, PathSubject) -> ExpressionPath
    ) -> ExpressionPath {
        func map(_ lambda: Lambda) -> Lambda {
            Lambda(variable: lambda.variable, predicate: lambda.predicate.mappingPaths(subject, change))
        }
        func map(_ arguments: [Argument]) -> [Argument] {
            arguments.map { Argument(name: $0.name, value: $0.value.mappingPaths(subject, change)) }
        }
        var path = self
        if case .expression(let inner) = root { path.root = .expression(inner.mappingPaths(subject, change)) }
        path.segments = segments.map { segment in
            switch segment {
            case .any(let lambda?): return .any(map(lambda))
            case .all(let lambda): return .all(map(lambda))
            case .key(let arguments): return .key(map(arguments))
            case .function(let name, let arguments): return .function(name, map(arguments))
            case .filter(let condition): return .filter(condition.mappingPaths(.item, change))
            case .count(var options):
                options.filter = options.filter.map { $0.mappingPaths(.item, change) }
                return .count(options)
            case .aggregate(var item):
                guard case .values(let expression, let method) = item.subject else { return segment }
                item.subject = .values(expression.mappingPaths(.item, change), method)
                return .aggregate(item)
            case .property, .type, .annotation, .any(nil): return segment
            }
        }
        return path
    }
}
