import Foundation
import Testing
import Tidelog
import TidelogFoundation

/// A type with a property of every primitive type, as V2 and as V4 declare them.
enum Sample {
    static let v4 = EmbeddedMetadata(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
          <edmx:DataServices>
            <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
              <EnumType Name="Color"><Member Name="Red" Value="0"/><Member Name="Blue" Value="1"/></EnumType>
              <ComplexType Name="Place"><Property Name="At" Type="Edm.DateTimeOffset"/></ComplexType>
              <EntityType Name="Thing">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Guid" Nullable="false"/>
                <Property Name="Boolean" Type="Edm.Boolean"/>
                <Property Name="Byte" Type="Edm.Byte"/>
                <Property Name="Int64" Type="Edm.Int64"/>
                <Property Name="Single" Type="Edm.Single"/>
                <Property Name="Double" Type="Edm.Double"/>
                <Property Name="Decimal" Type="Edm.Decimal" Scale="variable"/>
                <Property Name="String" Type="Edm.String"/>
                <Property Name="Binary" Type="Edm.Binary"/>
                <Property Name="Date" Type="Edm.Date"/>
                <Property Name="Time" Type="Edm.TimeOfDay"/>
                <Property Name="Duration" Type="Edm.Duration"/>
                <Property Name="Moment" Type="Edm.DateTimeOffset"/>
                <Property Name="Moment0" Type="Edm.DateTimeOffset" Precision="0"/>
                <Property Name="Moment12" Type="Edm.DateTimeOffset" Precision="12"/>
                <Property Name="Moments" Type="Collection(Edm.DateTimeOffset)" Nullable="false"/>
                <Property Name="Color" Type="S.Color"/>
                <Property Name="Place" Type="S.Place"/>
              </EntityType>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """)

    static let v2 = EmbeddedMetadata(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
          <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
              <EntityType Name="Thing">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Guid" Nullable="false"/>
                <Property Name="DateTime" Type="Edm.DateTime"/>
                <Property Name="DateTime7" Type="Edm.DateTime" Precision="7"/>
                <Property Name="Moment" Type="Edm.DateTimeOffset"/>
                <Property Name="Time" Type="Edm.Time"/>
              </EntityType>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """)

    static func property(_ name: String, _ metadata: EmbeddedMetadata = v4) -> Property {
        metadata.property(name, of: "S.Thing")
    }

