import EDM
import Operations
import SyncCore
import Testing

/// Conflicts on entities with drafts, which are not sent and take part in no conflict.
struct DraftConflictTests {
    private let store: TestStore
    private let order: EntityID

    init() throws {
        store = try TestStore()
        order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")], etag: "1")
        try store.download("Customers", ["CustomerID": .integer(1)])
        try store.download("Customers", ["CustomerID": .integer(2)])
    }

    private func update(_ changes: PropertyValues, delivery: Delivery = .queued) throws -> SequenceNumber {
        let update = try store.perform([.update(order, changes: changes, bindings: [])])[0]
        if delivery != .queued { try store.add(.deliveryChanged([update], to: delivery)) }
        return update
    }

    private func others(_ changes: PropertyValues, etag: String = "2") throws {
        var values: PropertyValues = ["OrderID": .integer(1), "Note": .string("a")]
        values.merge(changes)
        try store.add(
            .entitiesRead([EntityImage(entity: order, set: "Orders", type: "Shop.Order", values: values, etag: etag)]))
    }

    private func conflict() throws -> Conflict? {
        try ConflictFinder(storage: store.state, model: store.model, index: RelationshipIndex(store.model)).conflict(
            on: order)
    }

    private func resolve(_ decision: ConflictDecision) throws {
        try store.add(.conflictResolved(ConflictResolved(entity: order, decision: decision)))
    }

    @Test(arguments: [Delivery.draft, .localOnly])
    func `a change that is not sent is no conflict until it is released`(_ delivery: Delivery) throws {
        let draft = try update(["Note": .string("mine")], delivery: delivery)
        try others(["Note": .string("theirs")])
        #expect(try conflict() == nil)
        try store.add(.deliveryChanged([draft], to: .queued))
        let note = try #require(try conflict()?.properties.first { $0.name == "Note" })
        #expect(note.isOverlapping)
        #expect(note.base == .string("a"))
    }

    @Test func `a property that only a draft changes is no part of the conflict`() throws {
        _ = try update(["CustomerID": .integer(1)])
        _ = try update(["Note": .string("draft")], delivery: .draft)
        try others(["CustomerID": .integer(2), "Note": .string("theirs")])
        #expect(try conflict()?.properties.map(\.name) == ["CustomerID"])
    }

    @Test func `the version to be sent is the queued one, even if a draft changes the property later`() throws {
        _ = try update(["Note": .string("sent")])
        _ = try update(["Note": .string("draft")], delivery: .draft)
        try others(["Note": .string("theirs")])
        #expect(try conflict()?.properties.first?.mine == .string("sent"))
    }

    @Test func `a conflict of a draft outlives the resolution of a different conflict`() throws {
        _ = try update(["CustomerID": .integer(1)])
        let draft = try update(["Note": .string("draft")], delivery: .draft)
        try others(["CustomerID": .integer(2), "Note": .string("theirs")])
        try resolve(.clientWins)
        #expect(try conflict() == nil)
        try store.add(.deliveryChanged([draft], to: .queued))
        let properties = try #require(try conflict()?.properties.filter(\.isOverlapping))
        #expect(properties.map(\.name) == ["Note"])
    }

    @Test func `a resolution without drafts leaves no merge base`() throws {
        _ = try update(["Note": .string("mine")])
        try others(["Note": .string("theirs")])
        try resolve(.clientWins)
        #expect(try store.state.bookkeeping.mergeBases() == [])
    }

    @Test func `a decision about a property also holds for a draft of it`() throws {
        _ = try update(["Note": .string("sent")])
        let draft = try update(["Note": .string("draft")], delivery: .draft)
        try others(["Note": .string("theirs")])
        try resolve(.clientWins)
        try store.add(.deliveryChanged([draft], to: .queued))
        #expect(try conflict() == nil)
        try others(["Note": .string("theirs again")], etag: "3")
        #expect(try conflict()?.isOverlapping == true)
    }

    @Test func `a change by another client that a draft deletes is a conflict after the release`() throws {
        let deletion = try store.perform([.delete(order)])[0]
        try store.add(.deliveryChanged([deletion], to: .draft))
        try others(["Note": .string("theirs")])
        #expect(try conflict() == nil)
        try store.add(.deliveryChanged([deletion], to: .queued))
        #expect(try conflict()?.kind == .deletedHere)
    }
}
