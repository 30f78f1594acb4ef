extension Expression {
    /// Returns the expression with the names from `$compute` replaced by their definitions.
    ///
    /// Names that refer to each other can grow exponentially, so this returns nil if the result has more than `limit`
    /// nodes.
    package func inlining(_ items: [ComputeItem], limit: Int) -> Expression? {
        guard !items.isEmpty else { return self }
        var known: [String: Expression] = [:]
        var inlining = Inlining(limit: limit)
        for item in items { known[item.name] = inlining.define(item, known) }
        inlining.nodes = 0
        let result = inlining.rewrite(self, known)
        return inlining.nodes > limit ? nil : result
    }
}

/// Rewrites expressions and counts the nodes of the result.
struct Inlining {
    let limit: Int
    /// The aliases to replace, or nil to keep aliases.
    var aliases: AliasTable?
    var nodes = 0
    private var sizes: [String: Int] = [:]

    init(limit: Int) { self.limit = limit }

    /// Returns the definition of an item's name and stores its size.
    ///
    /// Definitions that refer to earlier ones share one tree in memory, but their nodes count for every use of the
    /// name.
    fileprivate mutating func define(_ item: ComputeItem, _ known: [String: Expression]) -> Expression {
        nodes = 0
        let expression = rewrite(item.expression, known)
        sizes[item.name] = nodes
        return expression
    }

    /// - Parameter known: The expressions that replace names of properties.
    mutating func rewrite(_ expression: Expression, _ known: [String: Expression]) -> Expression {
        nodes += 1
        // The limit is exceeded, so the result will be discarded.
        guard nodes <= limit else { return expression }
        switch expression {
        case .literal, .enumeration, .isof(nil, _), .cast(nil, _): return expression
        case .path(let path): return rewrite(path, known)
        case .comparison(let comparison, let left, let right):
            return .comparison(comparison, rewrite(left, known), rewrite(right, known))
        case .and(let operands): return .and(rewrite(operands, known))
        case .or(let operands): return .or(rewrite(operands, known))
        case .not(let operand): return .not(rewrite(operand, known))
        case .arithmetic(let operation, let left, let right):
            return .arithmetic(operation, rewrite(left, known), rewrite(right, known))
        case .negation(let operand): return .negation(rewrite(operand, known))
        case .call(let function, let arguments): return .call(function, rewrite(arguments, known))
        case .isof(let operand?, let type): return .isof(rewrite(operand, known), type: type)
        case .cast(let operand?, let type): return .cast(rewrite(operand, known), type: type)
        case .list(let items): return .list(rewrite(items, known))
        case .object(let members):
            return .object(members.map { Expression.Member(name: $0.name, value: rewrite($0.value, known)) })
        case .choice(let choices):
            return .choice(
                choices.map {
                    Expression.Choice(condition: rewrite($0.condition, known), value: rewrite($0.value, known))
                })
        }
    }

    private mutating func rewrite(_ expressions: [Expression], _ known: [String: Expression]) -> [Expression] {
        var result: [Expression] = []
        for expression in expressions { result.append(rewrite(expression, known)) }
        return result
    }

    private mutating func rewrite(_ path: ExpressionPath, _ known: [String: Expression]) -> Expression {
        var path = path
        if path.root == .implicit || path.root == .it, case .property(let name)? = path.segments.first,
            let expression = known[name]
        {
            nodes += sizes[name] ?? 0
            guard path.segments.count > 1 else { return expression }
            path = ExpressionPath(root: .expression(expression), segments: Array(path.segments.dropFirst()))
        } else if case .alias(let name) = path.root, let alias = aliases?.value(of: name) {
            nodes += alias.nodes
            guard !path.segments.isEmpty else { return alias.value }
            path.root = .expression(alias.value)
        } else if case .expression(let expression) = path.root {
            path.root = .expression(rewrite(expression, known))
        }
        // In the condition of a lambda, names without a range variable still belong to the entity.
        path.segments = path.segments.map { segment in
            switch segment {
            case .any(let lambda?): .any(rewrite(lambda, known))
            case .all(let lambda): .all(rewrite(lambda, known))
            // These segments concern other entities, to which the names do not belong.
            case .filter(let condition): .filter(rewrite(condition, [:]))
            case .count(let options): .count(rewrite(options))
            case .aggregate(let item): .aggregate(rewrite(item))
            case .function(let name, let arguments): .function(name, rewrite(arguments, known))
            case .key(let arguments): .key(rewrite(arguments, known))
            case .property, .type, .annotation, .any(nil): segment
            }
        }
        return .path(path)
    }

    private mutating func rewrite(
        _ arguments: [ExpressionPath.Argument], _ known: [String: Expression]
    ) -> [ExpressionPath.Argument] {
        arguments.map { ExpressionPath.Argument(name: $0.name, value: rewrite($0.value, known)) }
    }

    private mutating func rewrite(
        _ lambda: ExpressionPath.Lambda, _ known: [String: Expression]
    ) -> ExpressionPath.Lambda {
        ExpressionPath.Lambda(variable: lambda.variable, predicate: rewrite(lambda.predicate, known))
    }
}
