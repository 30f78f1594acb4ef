public import EDM
import ODataQuery
public import OfflineStore
import SyncCore

/// Setters of property values.
///
/// A value that does not fit the type of the property is refused, with the reason, when the entity is saved.
extension PropertyReference {
    /// Sets the value of a String property, or of a Guid, Date, Decimal or similar property from its text.
    ///
    /// If the text is invalid for the type, the entity is refused when it is saved.
    public func setStringValue(in target: EntityValue, to value: String) { set(.string(value), in: target) }

    /// Sets the value of an `Edm.Boolean` property.
    public func setBooleanValue(in target: EntityValue, to value: Bool) { set(.boolean(value), in: target) }

    /// Sets the value of a property of an integer type, or of Decimal, Double or Single.
    public func setIntValue(in target: EntityValue, to value: Int) { set(.integer(Int64(value)), in: target) }

    /// Sets the value of a property of an integer type, or of Decimal, Double or Single.
    public func setInt64Value(in target: EntityValue, to value: Int64) { set(.integer(value), in: target) }

    /// Sets the value of a Single or Double property.
    public func setFloatValue(in target: EntityValue, to value: Float) { set(.single(value), in: target) }

    /// Sets the value of a Double, Single or Decimal property. A decimal is the shortest number that converts back to
    /// `value`.
    public func setDoubleValue(in target: EntityValue, to value: Double) { set(.double(value), in: target) }

    /// Sets the value of an `Edm.Decimal` property.
    public func setDecimalValue(in target: EntityValue, to value: DecimalValue) { set(.decimal(value), in: target) }

    /// Sets the value of an enumeration property to the name of a member, or to several names joined by commas.
    public func setEnumerationValue(in target: EntityValue, to value: String) { set(.enumeration(value), in: target) }

    /// Sets the value of an `Edm.Guid` property.
    public func setGuidValue(in target: EntityValue, to value: GuidValue) { set(.guid(value), in: target) }

    /// Sets the value of an `Edm.Binary` property.
    public func setBinaryValue(in target: EntityValue, to value: [UInt8]) { set(.binary(value), in: target) }

    /// Sets the value of an `Edm.Date` property.
    public func setDateValue(in target: EntityValue, to value: LocalDate) { set(.date(value), in: target) }

    /// Sets the value of an `Edm.TimeOfDay` property.
    public func setTimeOfDayValue(in target: EntityValue, to value: LocalTime) { set(.timeOfDay(value), in: target) }

    /// Sets the value of an `Edm.DateTime` property of V2.
    public func setDateTimeValue(in target: EntityValue, to value: LocalDateTime) { set(.dateTime(value), in: target) }

    /// Sets the value of an `Edm.DateTimeOffset` property.
    public func setDateTimeOffsetValue(in target: EntityValue, to value: GlobalDateTime) {
        set(.dateTimeOffset(value), in: target)
    }

    /// Sets the value of an `Edm.Duration` property, or of an `Edm.Time` property of V2.
    public func setDurationValue(in target: EntityValue, to value: DayTimeDuration) {
        set(.duration(value), in: target)
    }

    /// Sets the value of a property of a complex type.
    public func setComplexValue(in target: EntityValue, to value: ComplexValue) { set(.complex(value), in: target) }

    /// Sets the items of a collection. Each one is converted like a single value.
    public func setCollectionValue(in target: EntityValue, to value: [Value]) { set(.collection(value), in: target) }

    /// Sets the value from a Swift type: an enumeration of the generated code, an array, a type of Foundation. `nil`
    /// sets it to null.
    public func setTypedValue<T: PropertyConvertible>(in target: EntityValue, to value: T?) {
        target[property] = value
    }

    /// Sets the value of the property. `nil` sets it to null.
    public func setDataValue(in target: EntityValue, to value: Value?) { target.setDataValue(for: self, to: value) }

    /// Sets the target of a single-valued navigation property.
    ///
    /// A new entity is created together with `target` (deep insert); an existing one is bound.
    public func setEntityValue(in target: EntityValue, to value: EntityValue) {
        target.relation(property).replace([value])
    }

    /// Sets the new entities of a collection-valued navigation property, which are created together with `target`.
    public func setEntityList(in target: EntityValue, to value: [EntityValue]) {
        target.relation(property).replace(value)
    }

    /// Sets a value, converted to the type of the property if Swift's own types are ambiguous.
    private func set(_ value: Value, in target: EntityValue) {
        target.setDataValue(for: self, to: value.adapted(toItemsOf: property.type))
    }
}

extension StructuredType {
    /// Returns the property with the given name, including inherited properties.
    ///
    /// - Throws: `refused(.unknownProperty)` if there is no such property.
    public func property(withName name: String) throws(TidelogError) -> Property {
        guard let property = findProperty(name) else {
            throw TidelogError(.refused(.unknownProperty), "\(self.name) has no property \(name).")
        }
        return property
    }
}

extension Value {
    /// Returns the value converted to the type if Swift's own types are ambiguous: an integer to a decimal, a text to
    /// a guid.
    ///
    /// A value that cannot be converted is returned unchanged, and is refused with a reason when it is used.
    func adapted(to type: TypeReference) -> Value {
        guard !type.isCollection else { return self }
        switch (type.kind, self) {
        case (.enumeration, .string(let text)): return .enumeration(text)
        case (.complex(let declared), .complex(let value)) where value.type == declared:
            // A complex value contains its type name only if it differs from the declared type.
            return .complex(ComplexValue(properties: value.properties))
        default: break
        }
        guard let primitive = type.primitive else { return self }
        switch (self, primitive) {
        case (.integer(let number), .decimal): return .decimal(DecimalValue(number))
        case (.integer(let number), .double): return .double(Double(number))
        case (.integer(let number), .single): return .single(Float(number))
        case (.single(let number), .double): return .double(Double(number))
        case (.double(let number), .single): return .single(Float(number))
        case (.double(let number), .decimal): return .decimal(DecimalValue(number))
        case (.string(let text), let other) where other != .string:
            let parsed = try? PrimitiveLiteral.parse(text, as: other, facets: nil, version: .v4, form: .json)
            return parsed ?? self
        default: return self
        }
    }
}

extension GuidValue {
    /// Returns a random guid (RFC 9562, version 4), suitable as a key that no other client chooses.
    public static func random() -> GuidValue {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return GuidValue(high: high, low: low)
    }

    /// Returns the guid as text, equal to its `description`.
    public func toString() -> String { description }
}
