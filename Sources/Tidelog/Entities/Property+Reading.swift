public import EDM
public import OfflineStore

/// Readers of property values.
///
/// Each type has two readers: `intValue(from:)` throws `invalidRequest` if the property is unset, null or of another
/// type, and `optionalInt(from:)` returns `nil` then. A value is converted only if nothing is lost, such as from
/// `Edm.Single` to `Double`.
extension PropertyReference {
    /// Returns the value as a Boolean.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not a Boolean.
    public func booleanValue(from entity: EntityValue) throws(TidelogError) -> Bool {
        try required(optionalBoolean(from: entity), entity, "a Boolean")
    }

    /// Returns the value as a Boolean, or `nil` if there is none.
    public func optionalBoolean(from entity: EntityValue) -> Bool? {
        entity.dataValue(for: self).flatMap { $0.booleanValue }
    }

    /// Returns the value as an integer.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not an integer that fits `Int`.
    public func intValue(from entity: EntityValue) throws(TidelogError) -> Int {
        try required(optionalInt(from: entity), entity, "an integer")
    }

    /// Returns the value as an integer, or `nil` if there is none.
    public func optionalInt(from entity: EntityValue) -> Int? {
        entity.dataValue(for: self).flatMap { $0.integerValue.flatMap { Int(exactly: $0) } }
    }

    /// Returns the value as an integer.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not an integer.
    public func int64Value(from entity: EntityValue) throws(TidelogError) -> Int64 {
        try required(optionalInt64(from: entity), entity, "an integer")
    }

    /// Returns the value as an integer, or `nil` if there is none.
    public func optionalInt64(from entity: EntityValue) -> Int64? {
        entity.dataValue(for: self).flatMap { $0.integerValue }
    }

    /// Returns the value as a single-precision number.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of `Edm.Single`.
    public func floatValue(from entity: EntityValue) throws(TidelogError) -> Float {
        try required(optionalFloat(from: entity), entity, "a single-precision number")
    }

    /// Returns the value as a single-precision number, or `nil` if there is none.
    public func optionalFloat(from entity: EntityValue) -> Float? {
        entity.dataValue(for: self).flatMap { Float(propertyValue: $0) }
    }

    /// Returns the value as a floating-point number.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of `Edm.Double` or `Edm.Single`.
    public func doubleValue(from entity: EntityValue) throws(TidelogError) -> Double {
        try required(optionalDouble(from: entity), entity, "a floating point number")
    }

    /// Returns the value as a floating-point number, or `nil` if there is none.
    public func optionalDouble(from entity: EntityValue) -> Double? {
        entity.dataValue(for: self).flatMap { $0.exactDouble }
    }

    /// Returns the value as a decimal number.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of `Edm.Decimal` or an integer type.
    public func decimalValue(from entity: EntityValue) throws(TidelogError) -> DecimalValue {
        try required(optionalDecimal(from: entity), entity, "a decimal number")
    }

    /// Returns the value as a decimal number, or `nil` if there is none.
    public func optionalDecimal(from entity: EntityValue) -> DecimalValue? {
        entity.dataValue(for: self).flatMap { $0.exactDecimal }
    }

    /// Returns the value as a string.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not a string.
    public func stringValue(from entity: EntityValue) throws(TidelogError) -> String {
        try required(optionalString(from: entity), entity, "a string")
    }

    /// Returns the value as a string, or `nil` if there is none.
    public func optionalString(from entity: EntityValue) -> String? {
        entity.dataValue(for: self).flatMap { $0.stringValue }
    }

    /// Returns the value as the member names of an enumeration.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of an enumeration type.
    public func enumerationValue(from entity: EntityValue) throws(TidelogError) -> String {
        try required(optionalEnumeration(from: entity), entity, "an enumeration value")
    }

    /// Returns the value as the member names of an enumeration, or `nil` if there is none.
    public func optionalEnumeration(from entity: EntityValue) -> String? {
        entity.dataValue(for: self).flatMap { $0.enumerationText }
    }

    /// Returns the value as a GUID.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not a GUID.
    public func guidValue(from entity: EntityValue) throws(TidelogError) -> GuidValue {
        try required(optionalGuid(from: entity), entity, "a GUID")
    }

    /// Returns the value as a GUID, or `nil` if there is none.
    public func optionalGuid(from entity: EntityValue) -> GuidValue? {
        entity.dataValue(for: self).flatMap { $0.guidValue }
    }

    /// Returns the value as bytes.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of `Edm.Binary`.
    public func binaryValue(from entity: EntityValue) throws(TidelogError) -> [UInt8] {
        try required(optionalBinary(from: entity), entity, "binary")
    }

    /// Returns the value as bytes, or `nil` if there is none.
    public func optionalBinary(from entity: EntityValue) -> [UInt8]? {
        entity.dataValue(for: self).flatMap { [UInt8](propertyValue: $0) }
    }

    /// Returns the value as a date.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of `Edm.Date`.
    public func dateValue(from entity: EntityValue) throws(TidelogError) -> LocalDate {
        try required(optionalDate(from: entity), entity, "a date")
    }

