/// A value of a structural property. Its type follows from the property, or from the type name in a complex value;
/// integers of all widths share one case.
public enum Value: Sendable, Hashable {
    /// The null value, which differs from an unset property.
    case null
    /// An `Edm.Boolean`.
    case boolean(Bool)
    /// `Edm.Byte`, `SByte`, `Int16`, `Int32`, `Int64`.
    case integer(Int64)
    /// An `Edm.Single`.
    case single(Float)
    /// An `Edm.Double`.
    case double(Double)
    /// An `Edm.Decimal`, with all digits.
    case decimal(DecimalValue)
    /// An `Edm.String`.
    case string(String)
    /// An `Edm.Binary`.
    case binary([UInt8])
    /// An `Edm.Guid`.
    case guid(GuidValue)
    /// An `Edm.Date`.
    case date(LocalDate)
    /// An `Edm.TimeOfDay`.
    case timeOfDay(LocalTime)
    /// `Edm.Duration`, and `Edm.Time` of V2.
    case duration(DayTimeDuration)
    /// `Edm.DateTime` of V2, without an offset.
    case dateTime(LocalDateTime)
    /// An `Edm.DateTimeOffset`.
    case dateTimeOffset(GlobalDateTime)
    /// The name of a member, several names joined by commas, or a number, as written by the service.
    case enumeration(String)
    /// JSON text as received: geo types, untyped values.
    case raw(String)
    /// A value of a complex type.
    indirect case complex(ComplexValue)
    /// The items of a collection, in order.
    case collection([Value])
}

extension Value {
    /// Returns whether the values have the same kind and meaning: texts are compared by code units, decimals by their
    /// number.
    public static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.single(let a), .single(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.decimal(let a), .decimal(let b)): a == b
        case (.string(let a), .string(let b)), (.enumeration(let a), .enumeration(let b)), (.raw(let a), .raw(let b)):
            a.isExactly(b)
        case (.binary(let a), .binary(let b)): a == b
        case (.guid(let a), .guid(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        case (.timeOfDay(let a), .timeOfDay(let b)): a == b
        case (.duration(let a), .duration(let b)): a == b
        case (.dateTime(let a), .dateTime(let b)): a == b
        case (.dateTimeOffset(let a), .dateTimeOffset(let b)): a == b
        case (.complex(let a), .complex(let b)): a == b
        case (.collection(let a), .collection(let b)): a == b
        default: false
        }
    }
}

/// A complex value: properties by name, and its type if it differs from the declared one.
public struct ComplexValue: Sendable, Hashable {
    /// The qualified type name, if the payload contains one or the type is derived from the declared one.
    public var type: String?
    /// The values of the properties that are set.
    public var properties: PropertyValues

    /// Creates a complex value.
    ///
    /// - Parameters:
    ///   - type: the qualified type name, if it differs from the declared one.
    ///   - properties: the values of the properties.
    public init(type: String? = nil, properties: PropertyValues) {
        self.type = type
        self.properties = properties
    }
}
