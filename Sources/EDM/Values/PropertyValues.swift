/// Property values by name, in a fixed order. An absent name is *unset*, which differs from `null`.
///
/// Values from the log or the views stay encoded until they are accessed: accessing one value decodes that value,
/// accessing all decodes all.
public struct PropertyValues: Sendable, Hashable {
    fileprivate var form: Representation

    /// One reference at most, because rows are copied often.
    fileprivate enum Representation: Sendable {
        case empty
        case plain(PlainProperties)
        case packed(PackedProperties)

        // Members of the enum, because a switch over the stored property retains its object (Swift 6.3).

        /// Returns the value of a property, or `nil` if it is unset.
        func value(of name: String, from position: inout PackedProperties.Position) -> Value? {
            switch self {
            case .empty: nil
            case .plain(let plain): plain.names.firstIndex(of: name).map { plain.values[$0] }
            case .packed(let packed): packed.value(of: name, from: &position)
            }
        }

        var names: [String] {
            switch self {
            case .empty: []
            case .plain(let plain): plain.names
            case .packed(let packed): packed.names.names
            }
        }

        var values: [Value] {
            switch self {
            case .empty: []
            case .plain(let plain): plain.values
            case .packed(let packed): packed.values
            }
        }

        var count: Int {
            switch self {
            case .empty: 0
            case .plain(let plain): plain.names.count
            case .packed(let packed): packed.names.count
            }
        }

        /// Returns the value at an index of the names.
        ///
        /// - Parameter offset: The offset of the value if it is encoded. Becomes that of the next one.
        func value(atIndex index: Int, offset: inout Int) -> Value {
            switch self {
            case .empty: .null
            case .plain(let plain): plain.values[index]
            case .packed(let packed): packed.value(at: &offset)
            }
        }

        /// Appends the names and values.
        func write(to writer: inout ByteWriter) {
            switch self {
            case .empty: break
            case .plain(let plain):
                for index in plain.names.indices {
                    writer.string(plain.names[index])
                    writer.value(plain.values[index])
                }
            case .packed(let packed): writer.packed(packed)
            }
        }

        /// Returns whether the values are encoded with this object of names.
        func hasNames(_ names: PropertyNames) -> Bool {
            if case .packed(let packed) = self { packed.hasNames(names) } else { false }
        }

        /// Returns the value that a lookup finds.
        func value(of lookup: PropertyLookup) -> Value? {
            switch self {
            case .empty: nil
            case .plain(let plain): lookup.value(in: plain.values, named: plain.names)
            case .packed(let packed): lookup.value(in: packed)
            }
        }
    }

    /// Creates an empty collection of values.
    public init() { form = .empty }

    /// Creates values from pairs of names and values, in this order.
    ///
    /// If a name occurs several times, its last value is used at its first place. Cost: O(n²) in the number of pairs.
    public init(_ pairs: [(String, Value)]) {
        self.init()
        if pairs.isEmpty { return }
        let plain = PlainProperties(minimumCapacity: pairs.count)
        for (name, value) in pairs { plain.set(name, value) }
        form = .plain(plain)
    }

    /// Creates values for names that are known to be distinct. Both arrays must have the same count.
    package init(distinctNames names: [String], values: [Value]) {
        assert(names.count == values.count && Set(names).count == names.count)
        form = .plain(PlainProperties(names, values))
    }

    package init(_ packed: PackedProperties) { form = .packed(packed) }

    /// Creates encoded values from the bytes of a writer: one flat value for each name.
    package init(_ writer: borrowing ByteWriter, named names: PropertyNames) {
        form = .packed(writer.bytes.withUnsafeBytes { PackedProperties(names: names, checked: $0) })
    }

    /// The names of the properties that are set, in order.
    public var names: [String] { form.names }

    /// The values in the order of ``names``. Cost: O(n) if they are encoded, otherwise O(1).
    public var values: [Value] { form.values }

    /// The value of a property. Setting `nil` unsets it. Cost: O(n) in the number of properties, which is small.
    public subscript(name: String) -> Value? {
        get {
            var start = PackedProperties.Position()
            return form.value(of: name, from: &start)
        }
        set {
            if let newValue {
                modify { $0.set(name, newValue) }
            } else if names.contains(name) {
                modify { $0.remove(name) }
            }
        }
    }

