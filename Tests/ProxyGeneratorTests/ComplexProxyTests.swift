import EDM
import Testing
import Tidelog

/// The generated structs of complex types.
@Suite struct ComplexProxyTests {
    @Test func `a complex value is read and written as a whole and by its members`() {
        let employee = Employee(withDefaults: false)
        var home = Address(withDefaults: false)
        home.city = "Turin"
        employee.home = home
        employee.home.street = "Via Po"
        #expect(
            employee.dataValue(for: Person.home)
                == .complex(ComplexValue(properties: ["City": .string("Turin"), "Street": .string("Via Po")])))
        #expect(employee.home.city == "Turin")
    }

    @Test func `a complex value with defaults has the defaults of the metadata`() {
        #expect(Address().complexValue.properties == ["City": .string(""), "Floor": .integer(1)])
    }

    @Test func `an unset member that is not nullable is read as its default`() {
        #expect(Address(withDefaults: false).floor == 1)
        #expect(Address(withDefaults: false).city == "")
    }

    @Test func `a value of a derived type contains its type, and converts to the base type and back`() throws {
        var office = CompanyAddress(withDefaults: false)
        office.company = "Acme"
        let address = try #require(Address(office))
        #expect(address.complexValue.type == "Office.CompanyAddress")
        #expect(CompanyAddress(address) == office)
    }

    @Test func `a value of the base type does not convert to the derived type`() {
        #expect(CompanyAddress(Address()) == nil)
    }

    @Test func `an unrelated type is not converted`() { #expect(Extras(Address()) == nil) }

    @Test func `a value of an unknown type is kept`() {
        let value = Value.complex(ComplexValue(type: "Office.MoonAddress", properties: [:]))
        #expect(Address(propertyValue: value)?.propertyValue == value)
    }

    @Test func `a derived value in a property of the derived type is written without its type`() {
        let property = Property(
            name: "P", type: TypeReference(.complex(name: "Office.CompanyAddress")), declaringType: "N.T")
        let entity = Employee(withDefaults: false)
        entity[StructuralProperty<Employee, CompanyAddress>(property)] = CompanyAddress(withDefaults: false)
        #expect(entity["P"] == .complex(ComplexValue(properties: [:])))
    }

    @Test func `a derived struct has the inherited members`() {
        var office = CompanyAddress()
        office.city = "Rome"
        #expect(office.city == "Rome")
        let city: StructuralProperty<CompanyAddress, String> = CompanyAddress.city
        #expect(city.property.declaringType == "Office.Address")
    }

    @Test func `dynamic properties of an open complex value are accessed by name`() {
        var extras = Extras()
        extras["Shoe"] = .integer(42)
        #expect(extras.complexValue.properties == ["Shoe": .integer(42)])
    }

    @Test func `collections of complex values keep the types of their items`() {
        let employee = Employee(withDefaults: false)
        employee.addresses = [Address(withDefaults: false), Address(CompanyAddress(withDefaults: false))].compactMap {
            $0
        }
        #expect(employee.addresses.map { CompanyAddress($0) != nil } == [false, true])
    }

    @Test func `an empty array is a collection, except an array of bytes`() {
        #expect(([] as [String]).propertyValue == .collection([]))
        #expect(([] as [[UInt8]]).propertyValue == .collection([]))
        #expect(([] as [UInt8]).propertyValue == .binary([]))
    }

    @Test func `a collection of binary values is an array of arrays`() {
        let employee = Employee(withDefaults: false)
        employee.keys = [[1], []]
        #expect(employee.dataValue(for: Person.keys) == .collection([.binary([1]), .binary([])]))
        #expect(employee.keys == [[1], []])
    }
}
