import EDM
import Operations
import SyncCore
import Testing

/// Messages of cardinality refusals: the entities that would lack a partner, the property, the cause, and the legal
/// alternatives.
struct CardinalityRefusalTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    private func refusal(_ actions: Operation.Action..., changeSet: Bool = false) throws -> OperationRefused {
        do {
            try store.perform(actions, changeSet: changeSet)
        } catch ValidationError.refused(let refusal) {
            return refusal
        }
        Issue.record("Nothing was refused.")
        return OperationRefused(.mandatoryEnd, "")
    }

    private func father(_ key: Int64) throws -> EntityID { try store.download("Fathers", ["FatherID": .integer(key)]) }

    private func child(_ key: Int64, of father: Int64) throws -> EntityID {
        try store.download("Children", ["ChildID": .integer(key), "FatherID": .integer(father)])
    }

    @Test func `a refusal names the first five of the entities that would lack a partner`() throws {
        let father = try father(1)
        for key in 1...7 { _ = try child(Int64(key), of: 1) }
        let refusal = try refusal(.delete(father))
        #expect(
            refusal.message == """
                Children(1), Children(2), Children(3), Children(4), Children(5) and 2 more would have no Children/Father, which \
                each must have (multiplicity 1): Fathers(1) would be deleted.
                """)
        #expect(refusal.recovery?.hasSuffix("or link them to another entity of Fathers there.") == true)
    }

    @Test func `a refusal names an entity without a key by its ID`() throws {
        let father = try store.create("Fathers")
        let child = try store.create("Children", bindings: [Binding(navigation: "Father", targets: [father])])
        let refusal = try refusal(.delete(father))
        #expect(refusal.message.hasPrefix("Children(\(child)) would have no Children/Father"))
        #expect(refusal.message.hasSuffix("Fathers(\(father)) would be deleted."))
        #expect(refusal.recovery?.hasPrefix("Add the delete of Children(\(child)) to the same change set") == true)
    }

    @Test func `a refusal names the cause in this call, not pending operations before it`() throws {
        let (first, second) = (try father(1), try father(2))
        let child = try child(1, of: 1)
        try store.perform([.updateLink(Link(from: child, navigation: "Father", to: second))])
        let refusal = try refusal(.delete(second))
        #expect(refusal.message.hasSuffix("Fathers(2) would be deleted."))
        #expect(!refusal.message.contains("Fathers(1)"))
        try store.perform([.delete(first)])
    }

    @Test func `an entity that a change set displaces twice is named once`() throws {
        for key in 1...3 { _ = try store.download("Cities", ["CityID": .integer(Int64(key))]) }
        let mayors = try (1...3).map {
            try store.download("Mayors", ["MayorID": .integer(Int64($0)), "CityID": .integer(Int64($0))])
        }
        let second = try #require(try store.targets(mayors[1], "City").first)
        let refusal = try refusal(
            .updateLink(Link(from: mayors[0], navigation: "City", to: second)),
            .updateLink(Link(from: mayors[2], navigation: "City", to: second)), changeSet: true)
        #expect(refusal.message.contains("Mayors(1) would have no"))
        #expect(refusal.message.contains("Mayors(2) would have no"))
        #expect(!refusal.message.contains("Mayors(3) would have no"))
        #expect(refusal.message.contains("Mayors(3) would take its place at Cities(2)."))
    }
}