    /// Calls the closure with the decoded properties, and stores its changes.
    private mutating func modify(_ change: (PlainProperties) -> Void) {
        var plain: PlainProperties
        switch form {
        case .empty: plain = PlainProperties(minimumCapacity: 4)
        case .plain(let shared): plain = shared
        case .packed(let packed): plain = PlainProperties(packed.names.names, packed.values)
        }
        // Releases the stored object, so that it is changed in place.
        form = .empty
        if !isKnownUniquelyReferenced(&plain) { plain = PlainProperties(plain.names, plain.values) }
        change(plain)
        form = .plain(plain)
    }

    /// Returns the value at a path: of a property, or for `Address/Street` of a property of a complex value. `nil` if
    /// it is unset.
    public func value(at path: String) -> Value? {
        guard path.utf8.contains(UInt8(ascii: "/")) else { return self[path] }
        let names = path.split(separator: "/")
        var value = names.first.flatMap { self[String($0)] }
        for name in names.dropFirst() { value = value?.complexValue?.properties[String(name)] }
        return value
    }

    /// Sets the value at a path. Unset or null complex values on the path are created. If a value on the path is not
    /// complex, nothing is changed.
    public mutating func set(_ value: Value, at path: String) { set(value, at: path.split(separator: "/")[...]) }

    private mutating func set(_ value: Value, at path: ArraySlice<Substring>) {
        guard let name = path.first.map(String.init) else { return }
        guard path.count > 1 else {
            self[name] = value
            return
        }
        var inner: ComplexValue
        switch self[name] {
        case .complex(let known)?: inner = known
        case nil, .null?: inner = ComplexValue(properties: [:])
        default: return
        }
        inner.properties.set(value, at: path.dropFirst())
        self[name] = .complex(inner)
    }

    /// A Boolean value that indicates whether no property is set.
    public var isEmpty: Bool { count == 0 }

    /// The number of properties that are set.
    public var count: Int { form.count }

    /// Sets all values of `other`.
    public mutating func merge(_ other: PropertyValues) {
        // Complete representations of the same type have the same names, so no lookup is needed.
        if isEmpty || names == other.names {
            self = other
            return
        }
        // The values stay encoded, because most rows are encoded again.
        if let merged = packed?.merging(other) {
            form = .packed(merged)
        } else {
            modify { plain in for (name, value) in other { plain.set(name, value) } }
        }
    }

    /// Calls `body` with each encoded name and value. Returns `false` without calling `body` if the values are not
    /// encoded.
    package func forEachPacked(
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        guard let packed else { return false }
        packed.forEach(body)
        return true
    }

