public import EDM
package import ODataQuery

/// A condition of a query. Combine conditions with `and`, `or`, `not`, or `&&`, `||`, `!`.
public struct QueryFilter: Sendable, Hashable {
    let expression: Expression

    /// Returns a condition that is true if both conditions are true.
    public func and(_ other: QueryFilter) -> QueryFilter {
        QueryFilter(expression: Expression.all(of: [expression, other.expression]) ?? expression)
    }
    /// Returns a condition that is true if at least one of the conditions is true.
    public func or(_ other: QueryFilter) -> QueryFilter {
        QueryFilter(expression: Expression.any(of: [expression, other.expression]) ?? expression)
    }
    /// Returns the negation of the condition.
    public func not() -> QueryFilter { QueryFilter(expression: .not(expression)) }

    /// Returns a condition that is true if both conditions are true.
    public static func && (a: QueryFilter, b: QueryFilter) -> QueryFilter { a.and(b) }
    /// Returns a condition that is true if at least one of the conditions is true.
    public static func || (a: QueryFilter, b: QueryFilter) -> QueryFilter { a.or(b) }
    /// Returns a condition that is true if the condition is false.
    public static prefix func ! (a: QueryFilter) -> QueryFilter { a.not() }
}

/// An operand of a condition: a property, or a function of one.
public protocol QueryOperand: Sendable {
    /// The operand as an expression of the query.
    var queryExpression: QueryExpression { get }
    /// The type with which literals are compared, or `nil` if the literal determines it.
    var queryType: TypeReference? { get }
}

/// The expression of a ``QueryOperand``, as it is sent to a service.
public struct QueryExpression: Sendable, Hashable {
    package let syntax: Expression

    init(_ syntax: Expression) { self.syntax = syntax }
}

extension QueryOperand {
    /// The syntax tree of the operand.
    var syntax: Expression { queryExpression.syntax }
}
