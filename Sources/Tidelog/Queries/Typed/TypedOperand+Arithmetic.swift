public import EDM

/// Addition and subtraction: two numbers of the same type, two durations, or a date or point in time and a duration.
extension TypedOperand where Value: SummableLiteral, Value: Sendable {
    public func adding(_ value: Value.Summand) -> TypedFunction<Value> { TypedFunction(arithmetic(.add, plain(value))) }
    public func adding(_ other: some TypedOperand<Value.Summand>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.add, other.syntax))
    }
    public func subtracting(_ value: Value.Summand) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.sub, plain(value)))
    }
    public func subtracting(_ other: some TypedOperand<Value.Summand>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.sub, other.syntax))
    }

    public static func + (a: Self, b: Value.Summand) -> TypedFunction<Value> { a.adding(b) }
    public static func + <Other: TypedOperand<Value.Summand>>(a: Self, b: Other) -> TypedFunction<Value> {
        a.adding(b)
    }
    public static func - (a: Self, b: Value.Summand) -> TypedFunction<Value> { a.subtracting(b) }
    public static func - <Other: TypedOperand<Value.Summand>>(a: Self, b: Other) -> TypedFunction<Value> {
        a.subtracting(b)
    }
}

/// Arithmetic that only numbers support.
extension TypedOperand where Value: NumberLiteral {
    public func multiplied(by value: Value) -> TypedFunction<Value> { TypedFunction(arithmetic(.mul, plain(value))) }
    public func multiplied(by other: some TypedOperand<Value>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.mul, other.syntax))
    }
    /// Returns the quotient with fractional digits, even for integers (`divby` of OData 4.01).
    public func divided(by value: Value) -> TypedFunction<Value> { TypedFunction(arithmetic(.divby, plain(value))) }
    public func divided(by other: some TypedOperand<Value>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.divby, other.syntax))
    }
    /// Returns the quotient, truncated for two integers as in Swift (`div`). Equivalent to `/`.
    public func quotient(dividingBy value: Value) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.div, plain(value)))
    }
    public func quotient(dividingBy other: some TypedOperand<Value>) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.div, other.syntax))
    }
    /// Returns the remainder of a division, with the sign of this operand (`mod`).
    public func remainder(dividingBy value: Value) -> TypedFunction<Value> {
        TypedFunction(arithmetic(.mod, plain(value)))
    }
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

    public static func * (a: Self, b: Value) -> TypedFunction<Value> { a.multiplied(by: b) }
    public static func * <Other: TypedOperand<Value>>(a: Self, b: Other) -> TypedFunction<Value> { a.multiplied(by: b) }
    public static func / (a: Self, b: Value) -> TypedFunction<Value> {
        a.quotient(dividingBy: b)
    }
    public static func / <Other: TypedOperand<Value>>(a: Self, b: Other) -> TypedFunction<Value> {
        a.quotient(dividingBy: b)
    }
    public static func % (a: Self, b: Value) -> TypedFunction<Value> { a.remainder(dividingBy: b) }
    public static func % <Other: TypedOperand<Value>>(a: Self, b: Other) -> TypedFunction<Value> {
        a.remainder(dividingBy: b)
    }
    public static prefix func - (a: Self) -> TypedFunction<Value> {
        TypedFunction(.negation(a.syntax), a.queryType)
    }
}

extension TypedOperand where Value == Int {
    public func divided(by value: Int) -> TypedFunction<DecimalValue> {
        TypedFunction(arithmetic(.divby, plain(value)))
    }
    public func divided(by other: some TypedOperand<Int>) -> TypedFunction<DecimalValue> {
        TypedFunction(arithmetic(.divby, other.syntax))
    }
}

/// Arithmetic of integers with another numeric type, whose result has the other type: `Order.price * Order.quantity`.
///
/// For all other combinations use `promoted(to:)`.
extension TypedOperand where Value: NumberLiteral {
    @_disfavoredOverload
    public static func + <Other: TypedOperand<Int>>(a: Self, b: Other) -> TypedFunction<Value> {
        a + b.promoted(to: Value.self)
    }
    @_disfavoredOverload
    public static func - <Other: TypedOperand<Int>>(a: Self, b: Other) -> TypedFunction<Value> {
        a - b.promoted(to: Value.self)
    }
    @_disfavoredOverload
    public static func * <Other: TypedOperand<Int>>(a: Self, b: Other) -> TypedFunction<Value> {
        a * b.promoted(to: Value.self)
    }
    @_disfavoredOverload
    public static func / <Other: TypedOperand<Int>>(a: Self, b: Other) -> TypedFunction<Value> {
        a / b.promoted(to: Value.self)
    }
}

extension TypedOperand where Value == Int {
    @_disfavoredOverload
    public static func + <Other: TypedOperand>(a: Self, b: Other) -> TypedFunction<Other.Value>
    where Other.Value: NumberLiteral {
        a.promoted(to: Other.Value.self) + b
    }
    @_disfavoredOverload
    public static func - <Other: TypedOperand>(a: Self, b: Other) -> TypedFunction<Other.Value>
    where Other.Value: NumberLiteral {
        a.promoted(to: Other.Value.self) - b
    }
    @_disfavoredOverload
    public static func * <Other: TypedOperand>(a: Self, b: Other) -> TypedFunction<Other.Value>
    where Other.Value: NumberLiteral {
        a.promoted(to: Other.Value.self) * b
    }
    @_disfavoredOverload
    public static func / <Other: TypedOperand>(a: Self, b: Other) -> TypedFunction<Other.Value>
    where Other.Value: NumberLiteral {
        a.promoted(to: Other.Value.self) / b
    }
}
