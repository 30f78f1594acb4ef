public import EDM

/// A Swift type as which a structural property can be read and written.
public protocol PropertyConvertible: Sendable {
    /// Creates a value, or returns `nil` if the value is of another type or does not fit.
    init?(propertyValue: Value)
    /// The value of a property that contains this Swift value.
    var propertyValue: Value { get }
    /// Returns the value for a property of the given type. By default ``propertyValue``.
    ///
    /// For Swift types that represent several OData types, or that are more precise than a property may be. A value
    /// that the type cannot represent is returned in another form, and is refused with a reason when the entity is
    /// saved.
    func propertyValue(for type: TypeReference, _ facets: Facets) -> Value
    /// The value of a non-nullable property that is unset and has no default in the metadata.
    static var propertyDefault: Self { get }
}

extension PropertyConvertible {
    /// Returns ``propertyValue``, for types that have only one form.
    public func propertyValue(for type: TypeReference, _ facets: Facets) -> Value { propertyValue }

    /// Returns the value for the property, converted if Swift's own types are ambiguous.
    func value(for property: Property) -> Value {
        propertyValue(for: property.type, property.facets).adapted(toItemsOf: property.type)
    }
}

extension EntityValue {
    /// The value of the property as a Swift type; `nil` if it is unset, null, or of another type.
    ///
    /// Setting `nil` sets the property to null. The value is checked when the entity is saved.
    public subscript<T: PropertyConvertible>(property: Property) -> T? {
        // Inlined, so that the conversion is not generic in the code of apps.
        @inlinable
        get {
            guard let value = value(of: property.name), !value.isNull else { return nil }
            return T(propertyValue: value)
        }
        set { setDataValue(for: property, to: newValue?.value(for: property)) }
    }
}

extension Value {
    /// Returns the value converted to the type; a collection is converted item by item.
    func adapted(toItemsOf type: TypeReference) -> Value {
        guard case .collection(let values) = self else { return adapted(to: type) }
        return .collection(values.map { $0.adapted(to: type.item) })
    }
}

extension Value: PropertyConvertible {
    /// Creates the value itself.
    public init?(propertyValue: Value) { self = propertyValue }
    /// The value itself.
    public var propertyValue: Value { self }
    /// Null.
    public static var propertyDefault: Value { .null }
}

/// A string, or the members of an enumeration in the service's notation.
extension String: PropertyConvertible {
    /// Creates a string from a string or enumeration value; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        switch propertyValue {
        case .string(let text), .enumeration(let text): self = text
        default: return nil
        }
    }
    /// The value of `Edm.String`.
    public var propertyValue: Value { .string(self) }
    /// The empty string.
    public static var propertyDefault: String { "" }
}

extension Int: PropertyConvertible {
    /// Creates a number from an integer value; returns `nil` for any other value or if it does not fit.
    public init?(propertyValue: Value) {
        guard let number = propertyValue.integerValue else { return nil }
        self.init(exactly: number)
    }
    /// The integer value.
    public var propertyValue: Value { .integer(Int64(self)) }
    /// Zero.
    public static var propertyDefault: Int { 0 }
}

extension Int64: PropertyConvertible {
    /// Creates a number from an integer value; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard let number = propertyValue.integerValue else { return nil }
        self = number
    }
    /// The integer value.
    public var propertyValue: Value { .integer(self) }
    /// Zero.
    public static var propertyDefault: Int64 { 0 }
}

extension Bool: PropertyConvertible {
    /// Creates a Boolean from a value of `Edm.Boolean`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .boolean(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.Boolean`.
    public var propertyValue: Value { .boolean(self) }
    /// False.
    public static var propertyDefault: Bool { false }
}

extension Float: PropertyConvertible {
    /// Creates a number from a value of `Edm.Single`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .single(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.Single`.
    public var propertyValue: Value { .single(self) }
    /// Zero.
    public static var propertyDefault: Float { 0 }
}

extension Double: PropertyConvertible {
    /// Creates a number from a value of `Edm.Double`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .double(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.Double`.
    public var propertyValue: Value { .double(self) }
    /// Zero.
    public static var propertyDefault: Double { 0 }
}

extension DecimalValue: PropertyConvertible {
    /// Creates a number from a value of `Edm.Decimal`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .decimal(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.Decimal`.
    public var propertyValue: Value { .decimal(self) }
    /// Zero.
    public static var propertyDefault: DecimalValue { DecimalValue(0 as Int64) }
}

extension GuidValue: PropertyConvertible {
    /// Creates a guid from a value of `Edm.Guid`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .guid(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.Guid`.
    public var propertyValue: Value { .guid(self) }
    /// The guid of zeros.
    public static var propertyDefault: GuidValue { GuidValue(high: 0, low: 0) }
}