    /// Equality independent of order.
    public static func == (a: PropertyValues, b: PropertyValues) -> Bool {
        if let a = a.packed, let b = b.packed, a.names === b.names || a.names.names == b.names.names {
            return a.hasSameValues(as: b)
        }
        guard a.count == b.count else { return false }
        // Usually both have the same names in the same order, so no lookup is needed.
        if a.names == b.names { return zip(a, b).allSatisfy { $0.value == $1.value } }
        return a.allSatisfy { b[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        for name in names.sorted() {
            hasher.combine(name)
            hasher.combine(self[name])
        }
    }
}

// MARK: Encoded values

extension PropertyValues {
    /// The encoded values, if they are encoded.
    package var packed: PackedProperties? {
        if case .packed(let packed) = form { packed } else { nil }
    }

    /// Returns whether the values are encoded with this object of names.
    func hasNames(_ names: PropertyNames) -> Bool { form.hasNames(names) }

    /// Appends the names and values; see ``ByteWriter/properties(_:)``.
    func write(to writer: inout ByteWriter) { form.write(to: &writer) }

    /// Returns whether both are encoded, with the same names in the same order and the same notation of each value:
    /// `1.5` differs from `1.50`. True also if a value is NaN, which equals nothing.
    package func hasSameEncoding(as other: PropertyValues) -> Bool {
        guard let packed, let other = other.packed else { return false }
        return packed.isIdentical(to: other)
    }

    /// Encodes the values if they can be encoded.
    package mutating func encode(with names: NameTable) {
        if case .plain(let plain) = form, let packed = names.packed(plain.names, plain.values) {
            form = .packed(packed)
        }
    }

    /// Sets the value of a property. Encoded values stay encoded if the new one can be encoded.
    ///
    /// - Parameter names: the cache of name lists.
    package mutating func set(_ value: Value, of name: String, with names: NameTable) {
        guard let packed else { return self[name] = value }
        let changed =
            packed.names.place(of: name) == nil
            ? names.appending(value, name, to: packed)
            : packed.merging(PropertyValues(distinctNames: [name], values: [value]))
        if let changed { form = .packed(changed) } else { self[name] = value }
    }

    /// Returns the values encoded, or `nil` if they cannot be: with very long or very many names, or nested too
    /// deeply.
    ///
    /// - Parameter names: the cache of name lists.
    package func packed(with names: NameTable) -> PackedProperties? {
        switch form {
        case .packed(let packed): packed
        case .plain(let plain): names.packed(plain.names, plain.values)
        case .empty: names.packed([], [])
        }
    }
}

/// Decoded names and values. Copies of ``PropertyValues`` share them until one of the copies is changed.
///
/// `@unchecked Sendable`, because it is only changed while a single value refers to it, like the storage of an array.
private final class PlainProperties: @unchecked Sendable {
    /// As many as there are values.
    private(set) var names: [String]
    private(set) var values: [Value]

    init(_ names: [String], _ values: [Value]) {
        self.names = names
        self.values = values
    }

    init(minimumCapacity: Int) {
        (names, values) = ([], [])
        names.reserveCapacity(minimumCapacity)
        values.reserveCapacity(minimumCapacity)
    }

    func set(_ name: String, _ value: Value) {
        if let index = names.firstIndex(of: name) {
            values[index] = value
        } else {
            names.append(name)
            values.append(value)
        }
    }

    func remove(_ name: String) {
        guard let index = names.firstIndex(of: name) else { return }
        names.remove(at: index)
        values.remove(at: index)
    }
}

/// A place in property values that are read one by one.
///
/// Encoded values are usually read in their order, so each one is searched from the place after the previous one.
package struct PropertyPosition: Sendable {
    fileprivate var packed = PackedProperties.Position()

    /// Creates the position of the first value.
    package init() {}
}

extension PropertyValues {
    /// Returns the value of a property, or `nil` if it is unset.
    ///
    /// - Parameter position: A position in these values. Becomes the position after the property.
    package func value(of name: String, from position: inout PropertyPosition) -> Value? {
        form.value(of: name, from: &position.packed)
    }
}

/// A property that is read from rows that mostly have the same names.
package final class PropertyLookup {
    private let name: String
    /// The names of the previous row, and the index of the property in them.
    private var last: (names: PropertyNames?, place: Int?) = (nil, nil)

    package init(_ name: String) { self.name = name }

    /// Returns the value of the property; nil if it is unset.
    package func callAsFunction(_ values: borrowing PropertyValues) -> Value? { values.form.value(of: self) }

    fileprivate func value(in values: [Value], named names: [String]) -> Value? {
        names.firstIndex(of: name).map { values[$0] }
    }

    fileprivate func value(in packed: PackedProperties) -> Value? {
        if !packed.hasNames(last.names) { last = (packed.names, packed.names.place(of: name)) }
        return last.place.map { packed.value(atIndex: $0) }
    }
}

// MARK: Conformances

extension PropertyValues: Sequence {
    /// The names and values in their order. Encoded values are decoded one after the other.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let names: [String]
        private let form: Representation
        @usableFromInline private(set) var index = 0
        /// The offset of the next encoded value.
        private var offset = 0

        fileprivate init(_ properties: PropertyValues) { (names, form) = (properties.names, properties.form) }

        // Inlined, because otherwise each pair is returned in memory and destroyed by way of its metadata (Swift 6.3).
        @inlinable
        public mutating func next() -> (name: String, value: Value)? {
            guard index < names.count else { return nil }
            return (names[index], nextValue())
        }

        /// Returns the value of the next name and advances past it. There must be one.
        @usableFromInline
        mutating func nextValue() -> Value {
            defer { index += 1 }
            return form.value(atIndex: index, offset: &offset)
        }
    }

    public func makeIterator() -> Iterator { Iterator(self) }
}

extension PropertyValues: ExpressibleByDictionaryLiteral {
    /// Creates values from a literal. Of a repeated name, the last value counts.
    public init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }
}

extension PropertyValues: CustomReflectable {
    /// The same for encoded and decoded values.
    public var customMirror: Mirror {
        Mirror(self, children: ["names": names, "values": values], displayStyle: .struct)
    }
}
