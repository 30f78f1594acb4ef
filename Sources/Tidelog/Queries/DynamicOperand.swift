public import EDM
import ODataQuery

/// An operand without a static Swift type. It accepts every function and literal; errors are detected when the query
/// is executed.
public protocol DynamicOperand: QueryOperand {}

extension Property: DynamicOperand {
    /// The property as an expression of the query.
    public var queryExpression: QueryExpression { QueryExpression(.property(name)) }
    /// The type of the property.
    public var queryType: TypeReference? { type }
}

/// A function of a property, for example its length.
public struct QueryFunction: DynamicOperand, Hashable {
    /// The call of the function as an expression of the query.
    public let queryExpression: QueryExpression
    /// The type of the result, or `nil` if the compared literal determines it.
    public let queryType: TypeReference?

    init(_ expression: Expression, _ type: TypeReference?) {
        queryExpression = QueryExpression(expression)
        queryType = type
    }

    init(_ function: CanonicalFunction, _ arguments: [Expression], _ type: PrimitiveType) {
        queryExpression = QueryExpression(.call(function, arguments))
        queryType = TypeReference(.primitive(type))
    }
}

extension DynamicOperand {
    /// Returns a condition that is true if the operand equals the value.
    public func equal(_ value: some QueryLiteral) -> QueryFilter { compare(.eq, literal(value)) }
    /// Returns a condition that is true if the operand does not equal the value.
    public func notEqual(_ value: some QueryLiteral) -> QueryFilter { compare(.ne, literal(value)) }
    /// Returns a condition that is true if the operand is greater than the value.
    public func greaterThan(_ value: some QueryLiteral) -> QueryFilter { compare(.gt, literal(value)) }
    /// Returns a condition that is true if the operand is greater than or equal to the value.
    public func greaterEqual(_ value: some QueryLiteral) -> QueryFilter { compare(.ge, literal(value)) }
    /// Returns a condition that is true if the operand is less than the value.
    public func lessThan(_ value: some QueryLiteral) -> QueryFilter { compare(.lt, literal(value)) }
    /// Returns a condition that is true if the operand is less than or equal to the value.
    public func lessEqual(_ value: some QueryLiteral) -> QueryFilter { compare(.le, literal(value)) }
    /// Returns a condition that is true if the operands are equal.
    public func equal(_ other: some QueryOperand) -> QueryFilter { compare(.eq, other.syntax) }
    /// Returns a condition that is true if the operands are not equal.
    public func notEqual(_ other: some QueryOperand) -> QueryFilter { compare(.ne, other.syntax) }
    /// Returns a condition that is true if the operand is greater than the other one.
    public func greaterThan(_ other: some QueryOperand) -> QueryFilter { compare(.gt, other.syntax) }
    /// Returns a condition that is true if the operand is greater than or equal to the other one.
    public func greaterEqual(_ other: some QueryOperand) -> QueryFilter { compare(.ge, other.syntax) }
    /// Returns a condition that is true if the operand is less than the other one.
    public func lessThan(_ other: some QueryOperand) -> QueryFilter { compare(.lt, other.syntax) }
    /// Returns a condition that is true if the operand is less than or equal to the other one.
    public func lessEqual(_ other: some QueryOperand) -> QueryFilter { compare(.le, other.syntax) }
    /// Returns a condition that is true if the operand is equal to one of the values.
    public func isIn(_ values: [some QueryLiteral]) -> QueryFilter { compare(.in, .list(values.map { literal($0) })) }
    /// Returns a condition that is true if the operand, a combination of flags, has all flags of the value.
    public func has(_ value: some QueryLiteral) -> QueryFilter { compare(.has, literal(value)) }
    /// Returns a condition that is true if the operand is null.
    public func isNull() -> QueryFilter { compare(.eq, .null) }
    /// Returns a condition that is true if the operand is not null.
    public func isNotNull() -> QueryFilter { compare(.ne, .null) }

    /// Returns a condition that is true if the operand contains the text.
    public func contains(_ text: String) -> QueryFilter { condition(.contains, .text(text)) }
    /// Returns a condition that is true if the operand starts with the text.
    public func startsWith(_ text: String) -> QueryFilter { condition(.startswith, .text(text)) }
    /// Returns a condition that is true if the operand ends with the text.
    public func endsWith(_ text: String) -> QueryFilter { condition(.endswith, .text(text)) }

    /// Returns the text in lower case.
    public func toLower() -> QueryFunction { QueryFunction(.tolower, [syntax], .string) }
    /// Returns the text in upper case.
    public func toUpper() -> QueryFunction { QueryFunction(.toupper, [syntax], .string) }
    /// Returns the text without white space at its beginning and end.
    public func trim() -> QueryFunction { QueryFunction(.trim, [syntax], .string) }
    /// Returns the number of characters.
    public func length() -> QueryFunction { QueryFunction(.length, [syntax], .int32) }
    /// Returns the year.
    public func year() -> QueryFunction { QueryFunction(.year, [syntax], .int32) }
    /// Returns the month, from 1 to 12.
    public func month() -> QueryFunction { QueryFunction(.month, [syntax], .int32) }
    /// Returns the day of the month, from 1 to 31.
    public func day() -> QueryFunction { QueryFunction(.day, [syntax], .int32) }
    /// Returns the nearest integral number; halves are rounded away from zero.
    public func round() -> QueryFunction { QueryFunction(.round, [syntax], .decimal) }

    /// Returns the largest integral number that is not greater.
    public func floor() -> QueryFunction { QueryFunction(.floor, [syntax], .decimal) }
    /// Returns the smallest integral number that is not less.
    public func ceiling() -> QueryFunction { QueryFunction(.ceiling, [syntax], .decimal) }

    /// Returns the sum of both operands.
    public func adding(_ other: some QueryOperand) -> QueryFunction {
        QueryFunction(arithmetic(.add, other.syntax), nil)
    }
    /// Returns the sum of the operand and the value.
    public func adding(_ value: some QueryLiteral) -> QueryFunction {
        QueryFunction(arithmetic(.add, plain(value)), nil)
    }
    /// Returns the operand minus the other one.
    public func subtracting(_ other: some QueryOperand) -> QueryFunction {
        QueryFunction(arithmetic(.sub, other.syntax), nil)
    }
    /// Returns the operand minus the value.
    public func subtracting(_ value: some QueryLiteral) -> QueryFunction {
        QueryFunction(arithmetic(.sub, plain(value)), nil)
    }
    /// Returns the product of both operands.
    public func multiplied(by other: some QueryOperand) -> QueryFunction {
        QueryFunction(arithmetic(.mul, other.syntax), nil)
    }
    /// Returns the product of the operand and the value.
    public func multiplied(by value: some QueryLiteral) -> QueryFunction {
        QueryFunction(arithmetic(.mul, plain(value)), nil)
    }
    /// Returns the quotient with fractional digits, even for integers (`divby` of OData 4.01).
    public func divided(by other: some QueryOperand) -> QueryFunction {
        QueryFunction(arithmetic(.divby, other.syntax), nil)
    }
    /// Returns the quotient with fractional digits, even for integers (`divby` of OData 4.01).
    public func divided(by value: some QueryLiteral) -> QueryFunction {
        QueryFunction(arithmetic(.divby, plain(value)), nil)
    }
}
