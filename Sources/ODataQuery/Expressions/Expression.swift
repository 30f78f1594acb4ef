package import EDM

/// An expression of `$filter`, `$orderby`, `$compute` and parameters (OData 4.01 Part 2, section 5.1.1).
///
/// It is independent of the protocol version: V2's `substringof(a,b)` is represented as `contains(b,a)`, and the
/// printer converts it back.
///
/// A parsed expression is at most ``QueryLimits/height`` levels deep, so that recursive functions are safe.
package indirect enum Expression: Sendable, Hashable {
    /// A primitive value. The type is nil for `null`, and for values created in code whose type follows from the other
    /// operand.
    case literal(Value, PrimitiveType?)
    /// An enumeration literal such as `Sales.Pattern'Yellow'`: the qualified type name, and member names joined with
    /// commas or a number.
    case enumeration(type: String, value: String)
    case path(ExpressionPath)
    case comparison(ComparisonOperator, Expression, Expression)
    /// A conjunction of two or more operands.
    case and([Expression])
    /// A disjunction of two or more operands.
    case or([Expression])
    case not(Expression)
    case arithmetic(ArithmeticOperator, Expression, Expression)
    case negation(Expression)
    case call(CanonicalFunction, [Expression])
    /// `isof`; without an operand it tests `$it`.
    case isof(Expression?, type: String)
    /// `cast`; without an operand it casts `$it`.
    case cast(Expression?, type: String)
    /// The right operand of `in`, or a JSON array.
    case list([Expression])
    /// A JSON object: a complex value or an entity reference.
    case object([Member])
    /// `case(condition:value,…)` of 4.01: the value of the first condition that is true, otherwise null.
    case choice([Choice])

    package struct Member: Sendable, Hashable {
        package let name: String
        package let value: Expression

        package init(name: String, value: Expression) {
            self.name = name
            self.value = value
        }
    }

    package struct Choice: Sendable, Hashable {
        package let condition: Expression
        package let value: Expression

        package init(condition: Expression, value: Expression) {
            self.condition = condition
            self.value = value
        }
    }
}

package enum ComparisonOperator: String, Sendable, Hashable, CaseIterable {
    case eq, ne, gt, ge, lt, le, has
    case `in`
}

package enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    case add, sub, mul, div, divby, mod
}

/// The limits for query text. The memory and stack use for hostile input is proportional to them.
package enum QueryLimits {
    /// The maximum nesting depth of an expression, or of `$expand`.
    package static let height = 64
    /// The maximum length of a query string or path in bytes.
    package static let length = 1 << 20
}

extension Expression {
    package static let null = Expression.literal(.null, nil)
    package static let `true` = Expression.literal(.boolean(true), .boolean)
    package static let `false` = Expression.literal(.boolean(false), .boolean)

    /// Returns a property by its path: `Name`, `Address/City`, `Customer/Name`.
    package static func property(_ path: String) -> Expression {
        .path(ExpressionPath(segments: path.split(separator: "/").map { .property(String($0)) }))
    }

    /// Returns the conjunction of the conditions, or nil if there are none. It is flat, so that a long chain does not
    /// become a deep tree.
    package static func all(of conditions: [Expression]) -> Expression? {
        let operands = conditions.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
        return operands.count > 1 ? .and(operands) : operands.first
    }

    /// Returns the disjunction of the conditions, or nil if there are none. It is flat.
    package static func any(of conditions: [Expression]) -> Expression? {
        let operands = conditions.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
        return operands.count > 1 ? .or(operands) : operands.first
    }
}
