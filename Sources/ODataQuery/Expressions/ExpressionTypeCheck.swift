package import EDM

extension Expression {
    /// Checks names and operands against a type and returns the type of the expression.
    ///
    /// - Throws: An error for an unknown property, a function with an argument of the wrong type, or operands that
    ///   cannot be compared. The error names them.
    package func typeCheck(
        against type: StructuredType, model: EntityDataModel, version: ODataVersion
    ) throws(URLSyntaxError) -> ExpressionType {
        var check = ExpressionTypeCheck(type: .structured(type), model: model, version: version)
        return try check.type(of: self)
    }
}

struct ExpressionTypeCheck {
    /// The type of `$it`.
    let root: ExpressionType
    /// The type at which relative paths start.
    var current: ExpressionType
    /// The item type of `$these`.
    var these: ExpressionType
    let model: EntityDataModel
    let version: ODataVersion
    var variables: [String: ExpressionType] = [:]
    /// The names that `$compute` adds.
    var computed: Set<String> = []

    init(type: ExpressionType, model: EntityDataModel, version: ODataVersion) {
        root = type
        current = type
        these = type
        self.model = model
        self.version = version
    }

    func error(_ code: URLSyntaxError.Code, _ message: String, _ expression: Expression) -> URLSyntaxError {
        URLSyntaxError(code, message, in: (try? expression.print(version: version)) ?? "")
    }

    mutating func type(of expression: Expression) throws(URLSyntaxError) -> ExpressionType {
        switch expression {
        case .literal(let value, let type): return literalType(value, type)
        case .enumeration(let type, _): return .enumeration(model.resolveAlias(type))
        case .path(let path): return try self.type(of: path, expression)
        case .comparison(let comparison, let left, let right): return try compare(comparison, left, right, expression)
        case .and(let operands), .or(let operands):
            for operand in operands { try expectBoolean(operand) }
            return .primitive(.boolean)
        case .not(let operand):
            try expectBoolean(operand)
            return .primitive(.boolean)
        case .arithmetic(let operation, let left, let right): return try calculate(operation, left, right, expression)
        case .negation(let operand):
            let type = try self.type(of: operand)
            guard [.number, .time, .any].contains(type.family) else {
                throw error(.wrongArgumentType, "A value of type \(type.name) cannot be negated.", expression)
            }
            return type
        case .call(let function, let arguments): return try call(function, arguments, expression)
        case .isof(let operand, let name):
            if let operand { _ = try type(of: operand) }
            _ = try namedType(name, expression)
            return .primitive(.boolean)
        case .cast(let operand, let name):
            if let operand { _ = try type(of: operand) }
            return try namedType(name, expression)
        case .list(let items):
            var common = ExpressionType.unknown
            for item in items {
                let type = try self.type(of: item)
                if common == .unknown { common = type } else if common.family != type.family { common = .null }
            }
            return .collection(common == .null ? .unknown : common)
        case .object(let members):
            for member in members { _ = try type(of: member.value) }
            return .unknown
        case .choice(let choices):
            var result = ExpressionType.unknown
            var isMixed = false
            for choice in choices {
                try expectBoolean(choice.condition)
                let type = try type(of: choice.value)
                if result.family == .any {
                    result = type
                } else if type.family != .any, result != type {
                    isMixed = true
                }
            }
            return isMixed ? .unknown : result
        }
    }

    private func literalType(_ value: Value, _ type: PrimitiveType?) -> ExpressionType {
        if let type { return .primitive(type) }
        switch value {
        case .null: return .null
        case .boolean: return .primitive(.boolean)
        case .integer: return .primitive(.int64)
        case .single: return .primitive(.single)
        case .double: return .primitive(.double)
        case .decimal: return .primitive(.decimal)
        case .string: return .primitive(.string)
        case .binary: return .primitive(.binary)
        case .guid: return .primitive(.guid)
        case .date: return .primitive(.date)
        case .timeOfDay: return .primitive(.timeOfDay)
        case .duration: return .primitive(.duration)
        case .dateTime: return .primitive(.dateTime)
        case .dateTimeOffset: return .primitive(.dateTimeOffset)
        default: return .unknown
        }
    }

