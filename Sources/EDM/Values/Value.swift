/// A value of a structural property. What type it is of is known from the property, or from the value's own type name in a
/// complex value; whole numbers of all widths share one case.
public enum Value: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// `Edm.Byte`, `SByte`, `Int16`, `Int32`, `Int64`.
    case integer(Int64)
    case single(Float)
    case double(Double)
    case decimal(DecimalValue)
    case string(String)
    case binary([UInt8])
    case guid(GuidValue)
    case date(LocalDate)
    case timeOfDay(LocalTime)
    /// `Edm.Duration`, and `Edm.Time` of V2.
    case duration(DayTimeDuration)
    /// `Edm.DateTime` of V2: no offset.
    case dateTime(LocalDateTime)
    case dateTimeOffset(GlobalDateTime)
    /// A member's name, several joined with commas, or a number, as the service wrote it.
    case enumeration(String)
    /// A JSON text kept as it came: geo types, untyped values.
    case raw(String)
    indirect case complex(ComplexValue)
    case collection([Value])
}

/// A complex value: properties by name, and its type where it is not the declared one.
public struct ComplexValue: Sendable, Hashable {
    /// The qualified type name, where the payload named one or the type is derived from the declared one.
    public var type: String?
    public var properties: PropertyValues

    public init(type: String? = nil, properties: PropertyValues) {
        self.type = type
        self.properties = properties
    }
}

/// Property values by name, in a fixed order. An absent name is *unset*, which is not the same as `null`.
public struct PropertyValues: Sendable, Hashable {
    public private(set) var names: [String]
    public private(set) var values: [Value]

    public init() {
        names = []
        values = []
    }

    public init(_ pairs: [(String, Value)]) {
        self.init()
        for (name, value) in pairs { self[name] = value }
    }

    /// Takes values whose names are known to be all different, of which there are as many.
    package init(distinctNames names: [String], values: [Value]) {
        assert(names.count == values.count && Set(names).count == names.count)
        self.names = names
        self.values = values
    }

    /// Setting `nil` unsets. Cost: linear in the number of properties, which is small.
    public subscript(name: String) -> Value? {
        get { names.firstIndex(of: name).map { values[$0] } }
        set {
            if let index = names.firstIndex(of: name) {
                if let newValue {
                    values[index] = newValue
                } else {
                    names.remove(at: index)
                    values.remove(at: index)
                }
            } else if let newValue {
                names.append(name)
                values.append(newValue)
            }
        }
    }

    public var isEmpty: Bool { names.isEmpty }
    public var count: Int { names.count }

    /// Takes over every value of `other`.
    public mutating func merge(_ other: PropertyValues) {
        // Whole representations of the same type: the names are the same ones, and so need not be looked for.
        if isEmpty || names == other.names {
            self = other
            return
        }
        for (name, value) in other { self[name] = value }
    }

    /// Equality regardless of order.
    public static func == (a: PropertyValues, b: PropertyValues) -> Bool {
        a.count == b.count && a.allSatisfy { b[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        for name in names.sorted() {
            hasher.combine(name)
            hasher.combine(self[name])
        }
    }
}

extension PropertyValues: Sequence {
    public struct Iterator: IteratorProtocol {
        let base: PropertyValues
        var index = 0

        public mutating func next() -> (name: String, value: Value)? {
            guard index < base.count else { return nil }
            defer { index += 1 }
            return (base.names[index], base.values[index])
        }
    }

    public func makeIterator() -> Iterator { Iterator(base: self) }
}

extension PropertyValues: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }
}