    static func thing(_ metadata: EmbeddedMetadata = v4) throws -> EntityValue {
        EntityValue(try #require(metadata.model.findEntityType("S.Thing")))
    }
}

@Suite struct `Properties with types of Foundation` {
    private func date(_ text: String) throws -> Date { Date(try #require(GlobalDateTime(text))) }

    @Test(arguments: [
        ("Moment", "2026-02-28T12:34:56.789Z"), ("Moment0", "2026-02-28T12:34:57Z"),
        ("Moment12", "2026-02-28T12:34:56.789012Z"),
    ])
    func `a Date is written with the precision of the property`(name: String, text: String) throws {
        let thing = try Sample.thing()
        thing[Sample.property(name)] = try date("2026-02-28T12:34:56.789012Z")
        #expect(thing[name].map { "\($0)" } == GlobalDateTime(text).map { "\(Value.dateTimeOffset($0))" })
        let back: Date? = thing[Sample.property(name)]
        #expect(try abs(#require(back).timeIntervalSince(date("2026-02-28T12:34:56.789012Z"))) < 0.5)
    }

    @Test(arguments: ["DateTime", "DateTime7"])
    func `a Date is a date and time in UTC if V2 has no offset`(name: String) throws {
        let thing = try Sample.thing(Sample.v2)
        let property = Sample.property(name, Sample.v2)
        thing[property] = try date("2026-02-28T23:34:56.789012-05:00")
        #expect(thing[name] == LocalDateTime("2026-03-01T04:34:56.789").map { Value.dateTime($0) })
        let back: Date? = thing[property]
        #expect(back == (try date("2026-03-01T04:34:56.789Z")))
    }

    @Test func `a collection of dates is converted item by item`() throws {
        let thing = try Sample.thing()
        let dates = try [date("2026-01-01T00:00:00Z"), date("0001-01-01T00:00:00Z")]
        thing[Sample.property("Moments")] = dates
        #expect(thing["Moments"]?.collectionValue?.count == 2)
        let back: [Date]? = thing[Sample.property("Moments")]
        #expect(back == dates)
    }

    @Test func `null and unset properties are nil for every type`() throws {
        let thing = try Sample.thing()
        for isNull in [false, true] {
            for name in ["Moment", "ID", "Decimal", "Binary", "String", "Duration"] {
                if isNull { thing[name] = .null }
                let property = Sample.property(name)
                #expect(thing[property] as Date? == nil)
                #expect(thing[property] as UUID? == nil)
                #expect(thing[property] as Decimal? == nil)
                #expect(thing[property] as Data? == nil)
                #expect(thing[property] as URL? == nil)
                #expect(thing[property] as Duration? == nil)
            }
        }
        thing[Sample.property("Moment")] = nil as Date?
        #expect(thing["Moment"] == .null)
    }

    @Test func `each type reads and writes its properties`() throws {
        let thing = try Sample.thing()
        let uuid = UUID()
        Sample.property("ID").setTypedValue(in: thing, to: uuid)
        Sample.property("Decimal").setTypedValue(in: thing, to: Decimal(string: "19.99"))
        Sample.property("Binary").setTypedValue(in: thing, to: Data([1, 2]))
        Sample.property("String").setTypedValue(in: thing, to: URL(string: "https://example.com/a"))
        Sample.property("Duration").setTypedValue(in: thing, to: Duration.seconds(90))
        #expect(thing["ID"] == .guid(GuidValue(uuid)))
        #expect(thing["Decimal"] == .decimal(19.99))
        #expect(thing["Binary"] == .binary([1, 2]))
        #expect(thing["String"] == .string("https://example.com/a"))
        #expect(thing["Duration"] == DayTimeDuration("PT1M30S").map { .duration($0) })
        #expect(try Sample.property("ID").typedValue(as: UUID.self, from: thing) == uuid)
        #expect(try Sample.property("Decimal").typedValue(as: Decimal.self, from: thing) == Decimal(string: "19.99"))
        #expect(try Sample.property("Binary").typedValue(as: Data.self, from: thing) == Data([1, 2]))
        #expect(try Sample.property("String").typedValue(as: URL.self, from: thing).host() == "example.com")
        #expect(try Sample.property("Duration").typedValue(as: Duration.self, from: thing) == .seconds(90))
        Sample.property("Binary").setBinaryValue(in: thing, to: Data([3]))
        #expect(thing["Binary"] == .binary([3]))
    }

    @Test func `a value that the Swift type cannot hold reads as nil and stays`() throws {
        let thing = try Sample.thing()
        let long = Value.decimal(try #require(DecimalValue("1." + String(repeating: "7", count: 60))))
        thing["Decimal"] = long
        #expect(thing[Sample.property("Decimal")] as Decimal? == nil)
        #expect(thing["Decimal"] == long)
        thing["Date"] = .date(.epoch)
        #expect(thing[Sample.property("Date")] as Date? == nil)
    }

    @Test func `a date that is not finite is a value that every check refuses`() throws {
        let thing = try Sample.thing()
        for name in ["Moment", "Date", "Duration"] {
            let property = Sample.property(name)
            thing[property] = Date(timeIntervalSince1970: .nan)
            let value = try #require(thing[name])
            #expect(value.mismatch(with: property.type, in: Sample.v4.model) != nil, "\(name)")
        }
    }

    // MARK: Queries

    private func text(_ filter: QueryFilter) -> String { "\(filter)" }

    @Test func `a Date is compared as the type that the property has`() throws {
        let date = try date("2026-02-28T12:34:56.789012Z")
        let v4 = StructuralProperty<EntityValue, Date>(Sample.property("Moment"))
        let v2 = StructuralProperty<EntityValue, Date>(Sample.property("DateTime", Sample.v2))
        let global = StructuralProperty<EntityValue, GlobalDateTime>(Sample.property("Moment"))
        let local = StructuralProperty<EntityValue, LocalDateTime>(Sample.property("DateTime", Sample.v2))
        let value = try #require(GlobalDateTime("2026-02-28T12:34:56.789012Z"))
        #expect(text(v4 > date) == text(global > value))
        #expect(text(v2 > date) == text(local > value.local))
        #expect(text(v4 == nil) == text(global == nil))
        #expect(text(v4 < global) == text(global < global))
        #expect(text(v4.isIn([date])) == text(global.isIn([value])))
        #expect(text(v4.year() == 2026) == text(global.year() == 2026))
    }

    @Test func `now is the function of OData in a condition on points in time`() {
        let moment = StructuralProperty<EntityValue, GlobalDateTime>(Sample.property("Moment"))
        let function: TypedFunction<GlobalDateTime> = .now
        #expect(text(moment < .now) == text(moment < function))
        #expect(text(moment.greaterThan(.now)) == text(moment.greaterThan(function)))
    }

    @Test func `GUIDs, decimals, bytes, URLs and durations are literals`() throws {
        let uuid = UUID()
        let id = StructuralProperty<EntityValue, UUID>(Sample.property("ID"))
        let guid = StructuralProperty<EntityValue, GuidValue>(Sample.property("ID"))
        #expect(text(id == uuid) == text(guid == GuidValue(uuid)))
        let price = StructuralProperty<EntityValue, Decimal>(Sample.property("Decimal"))
        let decimal = StructuralProperty<EntityValue, DecimalValue>(Sample.property("Decimal"))
        #expect(text(price * 2 > 100.5) == text(decimal * 2 > 100.5))
        #expect(text(price > decimal) == text(decimal > decimal))
        let bytes = StructuralProperty<EntityValue, Data>(Sample.property("Binary"))
        let binary = StructuralProperty<EntityValue, [UInt8]>(Sample.property("Binary"))
        #expect(text(bytes == Data([1])) == text(binary == [1]))
        let link = StructuralProperty<EntityValue, URL>(Sample.property("String"))
        let string = StructuralProperty<EntityValue, String>(Sample.property("String"))
        #expect(try text(link == #require(URL(string: "urn:a"))) == text(string == "urn:a"))
        let span = StructuralProperty<EntityValue, Duration>(Sample.property("Duration"))
        let duration = StructuralProperty<EntityValue, DayTimeDuration>(Sample.property("Duration"))
        #expect(try text(span > .seconds(90)) == text(duration > #require(DayTimeDuration("PT1M30S"))))
    }
}