    mutating func expectOrder(_ item: OrderItem) throws(URLSyntaxError) {
        let type = try type(of: item.expression)
        switch type {
        case .structured, .collection:
            throw error(.wrongArgumentType, "Values of type \(type.name) have no order.", item.expression)
        default: break
        }
    }

    mutating func expectBoolean(_ expression: Expression) throws(URLSyntaxError) {
        let type = try type(of: expression)
        guard type.family == .boolean || type.family == .any else {
            throw error(.wrongArgumentType, "Expected a condition, not a value of type \(type.name).", expression)
        }
    }

    private mutating func compare(
        _ comparison: ComparisonOperator, _ left: Expression, _ right: Expression, _ whole: Expression
    ) throws(URLSyntaxError) -> ExpressionType {
        let (a, b) = (try type(of: left), try type(of: right))
        var other = b
        if comparison == .in, case .collection(let item) = b { other = item }
        var fits = a.isComparable(with: other) || isDuration(a, right) || isDuration(b, left)
        switch comparison {
        case .eq, .ne:
            // No version compares collections of entities; only 4.01 compares collections of values.
            for case .collection(let item) in [a, b] {
                if case .structured(let type) = item, type.kind == .entity { fits = false }
                if version.isLegacy { fits = false }
            }
        case .in: break
        case .has: fits = fits && (a.family == .string || a.family == .any)
        case .gt, .ge, .lt, .le:
            let ordered: Set<ExpressionType.Family> = [
                .any, .number, .string, .boolean, .guid, .binary, .moment, .time,
            ]
            fits = fits && ordered.contains(a.family) && ordered.contains(b.family)
        }
        guard fits else {
            throw error(
                .wrongArgumentType, "\(comparison.rawValue) cannot compare \(a.name) with \(b.name).", whole)
        }
        return .primitive(.boolean)
    }

    /// Returns whether a string operand is a duration, which 4.01 permits next to a duration value.
    private func isDuration(_ type: ExpressionType, _ operand: Expression) -> Bool {
        guard version == .v401, type == .primitive(.duration), case .literal(.string(let text), _) = operand else {
            return false
        }
        return DayTimeDuration(text) != nil
    }

    private mutating func calculate(
        _ operation: ArithmeticOperator, _ left: Expression, _ right: Expression, _ whole: Expression
    ) throws(URLSyntaxError) -> ExpressionType {
        let (a, b) = (try type(of: left), try type(of: right))
        switch (a.family, b.family) {
        case (.any, .any): return .unknown
        case (.number, .number), (.number, .any), (.any, .number):
            return numericResult(a, b)
        case (.moment, .time), (.moment, .any), (.time, .moment): return a.family == .moment ? a : b
        case (.moment, .moment) where operation == .sub, (.time, .time), (.time, .any), (.any, .time), (.time, .number),
            (.number, .time):
            return .primitive(.duration)
        case (.any, .moment): return b
        default:
            throw error(
                .wrongArgumentType, "\(operation.rawValue) cannot be applied to \(a.name) and \(b.name).", whole)
        }
    }

    /// Returns the result type by binary numeric promotion (OData 4.01 Part 2, section 5.1.1.11).
    private func numericResult(_ a: ExpressionType, _ b: ExpressionType) -> ExpressionType {
        let ranks: [PrimitiveType] = [.sbyte, .byte, .int16, .int32, .int64, .decimal, .single, .double]
        func rank(_ type: ExpressionType) -> Int {
            if case .primitive(let primitive) = type { ranks.firstIndex(of: primitive) ?? 0 } else { 0 }
        }
        if a.family == .any { return b }
        if b.family == .any { return a }
        let types = [a, b]
        if types.contains(.primitive(.byte)), types.contains(.primitive(.sbyte)) { return .primitive(.int16) }
        return rank(a) >= rank(b) ? a : b
    }

    private mutating func call(
        _ function: CanonicalFunction, _ arguments: [Expression], _ whole: Expression
    ) throws(URLSyntaxError) -> ExpressionType {
        // The function tests whether the name exists.
        if function == .isdefined { return .primitive(.boolean) }
        var types: [ExpressionType] = []
        for (index, argument) in arguments.enumerated() {
            let type = try self.type(of: argument)
            let families = function.families(at: index)
            guard type.family == .any || families.isEmpty || families.contains(type.family) else {
                throw error(
                    .wrongArgumentType, "Argument \(index + 1) of \(function.rawValue) cannot be of type \(type.name).",
                    whole)
            }
            types.append(type)
        }
        return function.resultType(types)
    }

