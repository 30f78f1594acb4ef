/// Traverses encoded values without decoding them. Truncated or invalid bytes end the traversal; they never trap.
package struct PackedCursor {
    let bytes: UnsafeRawBufferPointer
    package internal(set) var offset: Int
    /// The current nesting depth, as counted by ``ByteReader``.
    var depth: Int

    package init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0, depth: Int = 0) {
        self.bytes = bytes
        self.offset = offset
        self.depth = depth
    }

    // MARK: Elements

    @inline(__always)
    mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes.byte(at: offset)
    }

    /// Reads a number. Returns `nil` also for a non-minimal encoding, which no writer produces.
    @inline(__always)
    mutating func unsigned() -> UInt64? {
        guard let first = byte() else { return nil }
        return first < 0x80 ? UInt64(first) : longUnsigned(first)
    }

    private mutating func longUnsigned(_ first: UInt8) -> UInt64? {
        var result = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while let next = byte() {
            guard shift < 63 || next <= 1 else { return nil }
            result |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return next == 0 ? nil : result }
            shift += 7
        }
        return nil
    }

    @inline(__always)
    mutating func signed() -> Int64? {
        unsigned().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    @inline(__always)
    mutating func fixed64() -> UInt64? {
        guard bytes.count - offset >= 8 else { return nil }
        defer { offset += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    mutating func bool() -> Bool? {
        switch byte() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// Reads a length and that many bytes.
    @inline(__always)
    mutating func block() -> UnsafeRawBufferPointer? {
        guard let length = unsigned(), length <= UInt64(bytes.count - offset) else { return nil }
        return consume(Int(length))
    }

    @inline(__always)
    mutating func consume(_ length: Int) -> UnsafeRawBufferPointer? {
        guard length <= bytes.count - offset else { return nil }
        defer { offset += length }
        return UnsafeRawBufferPointer(start: bytes.baseAddress.map { $0 + offset }, count: length)
    }

    /// Advances past the given bytes if they are next.
    mutating func pass(_ wanted: UnsafeRawBufferPointer) -> Bool {
        guard wanted.count <= bytes.count - offset,
            wanted.hasSameBytes(as: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + wanted.count]))
        else { return false }
        offset += wanted.count
        return true
    }

    // MARK: Values

    /// Skips the next value. Returns `false` if there is none.
    @discardableResult
    package mutating func skip() -> Bool {
        guard let tag = byte().flatMap(ValueTag.init) else { return false }
        switch tag {
        case .null, .false, .true: return true
        case .integer, .single: return unsigned() != nil
        case .double: return consume(8) != nil
        case .guid: return consume(16) != nil
        case .decimal, .string, .binary, .enumeration, .raw: return block() != nil
        case .date: return skipDate()
        case .timeOfDay: return skipTime()
        case .duration: return byte() != nil && unsigned() != nil && unsigned() != nil
        case .dateTime: return skipDate() && skipTime()
        case .dateTimeOffset: return skipDate() && skipTime() && unsigned() != nil
        case .complex: return nested { $0.skipComplex() }
        case .collection: return nested { $0.skipItems() }
        }
    }

    /// Skips the next value. Returns its bytes.
    @inline(__always)
    mutating func passValue() -> UnsafeRawBufferPointer {
        let start = offset
        skip()
        return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }

    private mutating func skipDate() -> Bool { unsigned() != nil && consume(2) != nil }

    private mutating func skipTime() -> Bool { unsigned() != nil && byte() != nil }

    private mutating func skipComplex() -> Bool {
        guard let hasType = bool(), !hasType || block() != nil, let count = unsigned() else { return false }
        for _ in 0..<count { guard block() != nil, skip() else { return false } }
        return true
    }

    private mutating func skipItems() -> Bool {
        guard let count = unsigned() else { return false }
        for _ in 0..<count { guard skip() else { return false } }
        return true
    }

    /// Advances to the value of a property in the next value. Returns `false` if that is not a complex value or has
    /// no such property.
    package mutating func enter(_ name: String) -> Bool {
        guard byte() == ValueTag.complex.rawValue, let hasType = bool(), !hasType || block() != nil,
            let count = unsigned()
        else { return false }
        for _ in 0..<count {
            guard let candidate = block() else { return false }
            if String(decoding: candidate, as: UTF8.self) == name { return true }
            guard skip() else { return false }
        }
        return false
    }

    /// Runs the closure one level deeper. Returns `false` if the nesting is too deep, instead of overflowing the
    /// stack.
    mutating func nested(_ body: (inout PackedCursor) -> Bool) -> Bool {
        guard depth < ByteReader.depthLimit else { return false }
        depth += 1
        defer { depth -= 1 }
        return body(&self)
    }
}
