import EDM
import Operations
import SyncCore
import Testing

/// Minimal random sequences that failed in the past.
struct FoundSequenceTests {
    private func session(_ dialect: Dialect, _ sets: String...) throws -> PureSession {
        try Sequence.start(dialect, sets)
    }

    private func creation(
        _ id: UInt64, _ set: String, _ values: PropertyValues = [:], bindings: [Binding] = [],
        inline: [Creation.Inline] = []
    ) -> Creation {
        let types = [
            "Persons": "Shop.Person", "IDCards": "Shop.IDCard", "Cities": "Shop.City", "Mayors": "Shop.Mayor",
            "Cars": "Shop.Car", "Owners": "Shop.Owner", "Prices": "Shop.Price",
        ]
        return Creation(
            entity: EntityID(rawValue: id), set: set, type: types[set] ?? set, values: values, bindings: bindings,
            inline: inline)
    }

    private func id(_ number: UInt64) -> EntityID { EntityID(rawValue: number) }

    /// Uploads and downloads. Expects that no operation is rejected, and that the store and the service agree.
    private func synchronize(_ session: inout PureSession, _ sets: [String]) throws {
        let before = try Graph.byID(session)
        let upload = try session.push()
        #expect(upload.refusals.map(\.message) == [])
        #expect(try Graph.ofStore(session, inBase: false) == Graph.ofService(session, sets))
        try session.pull()
        #expect(try Graph.ofStore(session, inBase: false) == Graph.ofService(session, sets))
        #expect(try Graph.byID(session) == before)
    }

    // The seeded Shop after a download: Persons ~1 (with card ~3) and ~2, IDCards ~3 and ~4.

    @Test(arguments: Dialect.allCases)
    func `a dependent property in addition to a deep insert displaces no entity`(_ dialect: Dialect) throws {
        var session = try session(dialect, "Persons", "IDCards")
        try session.perform([
            .create(
                creation(
                    5, "IDCards", ["PersonID": .integer(1)],
                    inline: [.init(navigation: "Person", entities: [creation(6, "Persons")])]), parent: nil)
        ])
        #expect(try session.state.row(id(3))?.values["PersonID"] == .integer(1))
        try synchronize(&session, ["Persons", "IDCards"])
    }

    @Test(arguments: Dialect.allCases)
    func `a dependent property in addition to a binding displaces no entity`(_ dialect: Dialect) throws {
        var session = try session(dialect, "Persons", "IDCards")
        try session.perform([
            .create(
                creation(
                    5, "IDCards", ["PersonID": .integer(1)],
                    bindings: [Binding(navigation: "Person", targets: [id(2)])]), parent: nil)
        ])
        #expect(try session.state.row(id(3))?.values["PersonID"] == .integer(1))
        #expect(try session.state.row(id(5))?.values["PersonID"] == .integer(2))
        try synchronize(&session, ["Persons", "IDCards"])
    }

    @Test(arguments: Dialect.allCases)
    func `a dependent property of an inner entity of a deep insert is not sent`(_ dialect: Dialect) throws {
        var session = try session(dialect, "Cities", "Mayors")
        let mayor = creation(7, "Mayors", ["CityID": .integer(1)])
        try session.perform([
            .create(
                creation(6, "Cities", inline: [.init(navigation: "Mayor", entities: [mayor])]), parent: nil)
        ])
        // A reference to the mayor requires a separate request for its create.
        try session.perform([.createLink(Link(from: id(6), navigation: "Mayor", to: id(7)))])
        try synchronize(&session, ["Cities", "Mayors"])
    }

    @Test(arguments: Dialect.allCases)
    func `a link by a dependent property is sent after the link that it displaces`(_ dialect: Dialect) throws {
        var session = try session(dialect, "Persons", "IDCards")
        try session.perform([.create(creation(5, "Persons"), parent: nil)])
        // The update waits for the key, and the link in the same change set with it.
        try session.perform(
            [
                .update(id(5), changes: ["Name": .string("a")], bindings: []),
                .createLink(Link(from: id(2), navigation: "IDCard", to: id(3))),
            ], asChangeSet: true)
        try session.perform([.create(creation(6, "IDCards", ["PersonID": .integer(2)]), parent: nil)])
        try synchronize(&session, ["Persons", "IDCards"])
    }

    @Test(arguments: Dialect.allCases)
    func `a provisional key does not take over the dependents of the entity that has the key`(_ dialect: Dialect)
        throws
    {
        var session = try session(dialect, "Owners", "Cars")
        // The service will assign the key 3 to the first owner.
        try session.perform([
            .create(
                creation(5, "Cars", inline: [.init(navigation: "Owner", entities: [creation(6, "Owners")])]),
                parent: nil)
        ])
        let second = creation(8, "Owners", ["OwnerID": .integer(3)])
        try session.perform([
            .create(creation(7, "Cars", inline: [.init(navigation: "Owner", entities: [second])]), parent: nil)
        ])
        try synchronize(&session, ["Owners", "Cars"])
    }

    @Test(arguments: Dialect.allCases)
    func `an entity that takes the place of a deleted new entity waits for the delete`(_ dialect: Dialect) throws {
        var session = try session(dialect, "Cities", "Mayors")
        try session.perform([
            .create(
                creation(6, "Mayors", inline: [.init(navigation: "City", entities: [creation(7, "Cities")])]),
                parent: nil)
        ])
        try session.perform([.delete(id(6))])
        try session.perform([.createLink(Link(from: id(5), navigation: "City", to: id(7)))])
        try synchronize(&session, ["Cities", "Mayors"])
    }

    @Test(arguments: Dialect.allCases)
    func `a key is reused only after its former entity is deleted`(_ dialect: Dialect) throws {
        var session = try session(dialect, "Visits", "Prices")
        let key: PropertyValues = ["Currency": .string("EUR"), "Day": .integer(4)]
        try session.perform([.create(creation(5, "Prices", key), parent: nil)])
        try session.perform([.delete(id(5))])
        try session.perform([.create(creation(6, "Prices", key), parent: nil)])
        try synchronize(&session, ["Visits", "Prices"])
    }
}
