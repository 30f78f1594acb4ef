public import EDM

/// Addition and subtraction: two numbers of the same type, two durations, or a date or point in time and a duration.
extension TypedOperand where Value: SummableLiteral, Value: Sendable {
    /// Returns the sum of the operand and the value.
    public func adding(_ value: Value.Summand) -> TypedFunction<Value> { TypedFunction(arithmetic(.add, plain(value))) }
    /// Returns the sum of both operands.
    public func adding(_ other: some TypedOperand<Value.Summand>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.add, other.syntax))
    }
    /// Returns the operand minus the value.
    public func subtracting(_ value: Value.Summand) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.sub, plain(value)))
    }
    /// Returns the operand minus the other one.
    public func subtracting(_ other: some TypedOperand<Value.Summand>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.sub, other.syntax))
    }

    /// Returns the sum of the operand and the value.
    public static func + (a: Self, b: Value.Summand) -> TypedFunction<Value> { a.adding(b) }
    /// Returns the sum of both operands.
    public static func + <Other: TypedOperand<Value.Summand>>(a: Self, b: Other) -> TypedFunction<Value> {
        a.adding(b)
    }
    /// Returns the operand minus the value.
    public static func - (a: Self, b: Value.Summand) -> TypedFunction<Value> { a.subtracting(b) }
    /// Returns the operand minus the other one.
    public static func - <Other: TypedOperand<Value.Summand>>(a: Self, b: Other) -> TypedFunction<Value> {
        a.subtracting(b)
    }
}

/// Arithmetic that only numbers support.
extension TypedOperand where Value: NumberLiteral {
    /// Returns the product of the operand and the value.
    public func multiplied(by value: Value) -> TypedFunction<Value> { TypedFunction(arithmetic(.mul, plain(value))) }
    /// Returns the product of both operands.
    public func multiplied(by other: some TypedOperand<Value>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.mul, other.syntax))
    }
    /// Returns the quotient with fractional digits, even for integers (`divby` of OData 4.01).
    public func divided(by value: Value) -> TypedFunction<Value> { TypedFunction(arithmetic(.divby, plain(value))) }
    /// Returns the quotient with fractional digits, even for integers (`divby` of OData 4.01).
    public func divided(by other: some TypedOperand<Value>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.divby, other.syntax))
    }
    /// Returns the quotient, truncated for two integers as in Swift (`div`). Equivalent to `/`.
    public func quotient(dividingBy value: Value) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.div, plain(value)))
    }
    /// Returns the quotient, truncated for two integers as in Swift (`div`).
    public func quotient(dividingBy other: some TypedOperand<Value>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.div, other.syntax))
    }
    /// Returns the remainder of a division, with the sign of this operand (`mod`).
    public func remainder(dividingBy value: Value) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.mod, plain(value)))
    }
    /// Returns the remainder of a division, with the sign of this operand (`mod`).
    public func remainder(dividingBy other: some TypedOperand<Value>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.mod, other.syntax))
    }

    /// Returns the nearest integer; halves are rounded away from zero.
    public func round() -> TypedFunction<Value> { TypedFunction(.call(.round, [syntax]), queryType) }
    /// Returns the largest integral number that is not greater.
    public func floor() -> TypedFunction<Value> { TypedFunction(.call(.floor, [syntax]), queryType) }
    /// Returns the smallest integral number that is not less.
    public func ceiling() -> TypedFunction<Value> { TypedFunction(.call(.ceiling, [syntax]), queryType) }

    /// Returns the operand with another numeric Swift type, so that it can be combined with operands of that type:
    /// `Order.quantity.promoted(to: DecimalValue.self) * Order.price`.
    ///
    /// The query is unchanged, because OData promotes numbers itself.
    public func promoted<Number: NumberLiteral>(to type: Number.Type) -> TypedFunction<Number> {
        TypedFunction(syntax)
    }

    /// Returns the product of the operand and the value.
    public static func * (a: Self, b: Value) -> TypedFunction<Value> { a.multiplied(by: b) }
    /// Returns the product of both operands.
    public static func * <Other: TypedOperand<Value>>(a: Self, b: Other) -> TypedFunction<Value> { a.multiplied(by: b) }
    /// Returns the quotient, truncated for two integers as in Swift (`div`).
    public static func / (a: Self, b: Value) -> TypedFunction<Value> {
        a.quotient(dividingBy: b)
    }
    /// Returns the quotient, truncated for two integers as in Swift (`div`).
    public static func / <Other: TypedOperand<Value>>(a: Self, b: Other) -> TypedFunction<Value> {
        a.quotient(dividingBy: b)
    }
    /// Returns the remainder of a division, with the sign of `a` (`mod`).
    public static func % (a: Self, b: Value) -> TypedFunction<Value> { a.remainder(dividingBy: b) }
    /// Returns the remainder of a division, with the sign of `a` (`mod`).
    public static func % <Other: TypedOperand<Value>>(a: Self, b: Other) -> TypedFunction<Value> {
        a.remainder(dividingBy: b)
    }
    /// Returns the operand with the opposite sign.
    public static prefix func - (a: Self) -> TypedFunction<Value> {
        TypedFunction(.negation(a.syntax), a.queryType)
    }
}

