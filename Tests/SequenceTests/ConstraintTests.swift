import EDM
import ODataSandbox
import Operations
import SyncCore
import Testing

/// Links by value of a referential constraint: visible at once, from both ends, and the same at the service.
struct ConstraintTests {
    private func session(_ dialect: Dialect, without missing: String? = nil) throws -> PureSession {
        var session = try PureSession(dialect, sandbox: try Firm.sandbox())
        try session.define(Firm.sets.filter { $0 != missing })
        try session.pull()
        return session
    }

    private func synchronize(_ session: inout PureSession) throws {
        #expect(try session.push().refusals.map(\.message) == [])
        #expect(try Graph.ofStore(session, inBase: false) == Graph.ofService(session, Firm.sets))
        try session.pull()
        #expect(try Graph.ofStore(session, inBase: false) == Graph.ofService(session, Firm.sets))
        #expect(try Checker(session: session).violations() == [])
    }

    private func create(
        _ session: inout PureSession, _ set: String, _ type: String, _ values: PropertyValues = [:],
        bindings: [Binding] = []
    ) throws -> EntityID {
        let id = try session.state.header().nextEntity
        try session.perform([
            .create(
                Creation(entity: id, set: set, type: "Firm.\(type)", values: values, bindings: bindings), parent: nil)
        ])
        return id
    }

    @Test(arguments: Dialect.allCases)
    func `a relationship of a set with itself distinguishes its ends`(_ dialect: Dialect) throws {
        var session = try session(dialect)
        let ann = try session.entity("Employees", ["Name": .string("Ann")])
        let bob = try session.entity("Employees", ["Name": .string("Bob")])
        #expect(try session.targets(bob, "Boss") == [ann])
        #expect(try session.targets(ann, "Reports") == [bob])
        #expect(try session.targets(bob, "Reports") == [])
        // The opposite direction, by value.
        try session.perform([.update(bob, changes: ["BossID": .null], bindings: [])])
        try session.perform([.update(ann, changes: ["BossID": .integer(2)], bindings: [])])
        #expect(try session.targets(bob, "Reports") == [ann])
        #expect(try session.targets(ann, "Reports") == [])
        // An employee who is their own boss.
        try session.perform([.update(bob, changes: ["BossID": .integer(2)], bindings: [])])
        #expect(try session.targets(bob, "Boss") == [bob])
        #expect(Set(try session.targets(bob, "Reports")) == [ann, bob])
        try synchronize(&session)
    }

    @Test(arguments: Dialect.allCases)
    func `a dependent of an entity without a key gets its value when the key is assigned`(_ dialect: Dialect) throws {
        var session = try session(dialect)
        let boss = try create(&session, "Employees", "Employee", ["Name": .string("Eve")])
        let report = try create(
            &session, "Employees", "Employee", bindings: [Binding(navigation: "Boss", targets: [boss])])
        #expect(try (session.state.row(report)?.values["BossID"] ?? .null) == .null)
        #expect(try session.targets(boss, "Reports") == [report])
        try synchronize(&session)
        #expect(try session.state.row(report)?.values["BossID"] == session.state.row(boss)?.values["ID"])
        #expect(try session.targets(boss, "Reports") == [report])
    }

    @Test(arguments: Dialect.allCases)
    func `a constraint of several properties links if all are set, and null in one of them ends the link`(
        _ dialect: Dialect
    ) throws {
        var session = try session(dialect)
        let office = try session.entity("Offices", ["Number": .integer(2)])
        let desk = try create(&session, "Desks", "Desk", ["Country": .string("CH")])
        #expect(try session.targets(desk, "Office") == [])
        try session.perform([.update(desk, changes: ["Number": .integer(2)], bindings: [])])
        #expect(try session.targets(desk, "Office") == [office])
        #expect(try session.targets(office, "Desks") == [desk])
        #expect(try session.targets(office, "Guests") == [])
        try synchronize(&session)
        try session.perform([.update(desk, changes: ["Number": .null], bindings: [])])
        #expect(try session.targets(office, "Desks") == [])
        try synchronize(&session)
        #expect(try session.targets(desk, "Office") == [])
    }

    @Test(arguments: Dialect.allCases)
    func `two relationships between the same sets are independent`(_ dialect: Dialect) throws {
        var session = try session(dialect)
        let first = try session.entity("Offices", ["Number": .integer(1)])
        let second = try session.entity("Offices", ["Number": .integer(2)])
        let desk = try create(
            &session, "Desks", "Desk", ["GuestCountry": .string("CH"), "GuestNumber": .integer(1)],
            bindings: [Binding(navigation: "Office", targets: [second])])
        #expect(try session.targets(desk, "Office") == [second])
        #expect(try session.targets(desk, "GuestOffice") == [first])
        #expect(try session.targets(second, "Desks") == [desk])
        #expect(try session.targets(first, "Guests") == [desk])
        try synchronize(&session)
        try session.perform([.deleteLink(Link(from: desk, navigation: "Office", to: second))])
        #expect(try session.targets(desk, "GuestOffice") == [first])
        try synchronize(&session)
    }

    @Test(arguments: Dialect.allCases)
    func `a binding takes precedence over a contradicting dependent property, locally and at the service`(
        _ dialect: Dialect
    )
        throws
    {
        var session = try session(dialect)
        let ann = try session.entity("Employees", ["Name": .string("Ann")])
        let bob = try session.entity("Employees", ["Name": .string("Bob")])
        let eve = try create(
            &session, "Employees", "Employee", ["BossID": .integer(1)],
            bindings: [Binding(navigation: "Boss", targets: [bob])])
        #expect(try session.targets(eve, "Boss") == [bob])
        #expect(try session.state.row(eve)?.values["BossID"] == .integer(2))
        try synchronize(&session)
        try session.perform([
            .update(
                eve, changes: ["BossID": .integer(2)], bindings: [Binding(navigation: "Boss", targets: [ann])])
        ])
        #expect(try session.targets(eve, "Boss") == [ann])
        try synchronize(&session)
        #expect(try session.state.row(eve)?.values["BossID"] == .integer(1))
    }

    @Test(arguments: Dialect.allCases)
    func `a principal that is not in the store is referred to, and linked when it is downloaded`(_ dialect: Dialect)
        throws
    {
        var session = try session(dialect, without: "Articles")
        let stock = try session.entity("Stocks", ["ArticleCode": .string("A")])
        try session.perform([.update(stock, changes: ["ArticleCode": .string("C")], bindings: [])])
        #expect(try session.state.row(stock)?.values["ArticleCode"] == .string("C"))
        #expect(try session.targets(stock, "Article") == [])
        #expect(try session.push().refusals.map(\.message) == [])
        try session.define(["Articles"])
        try session.pull()
        let article = try session.entity("Articles", ["Code": .string("C")])
        #expect(try session.targets(stock, "Article") == [article])
        #expect(try session.targets(article, "Stocks") == [stock])
        try synchronize(&session)
    }
}
