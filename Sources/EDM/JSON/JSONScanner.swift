/// Reads JSON in UTF-8 step by step, holding only the requested part in memory.
///
/// The caller traverses the document: it calls `beginObject()` and then `nextName()` until that returns `nil`,
/// and reads or skips one value after each name; likewise `beginArray()` and `nextItem()`. The grammar is exactly
/// RFC 8259; invalid UTF-8 and escapes of lone surrogates are errors. After an error the scanner must not be used
/// again.
public struct JSONScanner: Sendable {
    /// Bounds on a document.
    public struct Limits: Sendable, Hashable {
        /// The nesting depth of objects and arrays.
        public var depth: Int
        /// The size of the document in bytes.
        public var size: Int
        /// The size in bytes of one item of a page, which is held in memory as a whole. A larger item is skipped.
        public var itemSize: Int
        /// The number of values in one item of a page, or in a document that is read as a whole.
        public var elements: Int
        /// The number of members of one object.
        public var members: Int

        /// Creates bounds on a document.
        public init(
            depth: Int = 100, size: Int = 1 << 30, itemSize: Int = 16 << 20, elements: Int = 1_000_000,
            members: Int = 20_000
        ) {
            self.depth = depth
            self.size = size
            self.itemSize = itemSize
            self.elements = elements
            self.members = members
        }
    }

    /// The kinds of JSON values.
    package enum ValueKind: Sendable, Hashable { case null, boolean, number, string, array, object }

    package internal(set) var bytes: [UInt8]
    /// The offset of the next byte to be read.
    package var offset: Int
    package let limits: Limits
    /// For each open object and array, whether nothing of it has been read yet.
    package internal(set) var openIsEmpty: [Bool] = []
    /// Whether duplicate names in an object are errors, as needed for responses that change the state.
    package var checksNames = false
    /// Whether an invalid string is read with replacement characters and recorded in ``badText`` instead of throwing.
    package var toleratesBadText = false
    /// The error of the first invalid string that was read since the property was `nil`.
    package var badText: JSONError?
    /// The number of further values that ``value()`` and ``skip()`` may read.
    private var elementsLeft: Int
    /// The offset that the current item must not exceed.
    package private(set) var itemEnd = Int.max

    package init(_ bytes: [UInt8], limits: Limits = Limits()) throws(JSONError) {
        guard bytes.count <= limits.size else {
            throw JSONError(.tooLarge, "The document has more than \(limits.size) bytes.", at: 0)
        }
        self.bytes = bytes
        self.limits = limits
        elementsLeft = limits.elements
        offset = 0
        skipByteOrderMark()
    }

    /// Creates a scanner without content; chunks are appended later.
    package init(limits: Limits) {
        bytes = []
        self.limits = limits
        elementsLeft = limits.elements
        offset = 0
    }

    /// Starts an item of a page at the next value: the limits for items apply until ``endItem()``.
    package mutating func beginItem() {
        skipWhitespace()
        let (end, overflows) = offset.addingReportingOverflow(limits.itemSize)
        itemEnd = overflows ? .max : end
        elementsLeft = limits.elements
    }

    package mutating func endItem() {
        itemEnd = .max
        elementsLeft = limits.elements
    }

    /// Counts a value. Throws if there are too many values or the item is too large.
    private mutating func countElement() throws(JSONError) {
        elementsLeft -= 1
        guard elementsLeft >= 0 else {
            throw JSONError(.tooLarge, "There are more than \(limits.elements) values.", at: offset)
        }
        guard offset <= itemEnd else { throw itemIsTooLarge }
    }

    package var itemIsTooLarge: JSONError {
        JSONError(.tooLarge, "It is larger than \(limits.itemSize) bytes.", at: offset)
    }

