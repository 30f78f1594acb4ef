/// Property values that stay the bytes they are encoded in until somebody asks for one.
///
/// The bytes are checked before, so that reading them later cannot fail. They are the row's own and keep nothing else alive.
package struct PackedProperties: Sendable {
    package let names: PropertyNames
    /// The values, one behind the other, as ``ByteWriter/value(_:)`` writes them: as many as there are names.
    package let bytes: [UInt8]

    /// From bytes that ``PackedCursor/check()`` has passed over.
    init(names: PropertyNames, checked bytes: [UInt8]) {
        self.names = names
        self.bytes = bytes
    }

    /// A copy of bytes that anybody may have written; nil where they are not so many values, each as a writer writes it.
    package init?(names: PropertyNames, copying bytes: UnsafeRawBufferPointer) {
        var cursor = PackedCursor(bytes)
        for _ in 0..<names.count { guard cursor.check() else { return nil } }
        guard cursor.offset == bytes.count else { return nil }
        self.init(names: names, checked: Array(bytes))
    }

    /// Nil where a value is nested deeper than it could be read again.
    init?(names: PropertyNames, _ values: [Value]) {
        var writer = ByteWriter()
        writer.bytes.reserveCapacity(16 * values.count)
        for value in values { writer.value(value) }
        // Only what is in other values can be nested too deeply; all else a writer writes as it is read.
        guard values.allSatisfy(\.isFlat) || Self.isReadable(writer.bytes, count: values.count) else { return nil }
        self.init(names: names, checked: writer.bytes)
    }

    private static func isReadable(_ bytes: [UInt8], count: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var cursor = PackedCursor(bytes)
            return (0..<count).allSatisfy { _ in cursor.check() }
        }
    }

    var values: [Value] {
        bytes.withUnsafeBytes { bytes in
            var cursor = PackedCursor(bytes)
            return names.names.map { _ in Self.value(&cursor) }
        }
    }

    /// Names and values as a writer writes them, in turn, without making either.
    func forEach(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { values in
            names.encoded.withUnsafeBytes { encoded in
                var cursor = PackedCursor(values)
                var next = 0
                for end in names.ends {
                    let start = cursor.offset
                    cursor.skip()
                    body(
                        UnsafeRawBufferPointer(rebasing: encoded[next..<end]),
                        UnsafeRawBufferPointer(rebasing: values[start..<cursor.offset]))
                    next = end
                }
            }
        }
    }

    func value(of name: String) -> Value? {
        guard let place = names.place(of: name) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var cursor = PackedCursor(bytes)
            for _ in 0..<place { cursor.skip() }
            return Self.value(&cursor)
        }
    }

    /// Returns the values at these places, in their encoded form.
    ///
    /// - Parameters:
    ///   - places: In ascending order, within the names.
    ///   - chosen: The names at these places.
    func subset(_ places: [Int], named chosen: PropertyNames) -> PackedProperties {
        let subset = bytes.withUnsafeBytes { bytes in
            [UInt8](unsafeUninitializedCapacity: bytes.count) { copy, count in
                var cursor = PackedCursor(bytes)
                var next = 0
                for place in places {
                    while next < place {
                        cursor.skip()
                        next += 1
                    }
                    let start = cursor.offset
                    cursor.skip()
                    next += 1
                    let value = UnsafeRawBufferPointer(rebasing: bytes[start..<cursor.offset])
                    UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(copy)[count...])
                        .copyMemory(from: value)
                    count += value.count
                }
            }
        }
        return PackedProperties(names: chosen, checked: subset)
    }

    /// The value that begins at the offset, which is behind it afterwards.
    func value(at offset: inout Int) -> Value {
        bytes.withUnsafeBytes { bytes in
            var cursor = PackedCursor(bytes, at: offset)
            defer { offset = cursor.offset }
            return Self.value(&cursor)
        }
    }

    private static func value(_ cursor: inout PackedCursor) -> Value { cursor.next().map { Value($0) } ?? .null }

    /// Whether the values are equal one by one; the names have to be the same.
    func hasSameValues(as other: PackedProperties) -> Bool {
        bytes.withUnsafeBytes { a in
            other.bytes.withUnsafeBytes { b in
                var (x, y) = (PackedCursor(a), PackedCursor(b))
                for _ in 0..<names.count {
                    let (start, otherStart) = (x.offset, y.offset)
                    x.skip()
                    y.skip()
                    let (one, two) = (a[start..<x.offset], b[otherStart..<y.offset])
                    if Self.areSurelyEqual(.init(rebasing: one), .init(rebasing: two)) { continue }
                    // 1.5 is equal to 1.50, and NaN to nothing.
                    (x, y) = (PackedCursor(a, at: start), PackedCursor(b, at: otherStart))
                    guard Self.value(&x) == Self.value(&y) else { return false }
                }
                return true
            }
        }
    }

    private static func areSurelyEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard NameTable.isEqual(a, b) else { return false }
        switch a.first.flatMap(ValueTag.init) {
        case .single, .double, .complex, .collection, nil: return false
        default: return true
        }
    }
}

extension Value {
    fileprivate var isFlat: Bool {
        switch self {
        case .complex, .collection: false
        default: true
        }
    }
}
