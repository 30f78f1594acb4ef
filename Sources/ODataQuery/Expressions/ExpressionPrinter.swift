package import EDM

extension Expression {
    /// Returns the expression as text for a URL of the version, without percent-encoding and with minimal parentheses.
    ///
    /// Unsupported constructs are rewritten if possible: in V2 `contains` becomes `substringof`, `in` a chain of `eq`,
    /// and `divby` a `div`; in V4 a `concat` of many operands is nested, and a V2 point in time gets the offset `Z`.
    ///
    /// - Throws: `notExpressible` for other constructs that the version does not support (`any` in V2, `replace` in V4,
    ///   …).
    package func print(version: ODataVersion) throws(URLSyntaxError) -> String {
        var printer = ExpressionPrinter(version: version)
        try printer.write(self, within: 0)
        return printer.text
    }
}

struct ExpressionPrinter {
    let version: ODataVersion
    var text = ""

    init(version: ODataVersion) { self.version = version }

    private enum Precedence {
        static let or = 1
        static let and = 2
        static let equality = 3
        static let relation = 4
        static let sum = 5
        static let product = 6
        static let prefix = 7
        static let membership = 8
        static let primary = 9
    }

    func notExpressible(_ what: String) -> URLSyntaxError {
        URLSyntaxError(.notExpressible, "OData \(version.rawValue) has no \(what).", in: text)
    }

    /// Writes an operand, in parentheses if it binds less tightly than its context.
    mutating func write(_ expression: Expression, within outer: Int) throws(URLSyntaxError) {
        let own = precedence(of: expression)
        if own < outer { text += "(" }
        try write(expression, own)
        if own < outer { text += ")" }
    }

    private func precedence(of expression: Expression) -> Int {
        switch expression {
        case .or: Precedence.or
        case .and: Precedence.and
        case .comparison(.eq, _, _), .comparison(.ne, _, _): Precedence.equality
        case .comparison(.has, _, _): Precedence.membership
        case .comparison(.in, _, let right): version.isLegacy ? inPrecedence(right) : Precedence.membership
        case .comparison: Precedence.relation
        case .arithmetic(.add, _, _), .arithmetic(.sub, _, _): Precedence.sum
        case .arithmetic: Precedence.product
        case .not, .negation: Precedence.prefix
        default: Precedence.primary
        }
    }

    /// Returns the precedence of `in`. In V2 `a in (1,2)` becomes `a eq 1 or a eq 2`, `a in (1)` an equality, and `a in
    /// ()` the literal false.
    private func inPrecedence(_ right: Expression) -> Int {
        guard case .list(let items) = right else { return Precedence.membership }
        return items.count > 1 ? Precedence.or : items.isEmpty ? Precedence.primary : Precedence.equality
    }

    private mutating func write(_ expression: Expression, _ own: Int) throws(URLSyntaxError) {
        switch expression {
        case .literal(let value, let type): text += try literal(value, type)
        case .enumeration(let type, let value):
            if version.isLegacy { throw notExpressible("enumeration types") }
            text += PrimitiveLiteral.format(enumeration: value, typeName: type)
        case .path(let path): try write(path)
        case .comparison(.in, let left, let right) where version.isLegacy:
            try writeAlternatives(left, right)
        case .comparison(let comparison, let left, let right):
            if version.isLegacy, comparison == .has { throw notExpressible("operator has") }
            try write(left, within: own)
            text += " \(comparison.rawValue) "
            if comparison == .in, case .list(let items) = right, Self.isInParentheses(items) {
                try writeList(items, "(", ")")
            } else {
                try write(right, within: own + 1)
            }
        case .and(let operands): try writeChain(operands, " and ", own)
        case .or(let operands): try writeChain(operands, " or ", own)
        case .not(let operand):
            text += "not "
            try write(operand, within: own)
        case .negation(let operand):
            // A minus directly before a digit would be parsed as part of the number.
            text += "-"
            if case .literal = operand { text += "(" }
            try write(operand, within: own)
            if case .literal = operand { text += ")" }
        case .arithmetic(let operation, let left, let right):
            try write(left, within: own)
            text += version.isLegacy && operation == .divby ? " div " : " \(operation.rawValue) "
            try write(right, within: own + 1)
        case .call(let function, let arguments): try write(function, arguments)
        case .isof(let operand, let type): try writeTypeFunction("isof", operand, type)
        case .cast(let operand, let type): try writeTypeFunction("cast", operand, type)
        case .list(let items):
            if version.isLegacy { throw notExpressible("collections") }
            try writeList(items, "[", "]")
        case .object(let members): try writeObject(members)
        case .choice(let choices): try writeChoices(choices)
        }
    }

