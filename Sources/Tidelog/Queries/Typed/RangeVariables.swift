import ODataQuery
import Synchronization

/// Names for the range variables of `any` and `all`.
extension ExpressionPath.Lambda {
    /// Returns a condition on a new range variable, whose name is the first of `x1`, `x2`, … that the condition does
    /// not use.
    ///
    /// So an inner condition never captures names of an outer one, even if it was created elsewhere, and the same
    /// calls always produce the same names.
    static func binding(_ condition: (ExpressionPath.Root) -> Expression) -> ExpressionPath.Lambda {
        // A provisional name that is not a valid identifier and is unique for the call.
        let number = Self.calls.wrappingAdd(1, ordering: .relaxed).newValue
        let provisional = ExpressionPath.Root.variable("#\(number)")
        let predicate = condition(provisional)
        let name = predicate.unusedName
        return ExpressionPath.Lambda(
            variable: name,
            predicate: predicate.mappingPaths { path, _ in
                guard path.root == provisional else { return path }
                return ExpressionPath(root: .variable(name), segments: path.segments)
            })
    }

    private static let calls = Atomic<Int>(0)
}

extension Expression {
    /// The first of `x1`, `x2`, … that is neither a variable nor the start of a path in the expression.
    var unusedName: String {
        var used: Set<String> = []
        _ = mappingPaths { path, _ in
            if case .variable(let name) = path.root { used.insert(name) }
            for segment in path.segments {
                switch segment {
                case .any(let lambda?), .all(let lambda): used.insert(lambda.variable)
                case .property(let name): used.insert(name)
                default: break
                }
            }
            return path
        }
        var number = 1
        while used.contains("x\(number)") { number += 1 }
        return "x\(number)"
    }
}
