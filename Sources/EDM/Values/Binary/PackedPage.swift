/// The memory for the encoded values of the rows of a result.
///
/// Rows with the same names share objects, so that few of them need memory of their own. A row that is kept keeps its
/// object alive: at most ``sizeLimit`` bytes, or as many as the row alone has, with the values that are not copied, if
/// these are more, and at most about four times as much as the rows before it had.
///
/// Not copyable, because two copies would write to the same memory.
package struct PackedPage: ~Copyable {
    private var storage: PackedStorage?
    private var capacity = 0
    private var used = 0
    /// The number of bytes of the rows since the names changed.
    private var total = 0

    /// The maximum number of bytes that rows share.
    package static let sizeLimit = 65_536

    package init() {}

    /// Copies untrusted bytes. Returns `nil` if they do not have the structure of one encoded value per name.
    ///
    /// Checks tags and lengths. An invalid value, such as a decimal without digits, is read as null.
    package mutating func copy(_ bytes: UnsafeRawBufferPointer, named names: PropertyNames) -> PackedProperties? {
        var cursor = PackedCursor(bytes)
        for _ in 0..<names.count { guard cursor.skip() else { return nil } }
        guard cursor.offset == bytes.count else { return nil }
        return append(bytes.count, names) { target in
            target.copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Checks untrusted bytes as a whole, as ``copy(_:named:)`` does, and copies the values at some places.
    ///
    /// - Parameters:
    ///   - places: In ascending order, within the names.
    ///   - chosen: The names at these places.
    mutating func copy(
        _ bytes: UnsafeRawBufferPointer, named names: PropertyNames, only places: [Int], named chosen: PropertyNames
    ) -> PackedProperties? {
        append(bytes.count, chosen) { target in
            var (next, filled) = (0, 0)
            var cursor = PackedCursor(bytes)
            for place in 0..<names.count {
                let start = cursor.offset
                guard cursor.skip() else { return nil }
                guard next < places.count, places[next] == place else { continue }
                let value = UnsafeRawBufferPointer(rebasing: bytes[start..<cursor.offset])
                UnsafeMutableRawBufferPointer(rebasing: target[filled...]).copyMemory(from: value)
                filled += value.count
                next += 1
            }
            return cursor.offset == bytes.count ? filled : nil
        }
    }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - limit: The largest number of bytes.
    ///   - fill: Writes the bytes to uninitialized memory of that size, and returns their number, or `nil` to add none.
    @inline(__always)
    private mutating func append(
        _ limit: Int, _ names: PropertyNames, _ fill: (UnsafeMutableRawBufferPointer) -> Int?
    ) -> PackedProperties? {
        let storage = memory(for: limit, names)
        let start = used
        let count = storage.withUnsafeMutablePointerToElements {
            fill(UnsafeMutableRawBufferPointer(start: $0 + start, count: limit))
        }
        guard let count else { return nil }
        used += count
        total += count
        return PackedProperties(storage, start: start, byteCount: count)
    }

    /// Returns an object with so many unused bytes after those that are used.
    @inline(__always)
    private mutating func memory(for count: Int, _ names: PropertyNames) -> PackedStorage {
        if let storage, count <= capacity - used, Self.has(names, storage) { return storage }
        return newMemory(for: count, names)
    }

    private mutating func newMemory(for count: Int, _ names: PropertyNames) -> PackedStorage {
        if let storage, !Self.has(names, storage) { total = 0 }
        used = 0
        // The first row has memory of its own, since many results have only one.
        capacity = max(count, min(Self.sizeLimit, 4 * total))
        let new = PackedStorage.create(minimumCapacity: capacity) { _ in names }
        storage = new
        return new
    }

    @inline(__always)
    private static func has(_ names: PropertyNames, _ storage: PackedStorage) -> Bool {
        storage.withUnsafeMutablePointerToHeader { $0.pointee === names }
    }
}
