import Foundation
import Testing

@testable import ProxyGenerator

@Suite struct NamingTests {
    @Test(arguments: [
        ("CustomerID", "customerID"), ("ID", "id"), ("IDCard", "idCard"), ("name", "name"), ("_Item", "_item"),
        ("MATNR", "matnr"), ("X", "x"), ("Ärger", "ärger"), ("Содержание", "содержание"), ("製品", "製品"),
        ("to-Item", "to_Item"), ("1st", "_1st"), ("_", "__"), ("", "__"), ("a.b", "a_b"), ("A\u{200E}B", "a_B"),
    ])
    func `a member begins with a small letter and is an identifier`(name: String, expected: String) {
        #expect(SwiftName.ofMember(name) == expected)
    }

    @Test(arguments: [("airport", "Airport"), ("ABC", "ABC"), ("1", "_1"), ("ßx", "SSx")])
    func `a type begins with a capital`(name: String, expected: String) {
        #expect(SwiftName.ofType(name) == expected)
    }

    @Test(arguments: [
        ("Customers", "Customer"), ("Cities", "City"), ("Addresses", "Address"), ("Boxes", "Box"),
        ("Address", "Address"),
        ("Status", "Status"), ("Children", "Children"), ("Series", "Series"), ("Ties", "Tie"), ("s", "s"),
    ])
    func `a plural by the rules gets its singular`(name: String, expected: String) {
        #expect(SwiftName.singular(name) == expected)
    }

    @Test func `a name that is taken gets a number`() {
        var scope = NameScope(reserved: [])
        #expect(["a", "a", "a_2", "a"].map { scope.claim($0) } == ["a", "a_2", "a_2_2", "a_3"])
    }

    @Test func `a name that means something already gets an underscore`() {
        var scope = NameScope(reserved: ["state"])
        #expect(["state", "state"].map { scope.claim($0) } == ["state_", "state__2"])
    }

    @Test(arguments: [
        ("Entities", "EntityValue", ReservedNames.entityMembers),
        ("Service", "DataService", ReservedNames.serviceMembers),
        ("Service", "DataService+Batches", ReservedNames.serviceMembers),
        ("Invocation", "DataService+Invocation", ReservedNames.serviceMembers),
        ("Proxies", "DataService+Proxies", ReservedNames.serviceMembers),
    ])
    func `every public member of the base classes is reserved`(
        folder: String, file: String, reserved: Set<String>
    ) throws {
        let files = try Checkout.swiftFiles("Sources/Tidelog/\(folder)")
        let text = try #require(files.first { $0.name == "\(file).swift" }).text
        let members = text.matches(of: /\n {4}(?:public|open) [a-z() ]*?(?:var|let|func) (\w+)/).map { String($0.1) }
        #expect(!members.isEmpty)
        #expect(Set(members).subtracting(reserved).isEmpty)
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
    func `what generated values have beside their members is reserved`(file: String, reserved: Set<String>) throws {
        let text = try #require(
            Checkout.swiftFiles("Sources/Tidelog/Proxies").first { $0.name == "\(file).swift" }
        ).text
        let members = text.matches(of: /\n {4}(?:public )?(?:static )?(?:var|let) (\w+)/).map { String($0.1) }
        #expect(!members.isEmpty)
        #expect(Set(members).subtracting(reserved) == [])
    }
}
