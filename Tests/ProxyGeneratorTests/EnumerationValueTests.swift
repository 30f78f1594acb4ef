import EDM
import Testing
import Tidelog

/// Reading and writing values with generated enumerations.
@Suite struct EnumerationValueTests {
    /// An enumeration as the generator writes it with `-open:enumerations`.
    private struct OpenStatus: OpenEnumeration {
        static let active = OpenStatus(rawValue: "Active")
        static let enumerationType = Status.enumerationType
        let rawValue: String
        init(rawValue: String) { self.rawValue = rawValue }
    }

    private struct OpenRights: OpenFlagsEnumeration {
        static let read = OpenRights(rawValue: "Read")
        static let write = OpenRights(rawValue: "Write")
        static let edit = OpenRights(rawValue: "Edit")
        static let enumerationType = Rights.enumerationType
        let rawValue: String
        init(rawValue: String) { self.rawValue = rawValue }
    }

    // MARK: Closed

    @Test(arguments: [("Active", Status.active), ("0", .active), ("default", .default), ("-1", .none_)])
    func `a member is read from its name or number`(text: String, member: Status) {
        #expect(Status(propertyValue: .enumeration(text)) == member)
    }

    @Test func `the first of two members with the same number is read`() {
        #expect(Status(propertyValue: .enumeration("5")) == .onLeave)
    }

    @Test(arguments: [
        Value.enumeration("Retired"), .enumeration("99"), .enumeration("Active,Away"), .boolean(true), .null,
    ])
    func `a value that is not a member is read as nil`(value: Value) {
        #expect(Status(propertyValue: value) == nil)
    }

    @Test func `members are written by name`() {
        #expect(
            Status.allCases.map(\.propertyValue)
                == ["Active", "OnLeave", "Away", "None", "default"].map { .enumeration($0) })
    }

    @Test func `a member has its number`() { #expect(Status.away.number == 5) }

    @Test func `an unknown value is kept until another value is set`() {
        let employee = Employee(withDefaults: false)
        employee["Status"] = .enumeration("Retired")
        #expect(employee.status == .onLeave)
        #expect(employee.dataValue(for: Person.status) == .enumeration("Retired"))
    }

    // MARK: Flags

    @Test(
        arguments: [
            ("Read", Rights.read), ("Read,Write", [.read, .write]), ("Write, Print", [.write, .print]), ("Edit", .edit),
            ("6", [.write, .print]), ("0", []), ("", []), ("Sign", Rights(rawValue: 1 << 32)),
        ] as [(String, Rights)])
    func `flags are read from names or a number`(text: String, rights: Rights) {
        #expect(Rights(propertyValue: .enumeration(text)) == rights)
    }

    @Test func `flags with an unknown member are read as nil`() {
        #expect(Rights(propertyValue: .enumeration("Read,Fly")) == nil)
    }

    @Test(
        arguments: [
            (Rights.read, "Read"), ([.read, .write], "Edit"), ([.write, .print], "Write,Print"), ([], "0"),
            ([.read, .write, .print], "Read,Write,Print"), (Rights(rawValue: 8), "8"), (Rights(rawValue: 9), "9"),
            (Rights(rawValue: -1), "-1"),
        ] as [(Rights, String)])
    func `flags are written as names, or as a number if names cannot express them`(rights: Rights, text: String) {
        #expect(rights.propertyValue == .enumeration(text))
    }

    // MARK: Open

    @Test func `an open enumeration keeps an unknown value`() {
        let status = OpenStatus(propertyValue: .enumeration("Retired"))
        #expect(status?.propertyValue == .enumeration("Retired"))
        #expect(status?.number == nil)
    }

    @Test func `an open enumeration reads a number as its member`() {
        #expect(OpenStatus(propertyValue: .enumeration("0")) == .active)
    }

    @Test func `open flags keep unknown members when members are added or removed`() throws {
        let rights = try #require(OpenRights(propertyValue: .enumeration("Fly,Read")))
        #expect(rights.union(.write).propertyValue == .enumeration("Read,Write,Fly"))
        #expect(rights.subtracting(.read).propertyValue == .enumeration("Fly"))
        #expect(rights.contains(.read) && !rights.contains(.write))
    }

    @Test func `open flags contain the members that a combined member includes`() {
        #expect(OpenRights.edit.contains(.read))
        #expect(OpenRights(propertyValue: .enumeration("7"))?.members == ["Read", "Write", "Print"])
        #expect(([] as OpenRights).propertyValue == .enumeration("0"))
    }
}
