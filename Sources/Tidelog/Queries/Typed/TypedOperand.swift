public import EDM
import ODataQuery

/// An operand with a static Swift type: a property of a generated class, a path to one, or a function of these. The
/// compiler accepts only conditions that the type supports.
///
/// Every condition can be written with methods or, if Swift has one, with an operator: `Order.total.greaterThan(10)`
/// is `Order.total > 10`. It results in the same syntax tree as the text of a URL. ``DynamicOperand`` is the
/// equivalent for properties that are known only at run time.
public protocol TypedOperand<Value>: QueryOperand {
    /// The Swift type of the non-null values.
    associatedtype Value
}

/// The result of a function of typed operands: `Customer.name.length()`, `Order.price * Order.quantity`.
public struct TypedFunction<Value: Sendable>: TypedOperand {
    /// The call of the function as an expression of the query.
    public let queryExpression: QueryExpression
    /// The type of the result, or `nil` if the compared literal determines it.
    public let queryType: TypeReference?

    init(_ expression: Expression, _ type: TypeReference? = nil) {
        queryExpression = QueryExpression(expression)
        queryType = type
    }

    init(_ function: CanonicalFunction, _ arguments: [Expression], _ type: PrimitiveType) {
        self.init(.call(function, arguments), TypeReference(.primitive(type)))
    }
}

extension TypedFunction where Value: QueryLiteral {
    /// Creates a literal for the left side of an operator: `TypedFunction(100) - Order.discount`.
    public init(_ value: Value) { self.init(.literal(value.queryValue, nil)) }
}

/// Comparison with null, and equality.
extension TypedOperand {
    /// Returns a condition that is true if the operand is null.
    public func isNull() -> QueryFilter { compare(.eq, .null) }
    /// Returns a condition that is true if the operand is not null.
    public func isNotNull() -> QueryFilter { compare(.ne, .null) }
}

/// Dynamic properties of open types.
extension QueryPathOperand {
    /// Returns a condition that is true if the entity has the property at all, even with the value null.
    ///
    /// An entity of an open type need not have a property: `QueryPath.named("Color").isDefined()`.
    public func isDefined() -> QueryFilter { QueryFilter(expression: .call(.isdefined, [syntax])) }
}

extension TypedOperand where Value: QueryLiteral {
    /// Returns a condition that is true if the operand is equal to the value.
    public func equal(_ value: Value) -> QueryFilter { compare(.eq, literal(value)) }
    /// Returns a condition that is true if the operand differs from the value. Also true for null.
    public func notEqual(_ value: Value) -> QueryFilter { compare(.ne, literal(value)) }

    /// Returns a condition that is true if the operands are equal.
    public func equal<Other: TypedOperand>(_ other: Other) -> QueryFilter
    where Other.Value: QueryLiteral, Other.Value.Comparand == Value.Comparand {
        compare(.eq, other.syntax)
    }
    /// Returns a condition that is true if the operands are not equal.
    public func notEqual<Other: TypedOperand>(_ other: Other) -> QueryFilter
    where Other.Value: QueryLiteral, Other.Value.Comparand == Value.Comparand {
        compare(.ne, other.syntax)
    }

    /// Returns a condition that is true if the operand is equal to one of the values. False if `values` is empty.
    public func isIn(_ values: [Value]) -> QueryFilter { compare(.in, .list(values.map { literal($0) })) }
}

/// Conditions on flags.
extension TypedOperand where Value: QueryLiteral & OptionSet {
    /// Returns a condition that is true if the operand has all flags of the value.
    public func has(_ value: Value) -> QueryFilter { compare(.has, literal(value)) }
}

/// Order. Null is neither less nor greater than any value.
extension TypedOperand where Value: OrderedLiteral {
    /// Returns a condition that is true if the operand is greater than the value.
    public func greaterThan(_ value: Value) -> QueryFilter { compare(.gt, literal(value)) }
    /// Returns a condition that is true if the operand is greater than or equal to the value.
    public func greaterEqual(_ value: Value) -> QueryFilter { compare(.ge, literal(value)) }
    /// Returns a condition that is true if the operand is less than the value.
    public func lessThan(_ value: Value) -> QueryFilter { compare(.lt, literal(value)) }
    /// Returns a condition that is true if the operand is less than or equal to the value.
    public func lessEqual(_ value: Value) -> QueryFilter { compare(.le, literal(value)) }

    /// Returns a condition that is true if the operand is greater than the other one.
    public func greaterThan<Other: TypedOperand>(_ other: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        compare(.gt, other.syntax)
    }
    /// Returns a condition that is true if the operand is greater than or equal to the other one.
    public func greaterEqual<Other: TypedOperand>(_ other: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        compare(.ge, other.syntax)
    }
    /// Returns a condition that is true if the operand is less than the other one.
    public func lessThan<Other: TypedOperand>(_ other: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        compare(.lt, other.syntax)
    }
    /// Returns a condition that is true if the operand is less than or equal to the other one.
    public func lessEqual<Other: TypedOperand>(_ other: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        compare(.le, other.syntax)
    }
}
