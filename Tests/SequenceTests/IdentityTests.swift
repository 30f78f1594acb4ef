import EDM
import ODataSandbox
import Operations
import SyncCore
import Testing

/// Identity of entities whose keys are assigned, replaced or changed.
struct IdentityTests {
    private func session(_ dialect: Dialect, entityIDs: Bool = true) throws -> PureSession {
        var session = try PureSession(dialect, sandbox: try Firm.sandbox(entityIDs: entityIDs))
        try session.define(Firm.sets)
        try session.pull()
        return session
    }

    private func synchronize(_ session: inout PureSession) throws {
        #expect(try session.push().refusals.map(\.message) == [])
        #expect(try Graph.ofStore(session, inBase: false) == Graph.ofService(session, Firm.sets))
        try download(&session)
    }

    private func download(_ session: inout PureSession) throws {
        try session.pull()
        #expect(try Graph.ofStore(session, inBase: false) == Graph.ofService(session, Firm.sets))
    }

    @Test(arguments: Dialect.allCases, [false, true])
    func `a key that the service changes during an update is adopted from the response`(
        _ dialect: Dialect, _ hasBody: Bool
    ) throws {
        var session = try session(dialect)
        session.sandbox.options.answersUpdates = hasBody
        let article = try session.entity("Articles", ["Code": .string("A")])
        let stock = try session.entity("Stocks", ["ArticleCode": .string("A")])
        let former = try session.readLink(article)
        try session.perform([.update(article, changes: ["Label": .string("B")], bindings: [])])
        _ = try session.push()
        #expect(try session.state.row(article)?.values["Code"] == .string("B"))
        #expect(try session.state.row(stock)?.values["ArticleCode"] == .string("B"))
        #expect(try session.entity(at: former) == article)
        #expect(try session.entity(at: session.readLink(article)) == article)
        try session.perform([.update(article, changes: ["Label": .string("D")], bindings: [])])
        try synchronize(&session)
        #expect(try session.state.row(article)?.values["Code"] == .string("D"))
        #expect(try session.entity(at: former) == article)
        #expect(try session.state.rows(set: "Articles").count == 2)
    }

    @Test(arguments: Dialect.allCases)
    func `a key that another client changed is adopted in a download by the entity-id`(_ dialect: Dialect) throws {
        var session = try session(dialect)
        let article = try session.entity("Articles", ["Code": .string("A")])
        let former = try session.readLink(article)
        session.sandbox.change("PATCH", "Articles('A')", #"{"Label":"B"}"#)
        try session.perform([.update(article, changes: ["Label": .string("E")], bindings: [])])
        try session.pull()
        #expect(try session.state.row(article)?.values["Code"] == .string("B"))
        #expect(try session.entity(at: former) == article)
        try synchronize(&session)
        #expect(try session.state.row(article)?.values["Code"] == .string("E"))
        #expect(try session.state.rows(set: "Articles").count == 2)
    }

    @Test(arguments: Dialect.allCases)
    func `with entity-ids, a key does not identify its former owner`(
        _ dialect: Dialect
    ) throws {
        var session = try session(dialect)
        let article = try session.entity("Articles", ["Code": .string("A")])
        session.sandbox.change("PATCH", "Articles('A')", #"{"Label":"Z"}"#)
        session.sandbox.change("POST", "Articles", #"{"Code":"A","Label":"A"}"#)
        try download(&session)
        #expect(try session.state.row(article)?.values["Code"] == .string("Z"))
        let new = try session.entity("Articles", ["Code": .string("A")])
        #expect(new != article)
        // The key resolves to its current entity, and the link with the entity ID to its entity.
        #expect(try session.entity(at: "Articles('A')") == new)
        #expect(try session.entity(at: "Articles('Z')") == article)
        #expect(try session.entity(at: "Articles(\(article))") == article)
    }

    @Test(arguments: Dialect.allCases)
    func `without entity-ids, a changed key in a download is a new entity`(_ dialect: Dialect) throws {
        var session = try session(dialect, entityIDs: false)
        let article = try session.entity("Articles", ["Code": .string("A")])
        session.sandbox.change("PATCH", "Articles('A')", #"{"Label":"B"}"#)
        try download(&session)
        #expect(try session.state.row(article) == nil)
        #expect(try session.entity("Articles", ["Code": .string("B")]) != article)
        #expect(try session.entity(at: "Articles('A')") == article)
    }

    @Test(arguments: Dialect.allCases)
    func `a changed key is adopted when the entity is read under its former key`(_ dialect: Dialect) throws {
        var session = try session(dialect, entityIDs: false)
        let article = try session.entity("Articles", ["Code": .string("A")])
        session.sandbox.change("PATCH", "Articles('A')", #"{"Label":"B"}"#)
        #expect(try session.read(article))
        #expect(try session.state.row(article)?.values["Code"] == .string("B"))
        try synchronize(&session)
        #expect(try session.state.row(article) != nil)
    }

    @Test(arguments: Dialect.allCases)
    func `the identity of an entity is independent of its key from its create to its delete`(_ dialect: Dialect) throws
    {
        var session = try session(dialect)
        let id = try session.state.header().nextEntity
        try session.perform([
            .create(
                Creation(
                    entity: id, set: "Employees", type: "Firm.Employee",
                    values: ["ID": .integer(70), "Name": .string("Eve"), "BossID": .integer(2)]), parent: nil)
        ])
        var links = try [session.readLink(id)]
        try session.perform([.update(id, changes: ["Name": .string("Eva")], bindings: [])])
        _ = try session.push()
        #expect(try session.state.row(id)?.values["ID"] == .integer(3))
        try links.append(session.readLink(id))
        try session.perform([.update(id, changes: ["Name": .string("Evi")], bindings: [])])
        try synchronize(&session)
        try links.append(session.readLink(id))
        #expect(Set(links) == ["Employees(\(id))", "Employees(3)"])
        for link in links { #expect(try session.entity(at: link) == id) }
        #expect(try session.state.rows(set: "Employees").count == 3)
        try session.perform([.delete(id)])
        try synchronize(&session)
        // The entity is deleted, and its links resolve to no other entity.
        for link in links { #expect(try session.entity(at: link) == id) }
        #expect(try session.state.row(id) == nil)
    }

    @Test(arguments: Dialect.allCases)
    func `a link that is part of a key cannot be changed`(_ dialect: Dialect) throws {
        var session = try session(dialect)
        let line = try session.entity("Lines", ["Number": .integer(1)])
        let other = try session.entity("Articles", ["Code": .string("A")])
        for action: Operation.Action in [
            .updateLink(Link(from: line, navigation: "Article", to: other)),
            .createLink(Link(from: other, navigation: "Lines", to: line)),
            .update(line, changes: [:], bindings: [Binding(navigation: "Article", targets: [other])]),
            .update(other, changes: [:], bindings: [Binding(navigation: "Lines", targets: [line])]),
        ] {
            let error = #expect(throws: ValidationError.self) { try session.perform([action]) }
            guard case .refused(let refusal)? = error else {
                Issue.record("\(action) is not refused")
                continue
            }
            #expect(refusal.code == .keyIsFixed)
        }
        // A new entity gets its key from the link.
        let id = try session.state.header().nextEntity
        try session.perform([
            .create(
                Creation(
                    entity: id, set: "Lines", type: "Firm.Line",
                    values: ["ArticleCode": .string("A"), "Number": .integer(4)]), parent: nil)
        ])
        #expect(try session.targets(id, "Article") == [other])
        try synchronize(&session)
    }
}
