/// Comparison operators of typed operands, equivalent to the methods.
extension TypedOperand {
    /// Returns a condition that is true if the operand is null: `Order.note == nil`.
    public static func == (a: Self, b: _OptionalNilComparisonType) -> QueryFilter { a.isNull() }
    public static func != (a: Self, b: _OptionalNilComparisonType) -> QueryFilter { a.isNotNull() }
}

extension TypedOperand where Value: QueryLiteral {
    public static func == (a: Self, b: Value) -> QueryFilter { a.equal(b) }
    public static func != (a: Self, b: Value) -> QueryFilter { a.notEqual(b) }

    public static func == <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: QueryLiteral, Other.Value.Comparand == Value.Comparand {
        a.equal(b)
    }
    public static func != <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: QueryLiteral, Other.Value.Comparand == Value.Comparand {
        a.notEqual(b)
    }
}

extension TypedOperand where Value: OrderedLiteral {
    public static func > (a: Self, b: Value) -> QueryFilter { a.greaterThan(b) }
    public static func >= (a: Self, b: Value) -> QueryFilter { a.greaterEqual(b) }
    public static func < (a: Self, b: Value) -> QueryFilter { a.lessThan(b) }
    public static func <= (a: Self, b: Value) -> QueryFilter { a.lessEqual(b) }

    public static func > <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        a.greaterThan(b)
    }
    public static func >= <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        a.greaterEqual(b)
    }
    public static func < <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        a.lessThan(b)
    }
    public static func <= <Other: TypedOperand>(a: Self, b: Other) -> QueryFilter
    where Other.Value: OrderedLiteral, Other.Value.Comparand == Value.Comparand {
        a.lessEqual(b)
    }
}
