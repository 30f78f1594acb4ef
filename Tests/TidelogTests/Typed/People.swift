import Tidelog

/// Classes in the form of the generator's output for ``PeopleMetadata``, with properties of every kind.
enum People {
    static let embedded = EmbeddedMetadata(PeopleMetadata.text)

    static func person(_ name: String) -> Property { embedded.property(name, of: "People.Person") }
    static func errand(_ name: String) -> Property { embedded.property(name, of: "People.Errand") }
}

class Person: EntityValue {
    override class var entityTypeName: String? { "People.Person" }

    static let personID = StructuralProperty<Person, Int>(People.person("PersonID"))
    static let name = StructuralProperty<Person, String>(People.person("Name"))
    static let nick = StructuralProperty<Person, String>(People.person("Nick"))
    static let address = StructuralProperty<Person, Address>(People.person("Address"))
    static let emails = StructuralProperty<Person, [String]>(People.person("Emails"))
    static let addresses = StructuralProperty<Person, [Address]>(People.person("Addresses"))
    static let photo = StructuralProperty<Person, [UInt8]>(People.person("Photo"))
    static let token = StructuralProperty<Person, GuidValue>(People.person("Token"))
    static let isMember = StructuralProperty<Person, Bool>(People.person("IsMember"))
    static let boss = ToOneProperty<Person, Person>(People.person("Boss"))
    static let reports = ToManyProperty<Person, Person>(People.person("Reports"))
    static let errands = ToManyProperty<Person, Errand>(People.person("Errands"))
    /// A property with the name of a member of paths.
    static let property = StructuralProperty<Person, String>(People.person("Name"))
}

final class Employee: Person {
    override class var entityTypeName: String? { "People.Employee" }

    static let salary = StructuralProperty<Employee, DecimalValue>(
        People.embedded.property("Salary", of: "People.Employee"))
}

final class Errand: EntityValue {
    override class var entityTypeName: String? { "People.Errand" }

    static let errandID = StructuralProperty<Errand, Int>(People.errand("ErrandID"))
    static let title = StructuralProperty<Errand, String>(People.errand("Title"))
    static let cost = StructuralProperty<Errand, DecimalValue>(People.errand("Cost"))
    static let hours = StructuralProperty<Errand, Double>(People.errand("Hours"))
    static let weight = StructuralProperty<Errand, Float>(People.errand("Weight"))
    static let number = StructuralProperty<Errand, Int>(People.errand("Number"))
    static let due = StructuralProperty<Errand, GlobalDateTime>(People.errand("Due"))
    static let day = StructuralProperty<Errand, LocalDate>(People.errand("Day"))
    static let at = StructuralProperty<Errand, LocalTime>(People.errand("At"))
    static let length = StructuralProperty<Errand, DayTimeDuration>(People.errand("Length"))
    static let color = StructuralProperty<Errand, Color>(People.errand("Color"))
    static let days = StructuralProperty<Errand, Days>(People.errand("Days"))
    static let person = ToOneProperty<Errand, Person>(People.errand("Person"))
}

struct Address: PropertyConvertible {
    static let street = StructuralProperty<Address, String>(property("Street"))
    static let city = StructuralProperty<Address, String>(property("City"))
    static let number = StructuralProperty<Address, Int>(property("Number"))

    let value: ComplexValue

    init?(propertyValue: Value) {
        guard case .complex(let value) = propertyValue else { return nil }
        self.value = value
    }
    var propertyValue: Value { .complex(value) }
    static var propertyDefault: Address { Address(value: ComplexValue(properties: PropertyValues())) }

    private init(value: ComplexValue) { self.value = value }

    private static func property(_ name: String) -> Property {
        guard let property = People.embedded.model.findComplexType("People.Address")?.findProperty(name) else {
            preconditionFailure("The metadata have no such property.")
        }
        return property
    }
}

enum Color: String, PropertyConvertible, QueryLiteral {
    case red = "Red"
    case green = "Green"
    case blue = "Blue"

    init?(propertyValue: Value) {
        guard case .enumeration(let name) = propertyValue else { return nil }
        self.init(rawValue: name)
    }
    var propertyValue: Value { .enumeration(rawValue) }
    static let propertyDefault = Color.red
    var queryValue: Value { propertyValue }
}

