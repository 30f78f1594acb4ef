import EDM
import ODataQuery

/// Building blocks for the functions of typed and dynamic operands.
extension QueryOperand {
    func compare(_ comparison: ComparisonOperator, _ right: Expression) -> QueryFilter {
        QueryFilter(expression: .comparison(comparison, syntax, right))
    }

    func condition(_ function: CanonicalFunction, _ arguments: Expression...) -> QueryFilter {
        QueryFilter(expression: .call(function, [syntax] + arguments))
    }

    /// Returns a literal for a comparison, converted to the operand's type in the metadata.
    func literal(_ value: some QueryLiteral) -> Expression {
        guard let type = queryType else { return plain(value) }
        let adapted = value.queryValue(comparedTo: type).adapted(to: type)
        if case .enumeration(let members) = adapted { return .enumeration(type: type.name, value: members) }
        return .literal(adapted, type.primitive)
    }

    /// Returns a literal for a calculation, with the type of its own value.
    func plain(_ value: some QueryLiteral) -> Expression { .literal(value.queryValue, nil) }

    func arithmetic(_ operation: ArithmeticOperator, _ right: Expression) -> Expression {
        .arithmetic(operation, syntax, right)
    }
}

extension Expression {
    static func text(_ text: String) -> Expression { .literal(.string(text), .string) }

    static func number(_ number: Int) -> Expression { .literal(.integer(Int64(number)), .int32) }
}
