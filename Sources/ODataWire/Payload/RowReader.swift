internal import EDM

/// Reads entities that look like the one before: the same properties in the same order, each a plain value, as the rows of a
/// page do. They go from bytes to values without the tree of JSON between, which takes most of the time otherwise.
///
/// Whatever is not exactly so (an escape in a name, an expansion, a value of another kind, an error) is left to the general
/// way: that decides alone what is valid, and finds the words for what is not.
struct RowReader: Sendable {
    /// What all the rows have in common.
    struct Shape: Sendable {
        /// Each name in its quotation marks.
        fileprivate var members: [(name: [UInt8], kind: Kind)]
        fileprivate var names: [String]

        fileprivate enum Kind: Sendable {
            case integer(ClosedRange<Int64>)
            case decimal, double, boolean, string, guid, dateTimeOffset, enumeration
            /// Any other type whose values are strings in JSON.
            case text(PrimitiveType)
            case etag
        }
    }

    /// The values of a row, and its ETag.
    struct Row: Sendable {
        var values: PropertyValues
        var etag: String?
    }

    private var shape: Shape?
    /// How many rows in a row did not look like the one before.
    private var misses = 0

    /// After so many it is not worth trying.
    private static let missLimit = 16

    // MARK: The shape

    /// Takes the shape of an entity that was read the general way.
    ///
    /// - Parameter type: the entity's own; it must be the declared one, since rows do not name theirs.
    mutating func learn(_ object: JSONObject, type: EntityType, version: ODataVersion) {
        guard misses < Self.missLimit else { return }
        misses += 1
        guard !version.isLegacy else { return }
        var shape = Shape(members: [], names: [])
        var seen: Set<String> = []
        for member in object.members {
            guard let kind = Self.kind(member.name, type), seen.insert(member.name).inserted,
                member.name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C })
            else { return self.shape = nil }
            shape.members.append((Array("\"\(member.name)\"".utf8), kind))
            if case .etag = kind { continue }
            shape.names.append(member.name)
        }
        self.shape = shape.names.isEmpty ? nil : shape
    }

    private static func kind(_ name: String, _ type: EntityType) -> Shape.Kind? {
        guard MemberName.isPlain(name) else { return name == "@odata.etag" || name == "@etag" ? .etag : nil }
        guard let property = type.findProperty(name), !property.isNavigation, !property.type.isCollection else {
            return nil
        }
        switch property.type.kind {
        case .primitive(let type), .typeDefinition(_, let type):
            switch type {
            case .decimal: return .decimal
            case .double: return .double
            case .boolean: return .boolean
            case .string: return .string
            case .guid: return .guid
            case .dateTimeOffset: return .dateTimeOffset
            case .binary, .date, .timeOfDay, .duration: return .text(type)
            default: return type.integerRange.map(Shape.Kind.integer)
            }
        case .enumeration: return .enumeration
        case .complex, .entity, .unresolved: return nil
        }
    }

    // MARK: Rows

    /// The next value, if it is a row like the last; otherwise nil, and nothing is read.
    mutating func read(_ scanner: inout JSONScanner) -> Row? {
        guard let shape, scanner.hasRoomForObject else { return nil }
        let start = scanner.offset
        guard let row = Self.row(shape, &scanner) else {
            scanner.offset = start
            return nil
        }
        misses = 0
        return row
    }

    private static func row(_ shape: Shape, _ scanner: inout JSONScanner) -> Row? {
        scanner.skipWhitespace()
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        var values: [Value] = []
        values.reserveCapacity(shape.names.count)
        var etag: String?
        for (index, member) in shape.members.enumerated() {
            if index > 0 {
                scanner.skipWhitespace()
                guard scanner.take(UInt8(ascii: ",")) else { return nil }
            }
            scanner.skipWhitespace()
            guard scanner.take(member.name) else { return nil }
            scanner.skipWhitespace()
            guard scanner.take(UInt8(ascii: ":")) else { return nil }
            scanner.skipWhitespace()
            if case .etag = member.kind {
                guard let text = scanner.plainString() else { return nil }
                etag = text
                continue
            }
            guard let value = value(member.kind, &scanner) else { return nil }
            values.append(value)
        }
        scanner.skipWhitespace()
        guard scanner.take(UInt8(ascii: "}")) else { return nil }
        return Row(values: PropertyValues(distinctNames: shape.names, values: values), etag: etag)
    }

    private static func value(_ kind: Shape.Kind, _ scanner: inout JSONScanner) -> Value? {
        if scanner.next == UInt8(ascii: "n") { return scanner.take(Self.null) ? .null : nil }
        switch kind {
        case .integer(let range):
            guard let number = scanner.wholeNumber(), range.contains(number) else { return nil }
            return .integer(number)
        case .decimal: return scanner.plainNumber().flatMap { DecimalValue($0) }.map(Value.decimal)
        case .double: return scanner.exactDouble().map(Value.double)
        case .boolean:
            if scanner.take(Self.true) { return .boolean(true) }
            return scanner.take(Self.false) ? .boolean(false) : nil
        case .string: return scanner.plainString().map(Value.string)
        case .enumeration: return scanner.plainString().map(Value.enumeration)
        case .guid: return scanner.plainString().flatMap { GuidValue($0) }.map(Value.guid)
        case .dateTimeOffset: return scanner.plainString().flatMap { GlobalDateTime($0) }.map(Value.dateTimeOffset)
        case .text(let type):
            guard let text = scanner.plainString() else { return nil }
            return try? PrimitiveLiteral.parse(text, as: type, version: .v4, form: .json)
        case .etag: return nil
        }
    }

    private static let null = Array("null".utf8)
    private static let `true` = Array("true".utf8)
    private static let `false` = Array("false".utf8)
}

