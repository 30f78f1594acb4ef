extension UnsafeRawBufferPointer {
    /// Returns the byte at an offset, which must be less than the count.
    ///
    /// Always inlined, unlike the buffer's own subscript and `load`, for which the optimizer can use calls.
    @inlinable @inline(__always)
    package func byte(at offset: Int) -> UInt8 {
        assert(offset >= 0 && offset < count)
        // Only an empty buffer has no address.
        guard let start = baseAddress else { return 0 }
        return start.load(fromByteOffset: offset, as: UInt8.self)
    }

    /// Returns whether both buffers have the same count and the same bytes.
    ///
    /// Compares eight bytes at a time; the last word can overlap the previous one. Faster than a call for short
    /// names.
    @inlinable @inline(__always)
    package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        // Only an empty buffer has no address.
        guard let a = baseAddress, let b = other.baseAddress else { return true }
        var at = 0
        while count - at >= 8 {
            guard
                a.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                    == b.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            else { return false }
            at += 8
        }
        if count >= 8 {
            at = count - 8
            return a.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                == b.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        }
        if count >= 4 {
            guard a.loadUnaligned(as: UInt32.self) == b.loadUnaligned(as: UInt32.self) else { return false }
            at = count - 4
            return a.loadUnaligned(fromByteOffset: at, as: UInt32.self)
                == b.loadUnaligned(fromByteOffset: at, as: UInt32.self)
        }
        while at < count {
            guard a.load(fromByteOffset: at, as: UInt8.self) == b.load(fromByteOffset: at, as: UInt8.self) else {
                return false
            }
            at += 1
        }
        return true
    }
}