    /// Returns the value as a date, or `nil` if there is none.
    public func optionalDate(from entity: EntityValue) -> LocalDate? {
        entity.dataValue(for: self).flatMap { LocalDate(propertyValue: $0) }
    }

    /// Returns the value as a time of day.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of `Edm.TimeOfDay`.
    public func timeOfDayValue(from entity: EntityValue) throws(TidelogError) -> LocalTime {
        try required(optionalTimeOfDay(from: entity), entity, "a time of day")
    }

    /// Returns the value as a time of day, or `nil` if there is none.
    public func optionalTimeOfDay(from entity: EntityValue) -> LocalTime? {
        entity.dataValue(for: self).flatMap { LocalTime(propertyValue: $0) }
    }

    /// Returns the value as a date and time without offset.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of `Edm.DateTime` (V2).
    public func dateTimeValue(from entity: EntityValue) throws(TidelogError) -> LocalDateTime {
        try required(optionalDateTime(from: entity), entity, "a date and time")
    }

    /// Returns the value as a date and time without offset, or `nil` if there is none.
    public func optionalDateTime(from entity: EntityValue) -> LocalDateTime? {
        entity.dataValue(for: self).flatMap { LocalDateTime(propertyValue: $0) }
    }

    /// Returns the value as a date and time with offset.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of `Edm.DateTimeOffset`.
    public func dateTimeOffsetValue(from entity: EntityValue) throws(TidelogError) -> GlobalDateTime {
        try required(optionalDateTimeOffset(from: entity), entity, "a date and time with offset")
    }

    /// Returns the value as a date and time with offset, or `nil` if there is none.
    public func optionalDateTimeOffset(from entity: EntityValue) -> GlobalDateTime? {
        entity.dataValue(for: self).flatMap { GlobalDateTime(propertyValue: $0) }
    }

    /// Returns the value as a duration.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not of `Edm.Duration` or `Edm.Time` (V2).
    public func durationValue(from entity: EntityValue) throws(TidelogError) -> DayTimeDuration {
        try required(optionalDuration(from: entity), entity, "a duration")
    }

    /// Returns the value as a duration, or `nil` if there is none.
    public func optionalDuration(from entity: EntityValue) -> DayTimeDuration? {
        entity.dataValue(for: self).flatMap { DayTimeDuration(propertyValue: $0) }
    }

    /// Returns the value as a complex value.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not a complex value.
    public func complexValue(from entity: EntityValue) throws(TidelogError) -> ComplexValue {
        try required(optionalComplex(from: entity), entity, "a complex value")
    }

    /// Returns the value as a complex value, or `nil` if there is none.
    public func optionalComplex(from entity: EntityValue) -> ComplexValue? {
        entity.dataValue(for: self).flatMap { $0.complexValue }
    }

    /// Returns the value as the items of a collection.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not a collection.
    public func collectionValue(from entity: EntityValue) throws(TidelogError) -> [Value] {
        try required(optionalCollection(from: entity), entity, "a collection")
    }

    /// Returns the value as the items of a collection, or `nil` if there is none.
    public func optionalCollection(from entity: EntityValue) -> [Value]? {
        entity.dataValue(for: self).flatMap { $0.collectionValue }
    }

    /// Returns the value as the given Swift type: an enumeration of the generated code, an array, a type of Foundation.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or of another type.
    public func typedValue<T: PropertyConvertible>(
        as type: T.Type = T.self, from entity: EntityValue
    ) throws(TidelogError) -> T {
        try required(optionalTyped(as: type, from: entity), entity, "a value of the Swift type \(T.self)")
    }

    /// Returns the value as the given Swift type, or `nil` if it is unset, null, or of another type.
    public func optionalTyped<T: PropertyConvertible>(as type: T.Type = T.self, from entity: EntityValue) -> T? {
        entity[property]
    }

    /// Returns the expanded or loaded target of a single-valued navigation property.
    public func entityValue(from entity: EntityValue) -> EntityValue? { entity.relatedEntity(self) }

    /// Returns the expanded or loaded targets of a navigation property.
    public func entityList(from entity: EntityValue) -> [EntityValue] { entity.relatedEntities(self) }

    private func required<T>(_ value: T?, _ entity: EntityValue, _ what: String) throws(TidelogError) -> T {
        if let value { return value }
        let found = entity.dataValue(for: self).map { "contains \($0.kindName)" } ?? "is unset"
        throw TidelogError(.invalidRequest, "\(property) \(found), not \(what).")
    }
}

extension Value {
    fileprivate var exactDouble: Double? {
        switch self {
        case .double(let value): value
        case .single(let value): Double(value)
        default: nil
        }
    }

    fileprivate var exactDecimal: DecimalValue? {
        switch self {
        case .decimal(let value): value
        case .integer(let value): DecimalValue(value)
        default: nil
        }
    }

    fileprivate var enumerationText: String? { if case .enumeration(let text) = self { text } else { nil } }
}