    /// Skips a byte order mark. To be called only at the beginning of the document.
    package mutating func skipByteOrderMark() {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    /// Returns the kind of the next value.
    package mutating func peek() throws(JSONError) -> ValueKind {
        skipWhitespace()
        switch try byteAhead() {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw unexpected("a value")
        }
    }

    package mutating func beginObject() throws(JSONError) { try begin(UInt8(ascii: "{"), .object) }

    /// Returns the name of the next member, or `nil` once at the end of the object.
    package mutating func nextName() throws(JSONError) -> String? {
        guard try next(closing: UInt8(ascii: "}")) else { return nil }
        skipWhitespace()
        guard try byteAhead() == UInt8(ascii: "\"") else { throw unexpected("a name") }
        let name = try quoted()
        try colon()
        return name
    }

    package mutating func beginArray() throws(JSONError) { try begin(UInt8(ascii: "["), .array) }

    /// Returns whether another item follows, or `false` once at the end of the array.
    package mutating func nextItem() throws(JSONError) -> Bool { try next(closing: UInt8(ascii: "]")) }

    package mutating func string() throws(JSONError) -> String {
        try expect(.string)
        return try quoted()
    }

    /// Reads a number and returns its text.
    package mutating func number() throws(JSONError) -> String {
        try expect(.number)
        return makeString(try numberRange())
    }

    package mutating func boolean() throws(JSONError) -> Bool {
        try expect(.boolean)
        let isTrue = bytes[offset] == UInt8(ascii: "t")
        try literal(isTrue ? "true" : "false")
        return isTrue
    }

    package mutating func null() throws(JSONError) {
        try expect(.null)
        try literal("null")
    }

    /// Reads the next value as a whole.
    package mutating func value() throws(JSONError) -> JSONValue {
        try countElement()
        switch try peek() {
        case .null:
            try literal("null")
            return .null
        case .boolean: return .boolean(try boolean())
        case .number: return .number(try number())
        case .string: return .string(try quoted())
        case .array:
            var items: [JSONValue] = []
            try beginArray()
            while try nextItem() { items.append(try value()) }
            return .array(items)
        case .object:
            var object = JSONObject()
            var names = MemberNames()
            try beginObject()
            while let name = try nextName(&names) {
                guard object.members.count < limits.members else { throw tooManyMembers }
                object.members.append(.init(name: name, value: try value()))
            }
            return .object(object)
        }
    }

    /// Skips the next value. It is checked nevertheless.
    ///
    /// - Returns: The range of its bytes.
    @discardableResult
    package mutating func skip() throws(JSONError) -> Range<Int> {
        try countElement()
        let kind = try peek()
        let start = offset
        switch kind {
        case .null: try literal("null")
        case .boolean: _ = try boolean()
        case .number: _ = try numberRange()
        case .string: try skipQuoted()
        case .array:
            try beginArray()
            while try nextItem() { try skip() }
        case .object:
            var names = MemberNames()
            var count = 0
            try beginObject()
            while try skipName(&names) {
                guard count < limits.members else { throw tooManyMembers }
                count += 1
                try skip()
            }
        }
        return start..<offset
    }

    /// Throws if anything except white space follows.
    package mutating func end() throws(JSONError) {
        skipWhitespace()
        guard offset == bytes.count else {
            throw JSONError(.syntax, "There is text after the end of the document.", at: offset)
        }
    }
}

extension JSONScanner {
    private mutating func begin(_ bracket: UInt8, _ kind: ValueKind) throws(JSONError) {
        try expect(kind)
        guard openIsEmpty.count < limits.depth else {
            throw JSONError(
                .tooDeep, "Objects and arrays are nested more than \(limits.depth) levels deep.", at: offset)
        }
        offset += 1
        openIsEmpty.append(true)
    }

    /// Reads the comma before another member or item, or the closing bracket.
    mutating func next(closing bracket: UInt8) throws(JSONError) -> Bool {
        guard let isEmpty = openIsEmpty.last else {
            throw JSONError(.wrongKind, "No object or array is open at this bracket.", at: offset)
        }
        skipWhitespace()
        let byte = try byteAhead()
        if byte == bracket {
            offset += 1
            openIsEmpty.removeLast()
            return false
        }
        if isEmpty {
            openIsEmpty[openIsEmpty.count - 1] = false
            return true
        }
        guard byte == UInt8(ascii: ",") else {
            throw unexpected("a comma or \"\(Character(UnicodeScalar(bracket)))\"")
        }
        offset += 1
        return true
    }

    package mutating func colon() throws(JSONError) {
        skipWhitespace()
        guard try byteAhead() == UInt8(ascii: ":") else { throw unexpected("a colon") }
        offset += 1
    }

    private mutating func expect(_ kind: ValueKind) throws(JSONError) {
        let found = try peek()
        guard found == kind else {
            throw JSONError(.wrongKind, "Expected \(kind), not \(found).", at: offset)
        }
    }

    mutating func skipWhitespace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    func byteAhead() throws(JSONError) -> UInt8 {
        guard offset < bytes.count else { throw JSONError(.truncated, "The document ends too early.", at: offset) }
        return bytes[offset]
    }

    private var tooManyMembers: JSONError {
        JSONError(.tooLarge, "An object has more than \(limits.members) members.", at: offset)
    }

    func unexpected(_ wanted: String) -> JSONError {
        JSONError(.syntax, "Expected \(wanted), not byte 0x\(String(bytes[offset], radix: 16)).", at: offset)
    }

    private mutating func literal(_ word: StaticString) throws(JSONError) {
        let count = word.utf8CodeUnitCount
        let end = offset + count
        let matches = end <= bytes.count && word.withUTF8Buffer { bytes[offset..<end].elementsEqual($0) }
        guard matches else {
            throw JSONError(
                bytes.count < end ? .truncated : .syntax, "Expected \(word).", at: offset)
        }
        offset = end
    }

    /// `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`
    private mutating func numberRange() throws(JSONError) -> Range<Int> {
        let start = offset
        if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "0") {
            offset += 1
        } else {
            try digits()
        }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            try digits()
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if offset < bytes.count, bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-") {
                offset += 1
            }
            try digits()
        }
        if offset < bytes.count, (0x30...0x39).contains(bytes[offset]) { throw unexpected("no further digit") }
        return start..<offset
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while offset < bytes.count, (0x30...0x39).contains(bytes[offset]) { offset += 1 }
        if offset == start {
            _ = try byteAhead()
            throw unexpected("a digit")
        }
    }
}