struct Days: OptionSet, PropertyConvertible, QueryLiteral {
    static let mon = Days(rawValue: 1)
    static let tue = Days(rawValue: 2)
    static let wed = Days(rawValue: 4)

    let rawValue: Int

    init(rawValue: Int) { self.rawValue = rawValue }
    init?(propertyValue: Value) { return nil }
    static let propertyDefault = Days()
    var propertyValue: Value {
        let names = [("Mon", Days.mon), ("Tue", .tue), ("Wed", .wed)].filter { contains($0.1) }.map(\.0)
        return .enumeration(names.isEmpty ? "0" : names.joined(separator: ","))
    }
    var queryValue: Value { propertyValue }
}

enum PeopleMetadata {
    static let text = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
          <edmx:DataServices>
            <Schema Namespace="People" xmlns="http://docs.oasis-open.org/odata/ns/edm">
              <EnumType Name="Color">
                <Member Name="Red" Value="0"/>
                <Member Name="Green" Value="1"/>
                <Member Name="Blue" Value="2"/>
              </EnumType>
              <EnumType Name="Days" IsFlags="true">
                <Member Name="Mon" Value="1"/>
                <Member Name="Tue" Value="2"/>
                <Member Name="Wed" Value="4"/>
              </EnumType>
              <ComplexType Name="Address">
                <Property Name="Street" Type="Edm.String"/>
                <Property Name="City" Type="Edm.String"/>
                <Property Name="Number" Type="Edm.Int32"/>
              </ComplexType>
              <EntityType Name="Person">
                <Key><PropertyRef Name="PersonID"/></Key>
                <Property Name="PersonID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String"/>
                <Property Name="Nick" Type="Edm.String"/>
                <Property Name="Address" Type="People.Address"/>
                <Property Name="Emails" Type="Collection(Edm.String)" Nullable="false"/>
                <Property Name="Addresses" Type="Collection(People.Address)" Nullable="false"/>
                <Property Name="Photo" Type="Edm.Binary"/>
                <Property Name="Token" Type="Edm.Guid"/>
                <Property Name="IsMember" Type="Edm.Boolean"/>
                <NavigationProperty Name="Boss" Type="People.Person" Partner="Reports"/>
                <NavigationProperty Name="Reports" Type="Collection(People.Person)" Partner="Boss"/>
                <NavigationProperty Name="Errands" Type="Collection(People.Errand)" Partner="Person"/>
              </EntityType>
              <EntityType Name="Employee" BaseType="People.Person">
                <Property Name="Salary" Type="Edm.Decimal" Scale="variable"/>
              </EntityType>
              <EntityType Name="Errand">
                <Key><PropertyRef Name="ErrandID"/></Key>
                <Property Name="ErrandID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Title" Type="Edm.String"/>
                <Property Name="Cost" Type="Edm.Decimal" Scale="variable"/>
                <Property Name="Hours" Type="Edm.Double"/>
                <Property Name="Weight" Type="Edm.Single"/>
                <Property Name="Number" Type="Edm.Int64"/>
                <Property Name="Due" Type="Edm.DateTimeOffset" Precision="3"/>
                <Property Name="Day" Type="Edm.Date"/>
                <Property Name="At" Type="Edm.TimeOfDay"/>
                <Property Name="Length" Type="Edm.Duration"/>
                <Property Name="Color" Type="People.Color"/>
                <Property Name="Days" Type="People.Days"/>
                <NavigationProperty Name="Person" Type="People.Person" Partner="Errands"/>
              </EntityType>
              <EntityContainer Name="Container">
                <EntitySet Name="Persons" EntityType="People.Person">
                  <NavigationPropertyBinding Path="Boss" Target="Persons"/>
                  <NavigationPropertyBinding Path="Reports" Target="Persons"/>
                  <NavigationPropertyBinding Path="Errands" Target="Errands"/>
                </EntitySet>
                <EntitySet Name="Errands" EntityType="People.Errand">
                  <NavigationPropertyBinding Path="Person" Target="Persons"/>
                </EntitySet>
              </EntityContainer>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """
}
