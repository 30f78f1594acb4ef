import EDM
import ODataWire

/// What the functions of operands, typed or not, are made of.
extension QueryOperand {
    func compare(_ comparison: ComparisonOperator, _ right: Expression) -> QueryFilter {
        QueryFilter(expression: .comparison(comparison, queryExpression, right))
    }

    func condition(_ function: CanonicalFunction, _ arguments: Expression...) -> QueryFilter {
        QueryFilter(expression: .call(function, [queryExpression] + arguments))
    }

    /// A literal to compare with, of the type that the metadata give the operand.
    func literal(_ value: some QueryLiteral) -> Expression {
        guard let type = queryType else { return plain(value) }
        let adapted = value.queryValue.adapted(to: type)
        if case .enumeration(let members) = adapted { return .enumeration(type: type.name, value: members) }
        return .literal(adapted, type.primitive)
    }

    /// A literal to calculate with, whose type says itself.
    func plain(_ value: some QueryLiteral) -> Expression { .literal(value.queryValue, nil) }

    func arithmetic(_ operation: ArithmeticOperator, _ right: Expression) -> Expression {
        .arithmetic(operation, queryExpression, right)
    }
}

extension Expression {
    static func text(_ text: String) -> Expression { .literal(.string(text), .string) }

    static func number(_ number: Int) -> Expression { .literal(.integer(Int64(number)), .int32) }
}