/// Steps that pass what they are about or, where there is anything else, say so; what they passed then has no meaning.
extension JSONScanner {
    /// Whether an object may be opened here.
    fileprivate var hasRoomForObject: Bool { openIsEmpty.count < limits.depth }

    fileprivate var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    fileprivate mutating func take(_ byte: UInt8) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    fileprivate mutating func take(_ word: [UInt8]) -> Bool {
        let end = offset + word.count
        guard end <= bytes.count else { return false }
        for index in word.indices where bytes[offset + index] != word[index] { return false }
        offset = end
        return true
    }

    fileprivate mutating func plainString() -> String? {
        guard next == UInt8(ascii: "\"") else { return nil }
        return try? quoted()
    }

    /// A number without fraction and exponent, of so few digits that it fits.
    fileprivate mutating func wholeNumber() -> Int64? {
        let isNegative = take(UInt8(ascii: "-"))
        let start = offset
        var value: Int64 = 0
        while offset < bytes.count, isDigit(bytes[offset]) {
            value = value &* 10 &+ Int64(bytes[offset] - 0x30)
            offset += 1
        }
        guard hasDigits(from: start), offset - start <= 18, isAtEndOfNumber else { return nil }
        return isNegative ? -value : value
    }

    /// The text of a number without exponent.
    fileprivate mutating func plainNumber() -> String? {
        let start = offset
        guard passPlainNumber() != nil, offset - start <= 40 else { return nil }
        return makeString(start..<offset)
    }

    /// A number whose digits and power of ten a `Double` both holds exactly, so that one division rounds as it should
    /// (W. D. Clinger, How to Read Floating Point Numbers Accurately, 1990).
    fileprivate mutating func exactDouble() -> Double? {
        let start = offset
        guard let fraction = passPlainNumber(), offset - start <= 17, fraction <= 15 else { return nil }
        var digits: Int64 = 0
        for byte in bytes[start..<offset] where isDigit(byte) { digits = digits * 10 + Int64(byte - 0x30) }
        guard digits <= 1 << 53 else { return nil }
        let value = Double(digits) / Double(powersOfTen[fraction])
        return bytes[start] == UInt8(ascii: "-") ? -value : value
    }

    /// Passes `-?(0|[1-9][0-9]*)(\.[0-9]+)?`; how many digits the fraction has.
    private mutating func passPlainNumber() -> Int? {
        _ = take(UInt8(ascii: "-"))
        let start = offset
        passDigits()
        guard hasDigits(from: start) else { return nil }
        var fraction = 0
        if take(UInt8(ascii: ".")) {
            let point = offset
            passDigits()
            fraction = offset - point
            guard fraction > 0 else { return nil }
        }
        return isAtEndOfNumber ? fraction : nil
    }

    private mutating func passDigits() {
        while offset < bytes.count, isDigit(bytes[offset]) { offset += 1 }
    }

    /// At least one, and no zero in front of others.
    private func hasDigits(from start: Int) -> Bool {
        offset > start && (offset == start + 1 || bytes[start] != UInt8(ascii: "0"))
    }

    private var isAtEndOfNumber: Bool {
        switch next {
        case UInt8(ascii: ","), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: true
        default: false
        }
    }
}
