import EDM
import OperationLog

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The encoded form of a property with a value, or of an identifier, for searches in undecoded records.
struct BytePattern: Sendable, Hashable {
    private let bytes: [UInt8]
    /// The pattern for columnar records; nil for an identifier.
    let named: ColumnSearch.NamedValue?

    init(property: String, value: Value) {
        var name = ByteWriter()
        name.string(property)
        var writer = ByteWriter()
        writer.value(value)
        bytes = name.bytes + writer.bytes
        named = ColumnSearch.NamedValue(name: name.bytes, value: writer.bytes)
    }

    /// Creates a pattern for an entity ID or a sequence number.
    init(identifier: UInt64) {
        var writer = ByteWriter()
        writer.unsigned(identifier)
        bytes = writer.bytes
        named = nil
    }

    /// Returns whether the payload contains the bytes. A match may be a coincidence; a mismatch is certain.
    func isFound(in payload: UnsafeRawBufferPointer) -> Bool { place(in: payload, 0..<payload.count) != nil }

    private func place(in all: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        guard let start = all.baseAddress, range.count >= bytes.count, !bytes.isEmpty else { return nil }
        // The first byte of a property's name is its length, which is too common as an anchor.
        let anchor = bytes.count > 2 ? 1 : 0
        let end = range.upperBound - bytes.count + 1 + anchor
        var at = range.lowerBound + anchor
        while at < end, let found = memchr(start + at, Int32(bytes[anchor]), end - at) {
            at = UnsafeRawPointer(found) - start
            if isEqual(all, at - anchor) { return at - anchor }
            at += 1
        }
        return nil
    }

    private func isEqual(_ all: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        for place in bytes.indices where all[start + place] != bytes[place] { return false }
        return true
    }

    /// Returns the offsets of all matches in ascending order, or nil if there are more than the limit.
    static func places(of patterns: [BytePattern], in all: UnsafeRawBufferPointer, limit: Int) -> [Int]? {
        var places: [Int] = []
        for pattern in patterns {
            var at = 0
            while let found = pattern.place(in: all, at..<all.count) {
                places.append(found)
                guard places.count <= limit else { return nil }
                at = found + 1
            }
        }
        return places.sorted()
    }
}
