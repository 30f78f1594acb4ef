/// Reads the output of ``ByteWriter``. Every length is checked against the remaining bytes, so that hostile input
/// allocates no memory.
///
/// `@usableFromInline`, because otherwise the compiler inlines and specializes none of its functions in other modules.
@usableFromInline
package struct ByteReader {
    /// Valid only during the static functions below, so readers cannot be created elsewhere.
    @usableFromInline package let bytes: UnsafeRawBufferPointer
    /// The cache of names; `nil` for no caching.
    @usableFromInline package let names: NameTable?
    @usableFromInline package internal(set) var offset = 0
    /// The current nesting depth of values, creations and complex values.
    @usableFromInline var depth = 0

    @inlinable package static var depthLimit: Int { 64 }

    @usableFromInline
    init(_ bytes: UnsafeRawBufferPointer, names: NameTable?) {
        self.bytes = bytes
        self.names = names
    }

    /// Decodes the bytes with a closure. It must consume all bytes unless `toEnd` is `false`.
    @inlinable
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

    /// Decodes bytes that the caller keeps valid during the call.
    @inlinable
    package static func read<Value>(
        _ bytes: UnsafeRawBufferPointer, names: NameTable? = nil, toEnd: Bool = true,
        _ body: (inout ByteReader) throws(CodecError) -> Value
    ) throws(CodecError) -> Value {
        var reader = ByteReader(bytes, names: names)
        let value = try body(&reader)
        if toEnd { try reader.expectEnd() }
        return value
    }

    /// Decodes all bytes with a closure that stores its results itself.
    ///
    /// Not generic: for many small reads from another module, the lookup of generic metadata costs more than the
    /// decoding.
    package static func readWhole(
        _ bytes: [UInt8], names: NameTable? = nil, _ body: (inout ByteReader) throws(CodecError) -> Void
    ) throws(CodecError) {
        try readWhole(bytes[...], names: names, body)
    }

    /// Decodes a slice of bytes with a closure that stores its results itself.
    package static func readWhole(
        _ bytes: ArraySlice<UInt8>, names: NameTable? = nil, _ body: (inout ByteReader) throws(CodecError) -> Void
    ) throws(CodecError) {
        var failure: CodecError?
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, names: names)
            do throws(CodecError) {
                try body(&reader)
                try reader.expectEnd()
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Returns bytes whose presence has been checked.
    func place(_ length: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }

    @inlinable var remaining: Int { bytes.count - offset }

    @inlinable
    package func fail(_ reason: CodecError.Reason) -> CodecError { CodecError(reason: reason, offset: offset) }

    @inlinable
    package mutating func byte() throws(CodecError) -> UInt8 {
        guard offset < bytes.count else { throw fail(.truncated) }
        defer { offset += 1 }
        return bytes.byte(at: offset)
    }

    @inlinable
    package mutating func unsigned() throws(CodecError) -> UInt64 {
        // Most numbers, and all lengths of names, have one byte.
        if offset < bytes.count {
            let first = bytes.byte(at: offset)
            if first < 0x80 {
                offset += 1
                return UInt64(first)
            }
        }
        return try longUnsigned()
    }

    @usableFromInline
    mutating func longUnsigned() throws(CodecError) -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || (shift == 63 && next <= 1) else { throw fail(.overflow) }
            result |= UInt64(next & 0x7F) << shift
            if next & 0x80 == 0 {
                // A number has one form: the shortest one.
                guard next != 0 || shift == 0 else { throw fail(.invalid("number")) }
                return result
            }
            shift += 7
        }
    }

    @inlinable
    package mutating func signed() throws(CodecError) -> Int64 {
        let raw = try unsigned()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    @inlinable
    package mutating func bool() throws(CodecError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw fail(.invalid("boolean"))
        }
    }

    package mutating func fixed64() throws(CodecError) -> UInt64 {
        guard remaining >= 8 else { throw fail(.truncated) }
        defer { offset += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Reads a number of elements, each at least one byte long.
    @inlinable
    package mutating func count() throws(CodecError) -> Int {
        let value = try unsigned()
        guard value <= UInt64(remaining) else { throw fail(.truncated) }
        return Int(value)
    }

    /// Reads a number that must fit an `Int`, such as a year or an offset.
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

    /// Reads a string that occurs often: the name of a type, a set or a property.
    package mutating func name() throws(CodecError) -> String {
        guard let names else { return try string() }
        let length = try count()
        guard let text = names.string(place(length)) else { throw fail(.invalid("UTF-8")) }
        offset += length
        return text
    }

    @inlinable
    package mutating func optional<T>(_ read: (inout ByteReader) throws(CodecError) -> T) throws(CodecError) -> T? {
        try bool() ? try read(&self) : nil
    }

    @inlinable
    package mutating func list<T>(_ read: (inout ByteReader) throws(CodecError) -> T) throws(CodecError) -> [T] {
        let length = try count()
        guard length > 0 else { return [] }
        var result: [T] = []
        result.reserveCapacity(min(length, 1024))
        for _ in 0..<length { result.append(try read(&self)) }
        return result
    }

    /// Runs `read` one level deeper. Excessive nesting throws instead of overflowing the stack.
    @inlinable
    package mutating func nested<T>(_ read: (inout ByteReader) throws(CodecError) -> T) throws(CodecError) -> T {
        guard depth < Self.depthLimit else { throw fail(.tooDeep) }
        depth += 1
        defer { depth -= 1 }
        return try read(&self)
    }

    /// Advances past bytes that another reader has read.
    package mutating func pass(to end: Int) { offset = max(offset, min(end, bytes.count)) }

    @usableFromInline
    func expectEnd() throws(CodecError) {
        guard offset == bytes.count else { throw fail(.trailingBytes) }
    }
}
