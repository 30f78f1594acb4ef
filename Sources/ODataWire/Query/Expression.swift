public import EDM

/// An expression of `$filter`, `$orderby`, `$compute` and parameters (OData 4.01 Part 2, section 5.1.1), the same for
/// every protocol version: V2's `substringof(a,b)` is `contains(b,a)` here, and the printer turns it back.
///
/// A parsed expression is at most ``QueryLimits/height`` levels deep, so that walking it by recursion is safe.
public indirect enum Expression: Sendable, Hashable {
    /// A primitive value. The type is nil for `null` and for values made in code whose type follows from the other
    /// operand.
    case literal(Value, PrimitiveType?)
    /// `Sales.Pattern'Yellow'`: the qualified type name, and member names joined with commas or a number.
    case enumeration(type: String, value: String)
    case path(ExpressionPath)
    case comparison(ComparisonOperator, Expression, Expression)
    /// Two or more operands.
    case and([Expression])
    /// Two or more operands.
    case or([Expression])
    case not(Expression)
    case arithmetic(ArithmeticOperator, Expression, Expression)
    case negation(Expression)
    case call(CanonicalFunction, [Expression])
    /// `isof`; without an operand it asks about `$it`.
    case isof(Expression?, type: String)
    /// `cast`; without an operand it casts `$it`.
    case cast(Expression?, type: String)
    /// The right side of `in`, and JSON arrays.
    case list([Expression])
    /// A JSON object: a complex value or an entity reference.
    case object([Member])
    /// `case(condition:value,…)` of 4.01: the value of the first condition that is true, else null.
    case choice([Choice])

    public struct Member: Sendable, Hashable {
        public let name: String
        public let value: Expression

        public init(name: String, value: Expression) {
            self.name = name
            self.value = value
        }
    }

    public struct Choice: Sendable, Hashable {
        public let condition: Expression
        public let value: Expression

        public init(condition: Expression, value: Expression) {
            self.condition = condition
            self.value = value
        }
    }
}

public enum ComparisonOperator: String, Sendable, Hashable, CaseIterable {
    case eq, ne, gt, ge, lt, le, has
    case `in`
}

public enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    case add, sub, mul, div, divby, mod
}

/// How much text is accepted. Hostile input costs memory and stack in proportion to these, never more.
public enum QueryLimits {
    /// The most levels that an expression, or nested `$expand`, may have.
    public static let height = 64
    /// The longest query string or path, in bytes.
    public static let length = 1 << 20
}

extension Expression {
    public static let null = Expression.literal(.null, nil)
    public static let `true` = Expression.literal(.boolean(true), .boolean)
    public static let `false` = Expression.literal(.boolean(false), .boolean)

    /// A property by its path: `Name`, `Address/City`, `Customer/Name`.
    public static func property(_ path: String) -> Expression {
        .path(ExpressionPath(segments: path.split(separator: "/").map { .property(String($0)) }))
    }

    /// Joins conditions, flat: a long chain does not become a deep tree. Nil for none.
    public static func all(of conditions: [Expression]) -> Expression? {
        let operands = conditions.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
        return operands.count > 1 ? .and(operands) : operands.first
    }

    /// Joins alternatives, flat. Nil for none.
    public static func any(of conditions: [Expression]) -> Expression? {
        let operands = conditions.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
        return operands.count > 1 ? .or(operands) : operands.first
    }
}
