import ODataWire
import Synchronization

/// Names for the range variables of `any` and `all`.
extension ExpressionPath.Lambda {
    /// A condition on a variable, which gets a name when the condition is there: the first of `x1`, `x2`, … that the condition
    /// does not use for anything else. So an inner condition never takes what belongs to an outer one, also where it was
    /// made elsewhere, and the same calls always give the same names.
    static func binding(_ condition: (ExpressionPath.Root) -> Expression) -> ExpressionPath.Lambda {
        // Until then a name that no identifier can be, and that no other call has.
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
    /// The first of `x1`, `x2`, … that neither is a variable nor begins a path in the expression.
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
