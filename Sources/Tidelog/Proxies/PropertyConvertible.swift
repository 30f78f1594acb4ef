public import EDM

/// A Swift type that a structural property can be read and written as.
public protocol PropertyConvertible: Sendable {
    /// Nil where the value is of another kind or does not fit.
    init?(propertyValue: Value)
    var propertyValue: Value { get }
}

extension EntityValue {
    /// The property's value as a Swift type; nil where it is unset, null, or of another kind. Setting nil means null; the
    /// value is checked when the entity is saved.
    public subscript<T: PropertyConvertible>(property: Property) -> T? {
        get { dataValue(for: property).flatMap { $0.isNull ? nil : T(propertyValue: $0) } }
        set { setDataValue(for: property, to: newValue?.propertyValue.adapted(toItemsOf: property.type)) }
    }

    /// The bytes of a property of type `Edm.Binary`; nil where it is unset or null.
    public subscript(binary property: Property) -> [UInt8]? {
        get {
            guard case .binary(let bytes)? = dataValue(for: property) else { return nil }
            return bytes
        }
        set { setDataValue(for: property, to: newValue.map { .binary($0) }) }
    }
}

extension Value {
    func adapted(toItemsOf type: TypeReference) -> Value {
        guard case .collection(let values) = self else { return adapted(to: type) }
        return .collection(values.map { $0.adapted(to: type.item) })
    }
}

extension Value: PropertyConvertible {
    public init?(propertyValue: Value) { self = propertyValue }
    public var propertyValue: Value { self }
}

/// A string, or the members of an enumeration as the service writes them.
extension String: PropertyConvertible {
    public init?(propertyValue: Value) {
        switch propertyValue {
        case .string(let text), .enumeration(let text): self = text
        default: return nil
        }
    }
    public var propertyValue: Value { .string(self) }
}

extension Int: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard let number = propertyValue.integerValue else { return nil }
        self.init(exactly: number)
    }
    public var propertyValue: Value { .integer(Int64(self)) }
}

extension Bool: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .boolean(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .boolean(self) }
}

extension Float: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .single(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .single(self) }
}

extension Double: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .double(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .double(self) }
}

extension DecimalValue: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .decimal(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .decimal(self) }
}

extension GuidValue: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .guid(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .guid(self) }
}

extension LocalDate: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .date(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .date(self) }
}

extension LocalTime: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .timeOfDay(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .timeOfDay(self) }
}

extension LocalDateTime: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .dateTime(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .dateTime(self) }
}

extension GlobalDateTime: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .dateTimeOffset(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .dateTimeOffset(self) }
}

extension DayTimeDuration: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .duration(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .duration(self) }
}

extension ComplexValue: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .complex(let value) = propertyValue else { return nil }
        self = value
    }
    public var propertyValue: Value { .complex(self) }
}

/// A collection, all of whose items convert. The bytes of `Edm.Binary` are no collection.
extension Array: PropertyConvertible where Element: PropertyConvertible {
    public init?(propertyValue: Value) {
        guard case .collection(let values) = propertyValue else { return nil }
        var items: [Element] = []
        items.reserveCapacity(values.count)
        for value in values {
            guard let item = Element(propertyValue: value) else { return nil }
            items.append(item)
        }
        self = items
    }
    public var propertyValue: Value { .collection(map(\.propertyValue)) }
}
