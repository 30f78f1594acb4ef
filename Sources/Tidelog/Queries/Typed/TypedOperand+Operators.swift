/// Comparison operators of typed operands, equivalent to the methods.
extension TypedOperand {
    /// Returns a condition that is true if the operand is null: `Order.note == nil`.
    public static func == (a: Self, b: _OptionalNilComparisonType) -> QueryFilter { a.isNull() }
    /// Returns a condition that is true if the operand is not null: `Order.note != nil`.
    public static func != (a: Self, b: _OptionalNilComparisonType) -> QueryFilter { a.isNotNull() }
}

extension TypedOperand where Value: QueryLiteral {
    /// Returns a condition that is true if the operand is equal to the value.
    public static func == (a: Self, b: Value) -> QueryFilter { a.equal(b) }
    /// Returns a condition that is true if the operand differs from the value. Also true for null.
    public static func != (a: Self, b: Value) -> QueryFilter { a.notEqual(b) }

    /// Returns a condition that is true if the operands are equal.
    public static func == <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: QueryLiteral, Other.Value.Comparand == Value.Comparand {
        a.equal(b)
    }
    /// Returns a condition that is true if the operands are not equal.
    public static func != <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: QueryLiteral, Other.Value.Comparand == Value.Comparand {
        a.notEqual(b)
    }
}

extension TypedOperand where Value: OrderedLiteral {
    /// Returns a condition that is true if the operand is greater than the value.
    public static func > (a: Self, b: Value) -> QueryFilter { a.greaterThan(b) }
    /// Returns a condition that is true if the operand is greater than or equal to the value.
    public static func >= (a: Self, b: Value) -> QueryFilter { a.greaterEqual(b) }
    /// Returns a condition that is true if the operand is less than the value.
    public static func < (a: Self, b: Value) -> QueryFilter { a.lessThan(b) }
    /// Returns a condition that is true if the operand is less than or equal to the value.
    public static func <= (a: Self, b: Value) -> QueryFilter { a.lessEqual(b) }

    /// Returns a condition that is true if `a` is greater than `b`.
    public static func > <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        a.greaterThan(b)
    }
    /// Returns a condition that is true if `a` is greater than or equal to `b`.
    public static func >= <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        a.greaterEqual(b)
    }
    /// Returns a condition that is true if `a` is less than `b`.
    public static func < <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        a.lessThan(b)
    }
    /// Returns a condition that is true if `a` is less than or equal to `b`.
    public static func <= <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        a.lessEqual(b)
    }
}