    /// Returns whether the list of `in` may be in parentheses: a list of literals, which may also contain parameter
    /// aliases if it has several items.
    private static func isInParentheses(_ items: [Expression]) -> Bool {
        items.allSatisfy { $0.isLiteral || $0.isAlias && items.count > 1 }
    }

    private mutating func writeChain(
        _ operands: [Expression], _ link: String, _ own: Int
    ) throws(URLSyntaxError) {
        for (index, operand) in operands.enumerated() {
            if index > 0 { text += link }
            try write(operand, within: own + 1)
        }
    }

    private mutating func writeAlternatives(_ left: Expression, _ right: Expression) throws(URLSyntaxError) {
        guard case .list(let items) = right else { throw notExpressible("operator in for a collection") }
        if items.isEmpty { text += "false" }
        for (index, item) in items.enumerated() {
            if index > 0 { text += " or " }
            try write(.comparison(.eq, left, item), within: Precedence.equality)
        }
    }

    private mutating func writeList(
        _ items: [Expression], _ open: String, _ close: String
    ) throws(URLSyntaxError) {
        text += open
        for (index, item) in items.enumerated() {
            if index > 0 { text += "," }
            // In JSON, strings are in double quotes.
            if open == "[", case .literal(.string(let string), _) = item {
                writeJSON(string)
            } else {
                try write(item, within: 0)
            }
        }
        text += close
    }

    private mutating func writeObject(_ members: [Expression.Member]) throws(URLSyntaxError) {
        if version.isLegacy { throw notExpressible("complex literals") }
        text += "{"
        for (index, member) in members.enumerated() {
            if index > 0 { text += "," }
            writeJSON(member.name)
            text += ":"
            if case .literal(.string(let string), _) = member.value {
                writeJSON(string)
            } else {
                try write(member.value, within: 0)
            }
        }
        text += "}"
    }

    private mutating func writeChoices(_ choices: [Expression.Choice]) throws(URLSyntaxError) {
        if version.isLegacy { throw notExpressible("function case") }
        text += "case("
        for (index, choice) in choices.enumerated() {
            if index > 0 { text += "," }
            try write(choice.condition, within: 0)
            text += " : "
            try write(choice.value, within: 0)
        }
        text += ")"
    }

    private mutating func writeJSON(_ string: String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\0"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private mutating func write(_ function: CanonicalFunction, _ arguments: [Expression]) throws(URLSyntaxError) {
        guard function.isKnown(to: version) else { throw notExpressible("function \(function.rawValue)") }
        if function == .contains, version.isLegacy, arguments.count == 2 {
            text += "substringof"
            return try writeList([arguments[1], arguments[0]], "(", ")")
        }
        if function == .concat, !version.isLegacy, arguments.count > 2 {
            let nested = Expression.call(.concat, Array(arguments.dropLast()))
            text += "concat"
            return try writeList([nested, arguments[arguments.count - 1]], "(", ")")
        }
        text += function.rawValue
        try writeList(arguments, "(", ")")
    }

    private mutating func writeTypeFunction(
        _ name: String, _ operand: Expression?, _ type: String
    ) throws(URLSyntaxError) {
        text += name + "("
        if let operand {
            try write(operand, within: 0)
            text += ","
        }
        text += version.isLegacy ? "'\(type)')" : "\(type))"
    }

    // MARK: Paths

    mutating func write(_ path: ExpressionPath) throws(URLSyntaxError) {
        var isFirst = false
        switch path.root {
        case .implicit: isFirst = true
        case .it where version.isLegacy && !path.segments.isEmpty: isFirst = true
        case .it: text += "$it"
        case .this: text += "$this"
        case .these: text += "$these"
        case .root: text += "$root"
        case .variable(let name): text += name
        case .alias(let name): text += "@\(name)"
        case .expression(let expression): try write(expression, within: Precedence.primary)
        }
        if version.isLegacy {
            switch path.root {
            case .this, .these, .root, .alias: throw notExpressible("these paths")
            case .it where path.segments.isEmpty: throw notExpressible("$it")
            default: break
            }
        }
        for segment in path.segments {
            var slash = isFirst ? "" : "/"
            if case .key = segment { slash = "" }
            isFirst = false
            text += slash
            try write(segment)
        }
    }