extension LocalDate: PropertyConvertible {
    /// Creates a date from a value of `Edm.Date`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .date(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.Date`.
    public var propertyValue: Value { .date(self) }
    /// The day 1970-01-01.
    public static var propertyDefault: LocalDate { .epoch }
}

extension LocalTime: PropertyConvertible {
    /// Creates a time from a value of `Edm.TimeOfDay`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .timeOfDay(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.TimeOfDay`.
    public var propertyValue: Value { .timeOfDay(self) }
    /// Midnight.
    public static var propertyDefault: LocalTime { .midnight }
}

extension LocalDateTime: PropertyConvertible {
    /// Creates a date and time from a value of `Edm.DateTime`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .dateTime(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.DateTime`.
    public var propertyValue: Value { .dateTime(self) }
    /// The beginning of the day 1970-01-01.
    public static var propertyDefault: LocalDateTime { LocalDateTime(date: .epoch, time: .midnight) }
}

extension GlobalDateTime: PropertyConvertible {
    /// Creates a point in time from a value of `Edm.DateTimeOffset`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .dateTimeOffset(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.DateTimeOffset`.
    public var propertyValue: Value { .dateTimeOffset(self) }
    /// The beginning of the day 1970-01-01 in UTC.
    public static var propertyDefault: GlobalDateTime { GlobalDateTime(utc: .propertyDefault) }
}

extension DayTimeDuration: PropertyConvertible {
    /// Creates a duration from a value of `Edm.Duration`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .duration(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of `Edm.Duration`.
    public var propertyValue: Value { .duration(self) }
    /// The duration of zero.
    public static var propertyDefault: DayTimeDuration { .zero }
}

/// A duration, rounded toward zero to picoseconds.
extension Duration: PropertyConvertible {
    /// Creates a duration from a value of `Edm.Duration`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .duration(let value) = propertyValue else { return nil }
        self.init(value)
    }
    /// A duration of more than `Int64.max` seconds is a number of seconds, which is refused when the entity is
    /// saved.
    public var propertyValue: Value {
        if let duration = DayTimeDuration(self) { return .duration(duration) }
        return .double(self / .seconds(1))
    }
    /// The duration of zero.
    public static var propertyDefault: Duration { .zero }
}

extension GeoShape: PropertyConvertible {
    /// Creates a shape from a geography or geometry value; returns `nil` for any other value.
    public init?(propertyValue: Value) { self.init(propertyValue) }
    /// The geography or geometry value.
    public var propertyValue: Value { value }
    /// An empty point.
    public static var propertyDefault: GeoShape { GeoShape(.point(nil)) }
}

extension ComplexValue: PropertyConvertible {
    /// Creates a complex value from a value of a complex type; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .complex(let value) = propertyValue else { return nil }
        self = value
    }
    /// The value of a complex type.
    public var propertyValue: Value { .complex(self) }
    /// A complex value without properties.
    public static var propertyDefault: ComplexValue { ComplexValue(properties: PropertyValues()) }
}

/// One byte of `Edm.Binary`, whose values are byte arrays.
extension UInt8: PropertyConvertible {
    /// Creates a byte from an integer value; returns `nil` for any other value or if it does not fit.
    public init?(propertyValue: Value) {
        guard let number = propertyValue.integerValue else { return nil }
        self.init(exactly: number)
    }
    /// The integer value.
    public var propertyValue: Value { .integer(Int64(self)) }
    /// Zero.
    public static var propertyDefault: UInt8 { 0 }
}

/// A collection whose items all convert; an array of bytes is a value of `Edm.Binary`.
extension Array: PropertyConvertible where Element: PropertyConvertible {
    /// Creates an array from a collection, or bytes from a value of `Edm.Binary`.
    ///
    /// Returns `nil` for any other value, or if an item does not convert. O(n).
    public init?(propertyValue: Value) {
        if case .binary(let bytes) = propertyValue {
            guard Element.self == UInt8.self, let bytes = bytes as? [Element] else { return nil }
            self = bytes
            return
        }
        guard case .collection(let values) = propertyValue, Element.self != UInt8.self else { return nil }
        var items: [Element] = []
        items.reserveCapacity(values.count)
        for value in values {
            guard let item = Element(propertyValue: value) else { return nil }
            items.append(item)
        }
        self = items
    }
    /// The value of `Edm.Binary` for bytes, otherwise a collection. O(n).
    public var propertyValue: Value {
        // Check the element type, because an empty array of any type casts to an array of bytes.
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return .binary(bytes) }
        return .collection(map(\.propertyValue))
    }
    /// Returns the collection whose items are converted for the item type; for bytes `propertyValue`. O(n).
    public func propertyValue(for type: TypeReference, _ facets: Facets) -> Value {
        if Element.self == UInt8.self { return propertyValue }
        return .collection(map { $0.propertyValue(for: type.item, facets) })
    }
    /// The empty array.
    public static var propertyDefault: [Element] { [] }
}