    func namedType(_ name: String, _ whole: Expression) throws(URLSyntaxError) -> ExpressionType {
        if name.hasPrefix("Collection("), name.hasSuffix(")") {
            return .collection(try namedType(String(name.dropFirst("Collection(".count).dropLast()), whole))
        }
        if name.hasPrefix("Edm.") {
            guard let type = PrimitiveType(rawValue: name) else {
                throw error(.unknownType, "\(name) is not a type.", whole)
            }
            return .primitive(type)
        }
        guard let type = model.findType(name, isLocalAllowed: version == .v401) else {
            throw error(.unknownType, "\(name) is not a type of the model.", whole)
        }
        return type
    }
}

extension EntityDataModel {
    /// Returns the type with the name, which is qualified with a namespace or alias, or unqualified if
    /// `isLocalAllowed`.
    func findType(_ name: String, isLocalAllowed: Bool) -> ExpressionType? {
        let full = resolveAlias(name)
        if let type = findEntityType(full) ?? findComplexType(full) { return .structured(type) }
        if enumerationType(named: full) != nil { return .enumeration(full) }
        guard isLocalAllowed, !name.utf8.contains(UInt8(ascii: ".")) else { return nil }
        for schema in schemas {
            if let type = findType("\(schema.namespace).\(name)", isLocalAllowed: false) { return type }
        }
        return nil
    }
}

extension CanonicalFunction {
    /// Returns the type families that are permitted for an argument. Empty for all families.
    func families(at index: Int) -> Set<ExpressionType.Family> {
        switch self {
        case .contains, .endswith, .startswith, .indexof: [.string, .collection]
        case .length: [.string, .collection]
        case .substring: index == 0 ? [.string, .collection] : [.number]
        case .matchesPattern, .replace, .tolower, .toupper, .trim: [.string]
        // V2 services convert operands that are not strings.
        case .concat: []
        case .hassubset, .hassubsequence: [.collection]
        case .round, .floor, .ceiling: [.number]
        case .totalseconds: [.time]
        case .year, .month, .day, .date, .totaloffsetminutes, .years, .months, .days: [.moment]
        case .hour, .minute, .second, .fractionalseconds, .time, .hours, .minutes, .seconds: [.moment, .time]
        case .geoDistance, .geoIntersects, .geoLength: [.geo]
        case .now, .maxdatetime, .mindatetime, .isLocal, .hasPendingChanges, .isInErrorState, .entityExists,
            .upsertedLastDownload, .hasLocalRelatives, .hasRelativesWithPendingChanges, .isdefined:
            []
        }
    }

    func resultType(_ arguments: [ExpressionType]) -> ExpressionType {
        switch self {
        case .contains, .endswith, .startswith, .matchesPattern, .hassubset, .hassubsequence, .geoIntersects, .isLocal,
            .hasPendingChanges, .isInErrorState, .entityExists, .upsertedLastDownload, .hasLocalRelatives,
            .hasRelativesWithPendingChanges, .isdefined:
            .primitive(.boolean)
        case .concat, .substring:
            if case .collection? = arguments.first { arguments[0] } else { .primitive(.string) }
        case .replace, .tolower, .toupper, .trim: .primitive(.string)
        case .indexof, .length, .year, .month, .day, .hour, .minute, .second, .totaloffsetminutes, .years, .months,
            .days,
            .hours, .minutes, .seconds:
            .primitive(.int32)
        case .fractionalseconds, .totalseconds: .primitive(.decimal)
        case .date: .primitive(.date)
        case .time: .primitive(.timeOfDay)
        case .now, .maxdatetime, .mindatetime: .primitive(.dateTimeOffset)
        case .round, .floor, .ceiling:
            if arguments.first == .primitive(.decimal) || arguments.first?.family == .any {
                arguments[0]
            } else {
                .primitive(.double)
            }
        case .geoDistance, .geoLength: .primitive(.double)
        }
    }
}
