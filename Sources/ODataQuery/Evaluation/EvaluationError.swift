/// The reason why an expression cannot be evaluated for an entity.
package struct EvaluationError: Error, Sendable, Hashable {
    package enum Code: String, Sendable, Hashable {
        /// The evaluator does not support the construct: paths from `$root`, comparisons of entities.
        case unsupported
        case unknownProperty
        /// The path leads to an entity or item that does not exist.
        case notFound
        /// The operands are invalid for the operator or function.
        case wrongOperand
        case divisionByZero
        /// The result exceeds the range of its type.
        case outOfRange
    }

    package let code: Code
    /// The reason as one sentence.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension EvaluationError: CustomStringConvertible {
    package var description: String { message }
}