extension TypedOperand where Value == Int {
    /// Returns the quotient with fractional digits (`divby` of OData 4.01).
    public func divided(by value: Int) -> TypedFunction<DecimalValue> {
        TypedFunction(arithmetic(.divby, plain(value)))
    }
    /// Returns the quotient with fractional digits (`divby` of OData 4.01).
    public func divided(by other: some TypedOperand<Int>) -> TypedFunction<DecimalValue> {
        TypedFunction(arithmetic(.divby, other.syntax))
    }
}

/// Arithmetic of integers with another numeric type, whose result has the other type: `Order.price * Order.quantity`.
///
/// For all other combinations use `promoted(to:)`.
extension TypedOperand where Value: NumberLiteral {
    /// Returns the sum, with the type of `a`.
    @_disfavoredOverload
    public static func + <Other: TypedOperand<Int>>(a: Self, b: Other) -> TypedFunction<Value> {
        a + b.promoted(to: Value.self)
    }
    /// Returns the difference, with the type of `a`.
    @_disfavoredOverload
    public static func - <Other: TypedOperand<Int>>(a: Self, b: Other) -> TypedFunction<Value> {
        a - b.promoted(to: Value.self)
    }
    /// Returns the product, with the type of `a`.
    @_disfavoredOverload
    public static func * <Other: TypedOperand<Int>>(a: Self, b: Other) -> TypedFunction<Value> {
        a * b.promoted(to: Value.self)
    }
    /// Returns the quotient, with the type of `a`.
    @_disfavoredOverload
    public static func / <Other: TypedOperand<Int>>(a: Self, b: Other) -> TypedFunction<Value> {
        a / b.promoted(to: Value.self)
    }
}

extension TypedOperand where Value == Int {
    /// Returns the sum, with the type of `b`.
    @_disfavoredOverload
    public static func + <Other: TypedOperand>(a: Self, b: Other) -> TypedFunction<Other.Value>
    where Other.Value: NumberLiteral {
        a.promoted(to: Other.Value.self) + b
    }
    /// Returns the difference, with the type of `b`.
    @_disfavoredOverload
    public static func - <Other: TypedOperand>(a: Self, b: Other) -> TypedFunction<Other.Value>
    where Other.Value: NumberLiteral {
        a.promoted(to: Other.Value.self) - b
    }
    /// Returns the product, with the type of `b`.
    @_disfavoredOverload
    public static func * <Other: TypedOperand>(a: Self, b: Other) -> TypedFunction<Other.Value>
    where Other.Value: NumberLiteral {
        a.promoted(to: Other.Value.self) * b
    }
    /// Returns the quotient, with the type of `b`.
    @_disfavoredOverload
    public static func / <Other: TypedOperand>(a: Self, b: Other) -> TypedFunction<Other.Value>
    where Other.Value: NumberLiteral {
        a.promoted(to: Other.Value.self) / b
    }
}
