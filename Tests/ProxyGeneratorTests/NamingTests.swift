import Foundation
import Testing

@testable import ProxyGenerator

@Suite struct NamingTests {
    @Test(arguments: [
        ("CustomerID", "customerID"), ("ID", "id"), ("IDCard", "idCard"), ("name", "name"), ("_Item", "_item"),
        ("MATNR", "matnr"), ("X", "x"), ("Ärger", "ärger"), ("Содержание", "содержание"), ("製品", "製品"),
        ("to-Item", "to_Item"), ("1st", "_1st"), ("_", "__"), ("", "__"), ("a.b", "a_b"), ("A\u{200E}B", "a_B"),
    ])
    func `a member name is an identifier that begins with a lowercase letter`(name: String, expected: String) {
        #expect(SwiftName.ofMember(name) == expected)
    }

    @Test(arguments: [("airport", "Airport"), ("ABC", "ABC"), ("1", "_1"), ("ßx", "SSx")])
    func `a type name begins with an uppercase letter`(name: String, expected: String) {
        #expect(SwiftName.ofType(name) == expected)
    }

    @Test(arguments: [
        ("Customers", "Customer"), ("Cities", "City"), ("Addresses", "Address"), ("Boxes", "Box"),
        ("Address", "Address"),
        ("Status", "Status"), ("Children", "Children"), ("Series", "Series"), ("Ties", "Tie"), ("s", "s"),
    ])
    func `a regular plural is converted to its singular`(name: String, expected: String) {
        #expect(SwiftName.singular(name) == expected)
    }

    @Test func `a name that is in use gets a number`() {
        var scope = NameScope(reserved: [])
        #expect(["a", "a", "a_2", "a"].map { scope.claim($0) } == ["a", "a_2", "a_2_2", "a_3"])
    }

    @Test func `a reserved name gets an underscore`() {
        var scope = NameScope(reserved: ["state"])
        #expect(["state", "state"].map { scope.claim($0) } == ["state_", "state__2"])
    }

    @Test(arguments: [
        ("EntityValue", ReservedNames.entityMembers), ("DataService", ReservedNames.serviceMembers),
    ])
    func `every public member of the base classes is reserved`(type: String, reserved: Set<String>) throws {
        let text = try Checkout.text(of: "Sources/Tidelog")
        let parts = text.matches(of: /(?ms)^(?:open class|extension) (\w+)[^\n]*\{\n(.*?)^\}/).filter { $0.1 == type }
        let members = parts.flatMap { part in
            part.2.matches(of: /(?m)^ {4}(?:public|open) [a-z() ]*?(?:var|let|func) (\w+)/).map { String($0.1) }
        }
        #expect(parts.count > 3 && members.count > 20)
        #expect(Set(members).subtracting(reserved) == [])
    }

    @Test func `every public type within EntityValue is reserved`() throws {
        let files = try Checkout.swiftFiles("Sources/Tidelog/Entities")
        let text = try #require(files.first { $0.name == "EntityValue.swift" }).text
        let types = text.matches(of: /\n {4}public (?:enum|struct|class) (\w+)/).map { String($0.1) }
        #expect(!types.isEmpty)
        #expect(Set(types).subtracting(ReservedNames.types).isEmpty)
    }

    @Test func `every public type of Tidelog is reserved`() throws {
        let text = try Checkout.text(of: "Sources/Tidelog")
        let types = text.matches(
            of: /(?m)^(?:nonisolated )?(?:public|open) (?:final )?(?:class|struct|enum|protocol|actor|typealias) (\w+)/)
        #expect(types.count > 40)
        #expect(Set(types.map { String($0.1) }).subtracting(ReservedNames.types) == [])
    }

    @Test(arguments: [
        ("TypedComplexValue", ReservedNames.complexMembers), ("EnumerationValue", ReservedNames.enumerationMembers),
        ("PropertyConvertible", ReservedNames.complexMembers.intersection(ReservedNames.enumerationMembers)),
    ])
    func `the other properties of generated values are reserved`(file: String, reserved: Set<String>) throws {
        let text = try #require(
            Checkout.swiftFiles("Sources/Tidelog/Proxies").first { $0.name == "\(file).swift" }
        ).text
        let members = text.matches(of: /\n {4}(?:public )?(?:static )?(?:var|let) (\w+)/).map { String($0.1) }
        #expect(!members.isEmpty)
        #expect(Set(members).subtracting(reserved) == [])
    }
}
