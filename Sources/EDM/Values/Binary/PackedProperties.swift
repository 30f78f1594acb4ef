/// Property values that stay encoded until one is accessed.
///
/// The bytes are validated first, so that later reads cannot fail. They belong to one row and keep nothing else
/// alive.
package struct PackedProperties: Sendable {
    package let names: PropertyNames
    /// The values in the encoding of ``ByteWriter/value(_:)``, concatenated, one for each name.
    package let bytes: [UInt8]

    /// Creates values from bytes that ``PackedCursor/check()`` has accepted.
    init(names: PropertyNames, checked bytes: [UInt8]) {
        self.names = names
        self.bytes = bytes
    }

    /// Copies untrusted bytes. Returns `nil` if they are not the canonical encoding of one value per name.
    package init?(names: PropertyNames, copying bytes: UnsafeRawBufferPointer) {
        guard Self.isValid(bytes, count: names.count) else { return nil }
        self.init(names: names, checked: Array(bytes))
    }

    /// Whether the bytes are the canonical encoding of this number of values.
    private static func isValid(_ bytes: UnsafeRawBufferPointer, count: Int) -> Bool {
        var cursor = PackedCursor(bytes)
        for _ in 0..<count { guard cursor.check() else { return false } }
        return cursor.offset == bytes.count
    }

    /// Checks untrusted bytes as a whole, and copies the values at some places.
    ///
    /// - Parameters:
    ///   - places: In ascending order, within the names.
    ///   - chosen: The names at these places.
    init?(names: PropertyNames, copying bytes: UnsafeRawBufferPointer, only places: [Int], named chosen: PropertyNames)
    {
        var isValid = !bytes.isEmpty || names.count == 0
        let copy = [UInt8](unsafeUninitializedCapacity: bytes.count) { copy, count in
            guard let source = bytes.baseAddress, let target = copy.baseAddress else { return }
            var cursor = PackedCursor(bytes)
            var next = 0
            for place in 0..<names.count {
                let start = cursor.offset
                isValid = isValid && cursor.check()
                guard isValid, next < places.count, places[next] == place else { continue }
                let length = cursor.offset - start
                UnsafeMutableRawPointer(target + count).copyMemory(from: source + start, byteCount: length)
                count += length
                next += 1
            }
            isValid = isValid && cursor.offset == bytes.count
        }
        guard isValid else { return nil }
        self.init(names: chosen, checked: copy)
    }

    /// Encodes values. Returns `nil` if a value is nested too deeply to be read again.
    init?(names: PropertyNames, _ values: [Value]) {
        var writer = ByteWriter()
        writer.bytes.reserveCapacity(16 * values.count)
        var areFlat = true
        for value in values {
            writer.value(value)
            areFlat = areFlat && value.isFlat
        }
        // Only nested values can be too deep; flat values are always readable.
        guard areFlat || writer.bytes.withUnsafeBytes({ Self.isValid($0, count: values.count) }) else { return nil }
        self.init(names: names, checked: writer.bytes)
    }

    var values: [Value] {
        bytes.withUnsafeBytes { bytes in
            var cursor = PackedCursor(bytes)
            return names.names.map { _ in Self.value(&cursor) }
        }
    }

    /// Calls the closure with each encoded name and value, without decoding them.
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
        return value(atIndex: place)
    }

    /// Returns the value with this index, which must be less than the number of names.
    func value(atIndex place: Int) -> Value {
        bytes.withUnsafeBytes { bytes in
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
    func subset(_ places: [Int], named chosen: PropertyNames) -> PackedProperties? {
        bytes.withUnsafeBytes { PackedProperties(names: names, copying: $0, only: places, named: chosen) }
    }

    /// Returns the value at the offset of ``bytes`` and advances the offset past it.
    static func value(in bytes: [UInt8], at offset: inout Int) -> Value {
        bytes.withUnsafeBytes { bytes in
            var cursor = PackedCursor(bytes, at: offset)
            defer { offset = cursor.offset }
            return value(&cursor)
        }
    }

    private static func value(_ cursor: inout PackedCursor) -> Value { cursor.next().map { Value($0) } ?? .null }

    /// Whether the values are equal one by one. Both must have the same names.
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
                    // 1.5 equals 1.50, and NaN equals nothing.
                    (x, y) = (PackedCursor(a, at: start), PackedCursor(b, at: otherStart))
                    guard Self.value(&x) == Self.value(&y) else { return false }
                }
                return true
            }
        }
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
    fileprivate var isFlat: Bool {
        switch self {
        case .complex, .collection: false
        default: true
        }
    }
}