    private mutating func write(_ segment: ExpressionPath.Segment) throws(URLSyntaxError) {
        switch segment {
        case .property(let name): text += name
        case .type(let name): text += name
        case .annotation(let name): text += "@\(name)"
        case .any(let lambda):
            text += "any("
            if let lambda { try write(lambda) }
            text += ")"
        case .all(let lambda):
            text += "all("
            try write(lambda)
            text += ")"
        case .function(let name, let arguments):
            text += name
            try write(arguments)
        case .key(let arguments): try write(arguments)
        case .aggregate(let item):
            text += "aggregate(" + (try ApplyPrinter(version: version).text(item)) + ")"
        case .filter(let predicate):
            text += "$filter("
            try write(predicate, within: 0)
            text += ")"
        case .count(let options):
            text += "$count"
            // Within an expression, such a semicolon cannot be distinguished from the end of the option.
            if options.search?.description.utf8.contains(UInt8(ascii: ";")) == true {
                throw notExpressible("semicolon in a search within $count")
            }
            let nested = try options.parts(version: version)
            if !nested.isEmpty { text += "(" + nested.map { "\($0.name)=\($0.value)" }.joined(separator: ";") + ")" }
        }
        if version == .v2 {
            switch segment {
            case .property, .type: break
            default: throw notExpressible("these paths")
            }
        }
    }

    private mutating func write(_ lambda: ExpressionPath.Lambda) throws(URLSyntaxError) {
        text += "\(lambda.variable):"
        try write(lambda.predicate, within: 0)
    }

    private mutating func write(_ arguments: [ExpressionPath.Argument]) throws(URLSyntaxError) {
        text += "("
        for (index, argument) in arguments.enumerated() {
            if index > 0 { text += "," }
            if let name = argument.name { text += "\(name)=" }
            try write(argument.value, within: 0)
        }
        text += ")"
    }

    // MARK: Literals

    private func literal(_ value: Value, _ type: PrimitiveType?) throws(URLSyntaxError) -> String {
        switch value {
        case .complex, .collection: throw notExpressible("literal for this value")
        default: break
        }
        let (value, type) = version.isLegacy ? Self.older(value, type) : Self.newer(value, type)
        return PrimitiveLiteral.format(value, as: type, version: version, form: .url)
    }

    /// Converts a value for V2, which has neither dates nor times of day: a date becomes its midnight, a time of day an
    /// `Edm.Time`.
    private static func older(_ value: Value, _ type: PrimitiveType?) -> (Value, PrimitiveType?) {
        switch value {
        case .date(let date): return (.dateTime(LocalDateTime(date: date, time: .midnight)), .dateTime)
        case .timeOfDay(let time):
            let perSecond = LocalTime.picosecondsPerSecond
            let duration = DayTimeDuration(
                seconds: time.picoseconds / perSecond, picoseconds: time.picoseconds % perSecond)
            return duration.map { (.duration($0), .time) } ?? (value, type)
        default: return (value, type)
        }
    }

    /// Converts a value for V4, in which a point in time always has an offset, and V2's `Edm.Time` is a time of day.
    private static func newer(_ value: Value, _ type: PrimitiveType?) -> (Value, PrimitiveType?) {
        switch value {
        case .dateTime(let dateTime):
            guard let moment = GlobalDateTime(local: dateTime, offsetMinutes: 0) else { return (value, type) }
            return (.dateTimeOffset(moment), .dateTimeOffset)
        case .duration(let duration) where type == .time && !duration.isNegative && duration.seconds < 86_400:
            let picoseconds = duration.seconds * LocalTime.picosecondsPerSecond + duration.picoseconds
            let digits = UInt8(clamping: duration.significantDigits)
            guard let time = LocalTime(picoseconds: picoseconds, fractionDigits: digits) else { return (value, type) }
            return (.timeOfDay(time), .timeOfDay)
        default: return (value, type)
        }
    }
}
