public import EDM
public import ODataWire

/// A condition of a query. Combine with `and`, `or`, `not`, or `&&`, `||`, `!`.
public struct QueryFilter: Sendable, Hashable {
    let expression: Expression

    public func and(_ other: QueryFilter) -> QueryFilter {
        QueryFilter(expression: Expression.all(of: [expression, other.expression]) ?? expression)
    }
    public func or(_ other: QueryFilter) -> QueryFilter {
        QueryFilter(expression: Expression.any(of: [expression, other.expression]) ?? expression)
    }
    public func not() -> QueryFilter { QueryFilter(expression: .not(expression)) }

    public static func && (a: QueryFilter, b: QueryFilter) -> QueryFilter { a.and(b) }
    public static func || (a: QueryFilter, b: QueryFilter) -> QueryFilter { a.or(b) }
    public static prefix func ! (a: QueryFilter) -> QueryFilter { a.not() }
}

/// What can stand in a condition: a property, or a function of one.
public protocol QueryOperand: Sendable {
    var queryExpression: Expression { get }
    /// The type that literals are compared as; nil where it follows from the literal.
    var queryType: TypeReference? { get }
}

/// An operand whose Swift type is not known: it takes every function and literal, and what does not fit is found when the
/// query is executed.
public protocol DynamicOperand: QueryOperand {}

extension Property: DynamicOperand {
    public var queryExpression: Expression { .property(name) }
    public var queryType: TypeReference? { type }
}

/// A function of a property, such as its length.
public struct QueryFunction: DynamicOperand, Hashable {
    public let queryExpression: Expression
    public let queryType: TypeReference?

    init(_ expression: Expression, _ type: TypeReference?) {
        queryExpression = expression
        queryType = type
    }

    init(_ function: CanonicalFunction, _ arguments: [Expression], _ type: PrimitiveType) {
        queryExpression = .call(function, arguments)
        queryType = TypeReference(.primitive(type))
    }
}

/// What a property can be compared with.
public protocol QueryLiteral: Sendable {
    var queryValue: Value { get }
}

extension String: QueryLiteral { public var queryValue: Value { .string(self) } }
extension Int: QueryLiteral { public var queryValue: Value { .integer(Int64(self)) } }
extension Double: QueryLiteral { public var queryValue: Value { .double(self) } }
extension Bool: QueryLiteral { public var queryValue: Value { .boolean(self) } }
extension DecimalValue: QueryLiteral { public var queryValue: Value { .decimal(self) } }
extension GuidValue: QueryLiteral { public var queryValue: Value { .guid(self) } }
extension LocalDate: QueryLiteral { public var queryValue: Value { .date(self) } }
extension LocalTime: QueryLiteral { public var queryValue: Value { .timeOfDay(self) } }
extension LocalDateTime: QueryLiteral { public var queryValue: Value { .dateTime(self) } }
extension GlobalDateTime: QueryLiteral { public var queryValue: Value { .dateTimeOffset(self) } }
extension DayTimeDuration: QueryLiteral { public var queryValue: Value { .duration(self) } }
extension Value: QueryLiteral { public var queryValue: Value { self } }

extension DynamicOperand {
    public func equal(_ value: some QueryLiteral) -> QueryFilter { compare(.eq, literal(value)) }
    public func notEqual(_ value: some QueryLiteral) -> QueryFilter { compare(.ne, literal(value)) }
    public func greaterThan(_ value: some QueryLiteral) -> QueryFilter { compare(.gt, literal(value)) }
    public func greaterEqual(_ value: some QueryLiteral) -> QueryFilter { compare(.ge, literal(value)) }
    public func lessThan(_ value: some QueryLiteral) -> QueryFilter { compare(.lt, literal(value)) }
    public func lessEqual(_ value: some QueryLiteral) -> QueryFilter { compare(.le, literal(value)) }
    public func equal(_ other: some QueryOperand) -> QueryFilter { compare(.eq, other.queryExpression) }
    public func notEqual(_ other: some QueryOperand) -> QueryFilter { compare(.ne, other.queryExpression) }
    public func greaterThan(_ other: some QueryOperand) -> QueryFilter { compare(.gt, other.queryExpression) }
    public func greaterEqual(_ other: some QueryOperand) -> QueryFilter { compare(.ge, other.queryExpression) }
    public func lessThan(_ other: some QueryOperand) -> QueryFilter { compare(.lt, other.queryExpression) }
    public func lessEqual(_ other: some QueryOperand) -> QueryFilter { compare(.le, other.queryExpression) }
    /// Equal to one of the values.
    public func isIn(_ values: [some QueryLiteral]) -> QueryFilter { compare(.in, .list(values.map { literal($0) })) }
    /// For flags: has all members of the value.
    public func has(_ value: some QueryLiteral) -> QueryFilter { compare(.has, literal(value)) }
    public func isNull() -> QueryFilter { compare(.eq, .null) }
    public func isNotNull() -> QueryFilter { compare(.ne, .null) }

