package import EDM

/// Reads what ``ByteWriter`` wrote. Every length is checked against what is left, so that hostile bytes cost no memory.
package struct ByteReader {
    /// Only as long as ``read(_:names:_:)`` runs, which is why nobody else can make a reader.
    private let bytes: UnsafeRawBufferPointer
    /// Where names that were read before are found again; nil: nowhere.
    private let names: NameTable?
    package private(set) var offset = 0
    /// How deep values, creations and complex values are nested at the moment.
    private var depth = 0

    static let depthLimit = 64

    private init(_ bytes: UnsafeRawBufferPointer, names: NameTable?) {
        self.bytes = bytes
        self.names = names
    }

    /// What the closure reads from the bytes. It must leave none, or may leave some if that is said.
    package static func read<Value>(
        _ bytes: [UInt8], names: NameTable? = nil, toEnd: Bool = true,
        _ body: (inout ByteReader) throws(CodecError) -> Value
    ) throws(CodecError) -> Value {
        let outcome = bytes.withUnsafeBytes { bytes in
            do throws(CodecError) {
                return Result<Value, CodecError>.success(try read(bytes, names: names, toEnd: toEnd, body))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// The same for bytes that somebody else keeps as long as it runs.
    package static func read<Value>(
        _ bytes: UnsafeRawBufferPointer, names: NameTable? = nil, toEnd: Bool = true,
        _ body: (inout ByteReader) throws(CodecError) -> Value
    ) throws(CodecError) -> Value {
        var reader = ByteReader(bytes, names: names)
        let value = try body(&reader)
        if toEnd { try reader.expectEnd() }
        return value
    }

    /// Bytes that were found to be there.
    private func place(_ length: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }

    var remaining: Int { bytes.count - offset }

    package func fail(_ reason: CodecError.Reason) -> CodecError { CodecError(reason: reason, offset: offset) }

    package mutating func byte() throws(CodecError) -> UInt8 {
        guard offset < bytes.count else { throw fail(.truncated) }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func unsigned() throws(CodecError) -> UInt64 {
        // Most numbers are small, and all lengths of names are.
        if offset < bytes.count, bytes[offset] < 0x80 {
            offset += 1
            return UInt64(bytes[offset - 1])
        }
        return try longUnsigned()
    }

    private mutating func longUnsigned() throws(CodecError) -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || (shift == 63 && next <= 1) else { throw fail(.overflow) }
            result |= UInt64(next & 0x7F) << shift
            if next & 0x80 == 0 { return result }
            shift += 7
        }
    }

    package mutating func signed() throws(CodecError) -> Int64 {
        let raw = try unsigned()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    package mutating func bool() throws(CodecError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw fail(.invalid("boolean"))
        }
    }

    package mutating func fixed64() throws(CodecError) -> UInt64 {
        guard remaining >= 8 else { throw fail(.truncated) }
        var result: UInt64 = 0
        for index in 0..<8 { result |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        offset += 8
        return result
    }

    /// A number of elements, each at least one byte long.
    package mutating func count() throws(CodecError) -> Int {
        let value = try unsigned()
        guard value <= UInt64(remaining) else { throw fail(.truncated) }
        return Int(value)
    }

    /// A number that must fit an `Int`, such as a year or an offset.
    package mutating func integer() throws(CodecError) -> Int {
        guard let value = Int(exactly: try signed()) else { throw fail(.overflow) }
        return value
    }

    package mutating func blob() throws(CodecError) -> [UInt8] {
        let length = try count()
        defer { offset += length }
        return Array(place(length))
    }

    package mutating func string() throws(CodecError) -> String {
        let length = try count()
        guard let text = UTF8Text.string(place(length)) else { throw fail(.invalid("UTF-8")) }
        offset += length
        return text
    }

    /// A string that comes again and again: the name of a type, a set or a property.
    mutating func name() throws(CodecError) -> String {
        guard let names else { return try string() }
        let length = try count()
        guard let text = names.string(place(length)) else { throw fail(.invalid("UTF-8")) }
        offset += length
        return text
    }

    /// Names and values. Where the names are those of a list that was read before, that list is used again.
    package mutating func properties() throws(CodecError) -> PropertyValues {
        let length = try count()
        guard length > 0 else { return PropertyValues() }
        var known: [String] = []
        var values: [Value] = []
        values.reserveCapacity(min(length, 256))
        let start = offset
        let place = NameTable.place(count: length, first: bytes, at: start)
        if let list = names?.list(place), list.names.count == length {
            var next = 0
            for end in list.ends {
                guard skip(list.encoded, next..<end) else { break }
                values.append(try value())
                next = end
            }
            if values.count == length { return PropertyValues(distinctNames: list.names, values: values) }
            known = Array(list.names[..<values.count])
        }
        for _ in values.count..<length {
            known.append(try name())
            values.append(try value())
        }
        guard known.areDistinct else { return PropertyValues(Array(zip(known, values))) }
        names?.remember(known, at: place)
        return PropertyValues(distinctNames: known, values: values)
    }

    /// Passes over the bytes if they are these.
    private mutating func skip(_ wanted: [UInt8], _ range: Range<Int>) -> Bool {
        guard range.count <= remaining else { return false }
        let isSame = wanted.withUnsafeBytes {
            NameTable.isEqual(place(range.count), UnsafeRawBufferPointer(rebasing: $0[range]))
        }
        if isSame { offset += range.count }
        return isSame
    }

    package mutating func optional<T>(_ read: (inout ByteReader) throws(CodecError) -> T) throws(CodecError) -> T? {
        try bool() ? try read(&self) : nil
    }

    package mutating func list<T>(_ read: (inout ByteReader) throws(CodecError) -> T) throws(CodecError) -> [T] {
        let length = try count()
        var result: [T] = []
        result.reserveCapacity(min(length, 1024))
        for _ in 0..<length { result.append(try read(&self)) }
        return result
    }

    /// Runs `read` one level deeper; hostile nesting ends in an error and not in a stack overflow.
    package mutating func nested<T>(_ read: (inout ByteReader) throws(CodecError) -> T) throws(CodecError) -> T {
        guard depth < Self.depthLimit else { throw fail(.tooDeep) }
        depth += 1
        defer { depth -= 1 }
        return try read(&self)
    }

    private func expectEnd() throws(CodecError) {
        guard offset == bytes.count else { throw fail(.trailingBytes) }
    }
}

extension [String] {
    /// Quadratic, which is best for the few that there are.
    fileprivate var areDistinct: Bool {
        count <= 64
            ? indices.allSatisfy { index in !self[..<index].contains(self[index]) } : Set(self).count == count
    }
}

/// A record's bytes do not decode. The block's checksum was right, so this is a writer's fault or a forged log.
public struct CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        case truncated
        case overflow
        case tooDeep
        case trailingBytes
        /// A field that holds none of its possible values.
        case invalid(String)
    }

    public let reason: Reason
    /// From the start of the record's payload.
    public let offset: Int

    public var description: String {
        let what =
            switch reason {
            case .truncated: "ends too early"
            case .overflow: "holds a number that is too large"
            case .tooDeep: "is nested too deeply"
            case .trailingBytes: "has bytes after its end"
            case .invalid(let field): "holds no valid \(field)"
            }
        return "The record \(what) at byte \(offset)."
    }
}
