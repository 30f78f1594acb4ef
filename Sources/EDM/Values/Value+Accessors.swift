extension Value {
    /// The kind of value, for messages: `a string`, `a whole number`.
    public var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "a Boolean"
        case .integer: "an integer"
        case .single, .double: "a floating point number"
        case .decimal: "a decimal number"
        case .string: "a string"
        case .binary: "binary"
        case .guid: "a GUID"
        case .date: "a date"
        case .timeOfDay: "a time of day"
        case .duration: "a duration"
        case .dateTime: "a date and time"
        case .dateTimeOffset: "a date and time with offset"
        case .enumeration: "an enumeration value"
        case .raw: "raw JSON"
        case .complex: "a complex value"
        case .collection: "a collection"
        }
    }

    /// A Boolean value that indicates whether the value is null.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The Boolean, or `nil` for other kinds of values.
    public var booleanValue: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The integer of any width, or `nil` for other kinds of values, including decimals and floating point numbers.
    public var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The string, or `nil` for other kinds of values, including enumeration values.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The GUID, or `nil` for other kinds of values.
    public var guidValue: GuidValue? {
        if case .guid(let value) = self { value } else { nil }
    }

    /// The complex value, or `nil` for other kinds of values.
    public var complexValue: ComplexValue? {
        if case .complex(let value) = self { value } else { nil }
    }

    /// The items of a collection, in order, or `nil` for other kinds of values.
    public var collectionValue: [Value]? {
        if case .collection(let values) = self { values } else { nil }
    }

    /// The value of any kind of number as an exact decimal, or `nil` if it is not a number.
    public var decimalValue: DecimalValue? {
        switch self {
        case .integer(let value): DecimalValue(value)
        case .single(let value): DecimalValue(Double(value))
        case .double(let value): DecimalValue(value)
        case .decimal(let value): value
        default: nil
        }
    }
}