    public func contains(_ text: String) -> QueryFilter { call(.contains, text) }
    public func startsWith(_ text: String) -> QueryFilter { call(.startswith, text) }
    public func endsWith(_ text: String) -> QueryFilter { call(.endswith, text) }

    public func toLower() -> QueryFunction { QueryFunction(.tolower, [queryExpression], .string) }
    public func toUpper() -> QueryFunction { QueryFunction(.toupper, [queryExpression], .string) }
    public func trim() -> QueryFunction { QueryFunction(.trim, [queryExpression], .string) }
    public func length() -> QueryFunction { QueryFunction(.length, [queryExpression], .int32) }
    public func year() -> QueryFunction { QueryFunction(.year, [queryExpression], .int32) }
    public func month() -> QueryFunction { QueryFunction(.month, [queryExpression], .int32) }
    public func day() -> QueryFunction { QueryFunction(.day, [queryExpression], .int32) }
    public func round() -> QueryFunction { QueryFunction(.round, [queryExpression], .decimal) }

    public func floor() -> QueryFunction { QueryFunction(.floor, [queryExpression], .decimal) }
    public func ceiling() -> QueryFunction { QueryFunction(.ceiling, [queryExpression], .decimal) }

    public func adding(_ other: some QueryOperand) -> QueryFunction { calculate(.add, other.queryExpression) }
    public func adding(_ value: some QueryLiteral) -> QueryFunction { calculate(.add, plain(value)) }
    public func subtracting(_ other: some QueryOperand) -> QueryFunction { calculate(.sub, other.queryExpression) }
    public func subtracting(_ value: some QueryLiteral) -> QueryFunction { calculate(.sub, plain(value)) }
    public func multiplied(by other: some QueryOperand) -> QueryFunction { calculate(.mul, other.queryExpression) }
    public func multiplied(by value: some QueryLiteral) -> QueryFunction { calculate(.mul, plain(value)) }
    /// With digits behind the point, also for whole numbers (`divby` of OData 4.01).
    public func divided(by other: some QueryOperand) -> QueryFunction { calculate(.divby, other.queryExpression) }
    public func divided(by value: some QueryLiteral) -> QueryFunction { calculate(.divby, plain(value)) }

    private func calculate(_ operation: ArithmeticOperator, _ right: Expression) -> QueryFunction {
        QueryFunction(.arithmetic(operation, queryExpression, right), nil)
    }

    private func plain(_ value: some QueryLiteral) -> Expression { .literal(value.queryValue, nil) }

    private func compare(_ comparison: ComparisonOperator, _ right: Expression) -> QueryFilter {
        QueryFilter(expression: .comparison(comparison, queryExpression, right))
    }

    private func call(_ function: CanonicalFunction, _ text: String) -> QueryFilter {
        QueryFilter(expression: .call(function, [queryExpression, .literal(.string(text), .string)]))
    }

    private func literal(_ value: some QueryLiteral) -> Expression {
        guard let type = queryType else { return .literal(value.queryValue, nil) }
        let adapted = value.queryValue.adapted(to: type)
        if case .enumeration(let members) = adapted { return .enumeration(type: type.name, value: members) }
        return .literal(adapted, type.primitive)
    }
}
