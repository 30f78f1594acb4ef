import Foundation
import Testing
import Tidelog
import TidelogFoundation

/// Features: DY-07.
@Suite struct `Readers and setters of property references` {
    /// Sets and reads one property with the pair of one type.
    private func check<T: Equatable>(
        _ name: String, _ value: T, _ stored: Value, _ set: (Property, EntityValue, T) -> Void,
        _ read: (Property, EntityValue) throws -> T, _ optional: (Property, EntityValue) -> T?,
        _ metadata: EmbeddedMetadata = Sample.v4, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let thing = try Sample.thing(metadata)
        let property = Sample.property(name, metadata)
        #expect(optional(property, thing) == nil, sourceLocation: sourceLocation)
        #expect(throws: TidelogError.self, sourceLocation: sourceLocation) { try read(property, thing) }
        set(property, thing, value)
        #expect(thing[name] == stored, sourceLocation: sourceLocation)
        #expect(try read(property, thing) == value, sourceLocation: sourceLocation)
        #expect(optional(property, thing) == value, sourceLocation: sourceLocation)
        #expect(
            stored.mismatch(with: property.type, in: metadata.model) == nil, sourceLocation: sourceLocation)
        // A value of another type.
        thing[name] = .raw("{}")
        #expect(optional(property, thing) == nil, sourceLocation: sourceLocation)
        #expect(throws: TidelogError.self, sourceLocation: sourceLocation) { try read(property, thing) }
    }

    @Test func `numbers, strings and bytes have a pair for each type`() throws {
        try check(
            "Boolean", true, .boolean(true), { $0.setBooleanValue(in: $1, to: $2) }, { try $0.booleanValue(from: $1) },
            { $0.optionalBoolean(from: $1) })
        try check(
            "Byte", 255, .integer(255), { $0.setIntValue(in: $1, to: $2) }, { try $0.intValue(from: $1) },
            { $0.optionalInt(from: $1) })
        try check(
            "Int64", Int64.min, .integer(.min), { $0.setInt64Value(in: $1, to: $2) }, { try $0.int64Value(from: $1) },
            { $0.optionalInt64(from: $1) })
        try check(
            "Single", 0.1, .single(0.1), { $0.setFloatValue(in: $1, to: $2) }, { try $0.floatValue(from: $1) },
            { $0.optionalFloat(from: $1) })
        try check(
            "Double", -0.0, .double(-0.0), { $0.setDoubleValue(in: $1, to: $2) }, { try $0.doubleValue(from: $1) },
            { $0.optionalDouble(from: $1) })
        try check(
            "Decimal", 1.50, .decimal(1.5), { $0.setDecimalValue(in: $1, to: $2) }, { try $0.decimalValue(from: $1) },
            { $0.optionalDecimal(from: $1) })
        try check(
            "String", "é", .string("é"), { $0.setStringValue(in: $1, to: $2) }, { try $0.stringValue(from: $1) },
            { $0.optionalString(from: $1) })
        try check(
            "ID", GuidValue(high: 1, low: 2), .guid(GuidValue(high: 1, low: 2)), { $0.setGuidValue(in: $1, to: $2) },
            { try $0.guidValue(from: $1) }, { $0.optionalGuid(from: $1) })
        try check(
            "Binary", [0, 255], .binary([0, 255]), { $0.setBinaryValue(in: $1, to: $2 as [UInt8]) },
            { try $0.binaryValue(from: $1) }, { $0.optionalBinary(from: $1) })
        try check(
            "Color", "Blue", .enumeration("Blue"), { $0.setEnumerationValue(in: $1, to: $2) },
            { try $0.enumerationValue(from: $1) }, { $0.optionalEnumeration(from: $1) })
    }

    @Test func `dates and times have a pair for each type of V2 and V4`() throws {
        let dateTime = try #require(LocalDateTime("9999-12-31T23:59:59.999"))
        let moment = try #require(GlobalDateTime(local: dateTime, offsetMinutes: 840))
        let duration = try #require(DayTimeDuration("-PT0.5S"))
        try check(
            "Date", dateTime.date, .date(dateTime.date), { $0.setDateValue(in: $1, to: $2) },
            { try $0.dateValue(from: $1) }, { $0.optionalDate(from: $1) })
        try check(
            "Time", dateTime.time, .timeOfDay(dateTime.time), { $0.setTimeOfDayValue(in: $1, to: $2) },
            { try $0.timeOfDayValue(from: $1) }, { $0.optionalTimeOfDay(from: $1) })
        try check(
            "Moment", moment, .dateTimeOffset(moment), { $0.setDateTimeOffsetValue(in: $1, to: $2) },
            { try $0.dateTimeOffsetValue(from: $1) }, { $0.optionalDateTimeOffset(from: $1) })
        try check(
            "Duration", duration, .duration(duration), { $0.setDurationValue(in: $1, to: $2) },
            { try $0.durationValue(from: $1) }, { $0.optionalDuration(from: $1) })
        try check(
            "DateTime", dateTime, .dateTime(dateTime), { $0.setDateTimeValue(in: $1, to: $2) },
            { try $0.dateTimeValue(from: $1) }, { $0.optionalDateTime(from: $1) }, Sample.v2)
        try check(
            "Time", .zero, .duration(.zero), { $0.setDurationValue(in: $1, to: $2) },
            { try $0.durationValue(from: $1) }, { $0.optionalDuration(from: $1) }, Sample.v2)
    }

    @Test func `complex values and collections have a pair`() throws {
        let moment = Value.dateTimeOffset(.propertyDefault)
        let place = ComplexValue(properties: ["At": moment])
        try check(
            "Place", place, .complex(place), { $0.setComplexValue(in: $1, to: $2) }, { try $0.complexValue(from: $1) },
            { $0.optionalComplex(from: $1) })
        try check(
            "Moments", [moment], .collection([moment]), { $0.setCollectionValue(in: $1, to: $2) },
            { try $0.collectionValue(from: $1) }, { $0.optionalCollection(from: $1) })
    }

    @Test func `only conversions without loss are done`() throws {
        let thing = try Sample.thing()
        thing["Single"] = .single(0.5)
        #expect(Sample.property("Single").optionalDouble(from: thing) == 0.5)
        thing["Int64"] = .integer(.max)
        #expect(Sample.property("Int64").optionalDecimal(from: thing)?.text == "9223372036854775807")
        #expect(Sample.property("Int64").optionalDouble(from: thing) == nil)
        thing["Double"] = .double(0.5)
        #expect(Sample.property("Double").optionalFloat(from: thing) == nil)
        #expect(Sample.property("Double").optionalDecimal(from: thing) == nil)
        Sample.property("Double").setFloatValue(in: thing, to: 0.5)
        #expect(thing["Double"] == .double(0.5))
        Sample.property("Decimal").setInt64Value(in: thing, to: .min)
        #expect(thing["Decimal"] == .decimal(DecimalValue(Int64.min)))
    }

    @Test func `the error names the property, its value and the requested type`() throws {
        let thing = try Sample.thing()
        thing["String"] = .string("x")
        let error = #expect(throws: TidelogError.self) {
            try Sample.property("String").typedValue(as: UUID.self, from: thing)
        }
        #expect(error?.message == "S.Thing/String contains a string, not a value of the Swift type UUID.")
        let unset = #expect(throws: TidelogError.self) { try Sample.property("Decimal").decimalValue(from: thing) }
        #expect(unset?.message == "S.Thing/Decimal is unset, not a decimal number.")
    }
}
