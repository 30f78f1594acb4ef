/// Why an expression has no value for an entity.
public struct EvaluationError: Error, Sendable, Hashable {
    public enum Code: String, Sendable, Hashable {
        /// The evaluator does not know how: geo functions, paths from `$root`, comparisons of entities.
        case unsupported
        case unknownProperty
        /// The path leads to an entity or item that is not there.
        case notFound
        /// Operands that the operator or function cannot work on.
        case wrongOperand
        case divisionByZero
        /// The result is beyond what its type can hold.
        case outOfRange
    }

    public let code: Code
    /// One sentence.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension EvaluationError: CustomStringConvertible {
    public var description: String { message }
}
