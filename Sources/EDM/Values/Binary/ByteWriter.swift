/// Appends the primitive elements of the record codec: LEB128 varints, zigzag integers, length-prefixed UTF-8.
///
/// `@usableFromInline`, because otherwise the compiler inlines and specializes none of its functions in other modules.
@usableFromInline
package struct ByteWriter: Sendable {
    @usableFromInline package var bytes: [UInt8] = []

    @inlinable package init() {}

    /// Creates a writer that stores so many bytes without another allocation.
    package init(minimumCapacity: Int) { bytes.reserveCapacity(minimumCapacity) }

    /// Removes the bytes and keeps the memory for later ones.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    @inlinable
    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    @usableFromInline
    package mutating func unsigned(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    @inlinable
    package mutating func count(_ value: Int) { unsigned(UInt64(value)) }

    @inlinable
    package mutating func signed(_ value: Int64) { unsigned(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

    @inlinable
    package mutating func bool(_ value: Bool) { byte(value ? 1 : 0) }

    package mutating func fixed64(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func blob(_ value: some Collection<UInt8>) {
        count(value.count)
        bytes.append(contentsOf: value)
    }

    package mutating func string(_ value: String) {
        count(value.utf8.count)
        // Strings usually have contiguous storage and are appended at once.
        if value.utf8.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil {
            appendEach(of: value)
        }
    }

    /// A separate function, because the compiler (Swift 6.3) otherwise retains each string of ``string(_:)``.
    @inline(never)
    private mutating func appendEach(of value: String) { bytes.append(contentsOf: value.utf8) }

    @inlinable
    package mutating func optional<T>(_ value: T?, _ write: (inout ByteWriter, T) -> Void) {
        bool(value != nil)
        if let value { write(&self, value) }
    }

    @inlinable
    package mutating func list<T>(_ values: [T], _ write: (inout ByteWriter, T) -> Void) {
        count(values.count)
        // A span, because a loop over the elements and a subscript of an array copy each of them. Of a slice, because
        // the span of an array needs macOS 26.
        let slice = values[...]
        let values = slice.span
        for place in values.indices { write(&self, values[place]) }
    }
}
