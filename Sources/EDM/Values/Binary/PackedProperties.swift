/// The names of encoded values, and their bytes.
@usableFromInline
package typealias PackedStorage = ManagedBuffer<PropertyNames, UInt8>

/// Property values that stay encoded until one is accessed.
///
/// No read of the bytes can trap or leave them; see ``PackedCursor``. They are in an object of their own, or in one
/// with other rows of a result, of which a copy keeps at most ``PackedPage/sizeLimit`` bytes alive. Names and bytes are
/// in one object, so that a copy retains one reference.
///
/// `@unchecked Sendable`, because the bytes of a value are written before it is created and not changed later.
@usableFromInline
package struct PackedProperties: @unchecked Sendable {
    @usableFromInline let storage: PackedStorage
    /// The offset of the values in ``storage``.
    @usableFromInline let start: Int
    /// The number of bytes of the encoded values.
    @usableFromInline package let byteCount: Int

    init(_ storage: PackedStorage, start: Int, byteCount: Int) {
        self.storage = storage
        self.start = start
        self.byteCount = byteCount
    }

    /// Creates values from bytes that ``PackedCursor/skip()`` accepts.
    ///
    /// - Parameters:
    ///   - capacity: The largest number of bytes.
    ///   - fill: Writes the bytes to uninitialized memory of that size, and returns their number.
    init(names: PropertyNames, capacity: Int, fill: (UnsafeMutableRawBufferPointer) -> Int) {
        storage = PackedStorage.create(minimumCapacity: capacity) { _ in names }
        start = 0
        byteCount = storage.withUnsafeMutablePointerToElements {
            fill(UnsafeMutableRawBufferPointer(start: $0, count: capacity))
        }
    }

    /// Creates values from bytes that ``PackedCursor/skip()`` accepts.
    init(names: PropertyNames, checked bytes: UnsafeRawBufferPointer) {
        self.init(names: names, capacity: bytes.count) {
            $0.copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Encodes values. Returns `nil` if a value is nested too deeply to be read again.
    ///
    /// - Parameter scratch: A writer whose memory is used.
    init?(names: PropertyNames, _ values: [Value], scratch: inout ByteWriter) {
        scratch.removeAll()
        var areFlat = true
        for value in values {
            scratch.value(value)
            areFlat = areFlat && value.isFlat
        }
        let isReadable = scratch.bytes.withUnsafeBytes { areFlat || Self.isReadable($0, count: values.count) }
        // Only nested values can be too deep; flat values are always readable.
        guard isReadable else { return nil }
        self = scratch.bytes.withUnsafeBytes { PackedProperties(names: names, checked: $0) }
    }

    @inlinable package var names: PropertyNames { storage.withUnsafeMutablePointerToHeader { $0.pointee } }

    /// Returns whether the names are this object.
    @inline(__always)
    func hasNames(_ other: PropertyNames?) -> Bool { storage.withUnsafeMutablePointerToHeader { $0.pointee === other } }

    /// A copy of the encoded values.
    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// Calls the closure with the values in the encoding of ``ByteWriter/value(_:)``, concatenated, one for each name.
    @inlinable
    package func withUnsafeBytes<R, E>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try storage.withUnsafeMutablePointerToElements { bytes throws(E) in
            try body(UnsafeRawBufferPointer(start: bytes + start, count: byteCount))
        }
    }

    /// Returns whether the bytes are the canonical encoding of so many values.
    private static func isReadable(_ bytes: UnsafeRawBufferPointer, count: Int) -> Bool {
        var cursor = PackedCursor(bytes)
        for _ in 0..<count { guard cursor.check() else { return false } }
        return cursor.offset == bytes.count
    }

    var values: [Value] {
        withUnsafeBytes { bytes in
            var cursor = PackedCursor(bytes)
            return names.names.map { _ in Self.value(&cursor) }
        }
    }

    /// Calls the closure with each encoded name and value, without decoding them.
    func forEach(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        let names = names
        withUnsafeBytes { values in
            names.encoded.withUnsafeBytes { encoded in
                var cursor = PackedCursor(values)
                var next = 0
                for end in names.ends {
                    body(UnsafeRawBufferPointer(rebasing: encoded[next..<end]), cursor.passValue())
                    next = end
                }
            }
        }
    }

    /// The place after a value: the index and the offset of the next one.
    struct Position: Sendable {
        fileprivate var index = 0
        fileprivate var offset = 0
    }

    /// Returns the value of a property, or `nil` if it is unset.
    ///
    /// - Parameter position: A position in these values, from which later values are found without the ones before.
    ///   Becomes the position after the property.
    func value(of name: String, from position: inout Position) -> Value? {
        guard let place = names.place(of: name, expectedAt: position.index) else { return nil }
        return value(atIndex: place, from: &position)
    }

    /// Returns the value with this index, which must be less than the number of names.
    func value(atIndex place: Int) -> Value {
        var position = Position()
        return value(atIndex: place, from: &position)
    }

    private func value(atIndex place: Int, from position: inout Position) -> Value {
        if place < position.index { position = Position() }
        return withUnsafeBytes { bytes in
            var cursor = PackedCursor(bytes, at: position.offset)
            for _ in position.index..<place { cursor.skip() }
            defer { position = Position(index: place + 1, offset: cursor.offset) }
            return Self.value(&cursor)
        }
    }

    /// Returns the values at these places, in their encoded form.
    ///
    /// - Parameters:
    ///   - places: In ascending order, within the names.
    ///   - chosen: The names at these places.
    func subset(_ places: [Int], named chosen: PropertyNames) -> PackedProperties? {
        var page = PackedPage()
        return withUnsafeBytes { page.copy($0, named: names, only: places, named: chosen) }
    }

    /// Returns the values with a further one at the end.
    ///
    /// - Parameters:
    ///   - value: The bytes of one flat value.
    ///   - longer: The names with a further one at the end.
    func appending(_ value: UnsafeRawBufferPointer, named longer: PropertyNames) -> PackedProperties {
        withUnsafeBytes { bytes in
            PackedProperties(names: longer, capacity: bytes.count + value.count) { target in
                target.copyMemory(from: bytes)
                UnsafeMutableRawBufferPointer(rebasing: target[bytes.count...]).copyMemory(from: value)
                return bytes.count + value.count
            }
        }
    }

    /// Returns the values with those of `other` in their place. Returns `nil` if `other` has further names, or a nested
    /// value that is not encoded.
    func merging(_ other: PropertyValues) -> PackedProperties? {
        if let packed = other.packed {
            return packed.withUnsafeBytes { merging($0, named: packed.names.names) }
        }
        var writer = ByteWriter(minimumCapacity: 16 * other.count)
        for value in other.values {
            guard value.isFlat else { return nil }
            writer.value(value)
        }
        return writer.bytes.withUnsafeBytes { merging($0, named: other.names) }
    }

    private func merging(_ others: UnsafeRawBufferPointer, named otherNames: [String]) -> PackedProperties? {
        let names = names
        return withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: names.count) { values in
                var cursor = PackedCursor(bytes)
                for place in values.indices { values.initializeElement(at: place, to: cursor.passValue()) }
                cursor = PackedCursor(others)
                for name in otherNames {
                    guard let place = names.place(of: name) else { return nil }
                    values[place] = cursor.passValue()
                }
                return PackedProperties(names: names, capacity: values.reduce(0) { $0 + $1.count }) { target in
                    var filled = 0
                    for value in values {
                        UnsafeMutableRawBufferPointer(rebasing: target[filled...]).copyMemory(from: value)
                        filled += value.count
                    }
                    return filled
                }
            }
        }
    }

    /// Returns the value at the offset of the bytes and advances the offset past it.
    func value(at offset: inout Int) -> Value {
        withUnsafeBytes { bytes in
            var cursor = PackedCursor(bytes, at: offset)
            defer { offset = cursor.offset }
            return Self.value(&cursor)
        }
    }

    private static func value(_ cursor: inout PackedCursor) -> Value { cursor.next().map { Value($0) } ?? .null }

    /// Whether the values are equal one by one. Both must have the same names.
    func hasSameValues(as other: PackedProperties) -> Bool {
        let count = names.count
        return withUnsafeBytes { a in
            other.withUnsafeBytes { b in
                var (x, y) = (PackedCursor(a), PackedCursor(b))
                for _ in 0..<count {
                    let (start, otherStart) = (x.offset, y.offset)
                    x.skip()
                    y.skip()
                    let (one, two) = (a[start..<x.offset], b[otherStart..<y.offset])
                    if Self.areSurelyEqual(.init(rebasing: one), .init(rebasing: two)) { continue }
                    // 1.5 equals 1.50, and NaN equals nothing.
                    (x, y) = (PackedCursor(a, at: start), PackedCursor(b, at: otherStart))
                    guard Self.value(&x) == Self.value(&y) else { return false }
                }
                return true
            }
        }
    }

    /// Returns whether the names and the bytes are identical.
    func isIdentical(to other: PackedProperties) -> Bool {
        guard byteCount == other.byteCount, names === other.names || names.hasSameBytes(as: other.names) else {
            return false
        }
        return withUnsafeBytes { a in other.withUnsafeBytes { a.hasSameBytes(as: $0) } }
    }

    private static func areSurelyEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.hasSameBytes(as: b) else { return false }
        switch a.first.flatMap(ValueTag.init) {
        case .single, .double, .complex, .collection, nil: return false
        default: return true
        }
    }
}

extension Value {
    var isFlat: Bool {
        switch self {
        case .complex, .collection: false
        default: true
        }
    }
}
