import EDM
import Operations
import Testing

@testable import SyncCore

struct ChangeSetGroupingTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    /// Creates an order of each customer, in one change set of the app.
    private func orders(of customers: [EntityID]) throws {
        let next = try store.newID().rawValue
        try store.perform(
            customers.enumerated().map { place, customer in
                let bindings = [Binding(navigation: "Customer", targets: [customer])]
                let id = EntityID(rawValue: next + UInt64(place))
                return .create(store.creation(id, "Orders", bindings: bindings), parent: nil)
            }, changeSet: true)
    }

    /// Adds all pending operations to a grouping. Returns it with the reasons of the operations that have to wait.
    private func grouped() throws -> (grouping: ChangeSetGrouping, held: [SequenceNumber: HoldReason]) {
        let resolver = EntityResolver(storage: store.state, model: store.model)
        var tracker = LinkTracker(resolver)
        var (grouping, held) = (ChangeSetGrouping(), [SequenceNumber: HoldReason]())
        for unit in try QueueWalk.units(of: store.state.pendingOperations(), resolver, &tracker) {
            let reason = try grouping.add(unit.operations, unit.footprints, resolver) { _ in true }
            for pending in unit.operations { held[pending.sequence] = reason }
        }
        return (grouping, held)
    }

    @Test func `a group that reads an entity with many operations is listed once, if another one alternates`() throws {
        let shared = try store.download("Customers", ["CustomerID": .integer(1)])
        let new = [try store.create("Customers"), try store.create("Customers")]
        for number in 0..<40 { try orders(of: [new[number % 2], shared]) }
        let (grouping, held) = try grouped()
        #expect(held.isEmpty)
        #expect(grouping.inOrder().map(\.count) == [41, 41])
        #expect(grouping.readers[shared]?.elements.sorted() == [0, 1])
    }

    @Test func `a group moves after a later group on which a joining unit depends`() throws {
        let shared = try store.download("Customers", ["CustomerID": .integer(1)])
        let new = try store.create("Customers")
        let created = try store.state.header().applied
        try store.perform([.update(shared, changes: ["Name": .string("new")], bindings: [])])
        try orders(of: [new, shared])
        let (grouping, held) = try grouped()
        #expect(held.isEmpty)
        #expect(
            grouping.inOrder().map { $0.map(\.sequence) } == [[created + 1], [created, created + 2, created + 3]])
    }

    @Test func `an operation that depends on one left out of a full batch has the same reason`() throws {
        let shared = try store.download("Customers", ["CustomerID": .integer(1)])
        try store.perform([.update(shared, changes: ["Name": .string("new")], bindings: [])])
        let new = try store.create("Customers")
        let created = try store.state.header().applied
        try store.perform([.update(new, changes: ["Name": .string("own")], bindings: [])])
        #expect(try store.plan(limit: 1).held == [created: .batchFull, created + 1: .batchFull])
    }

    @Test func `an operation left out of a full batch has the reason for which it waits anyway`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "\"1\"")
        let operations = try ["a", "b"].flatMap {
            try store.perform([.update(customer, changes: ["Name": .string($0)], bindings: [])])
        }
        #expect(try store.plan(limit: 1).held == [operations[1]: .waitsFor(operations[0])])
    }

    @Test func `an operation that refers to an entity waits for an update of the entity that waits itself`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "\"1\"")
        let updates = try ["a", "b"].flatMap {
            try store.perform([.update(customer, changes: ["Name": .string($0)], bindings: [])])
        }
        try orders(of: [customer])
        let order = try store.state.header().applied
        #expect(try grouped().held == [updates[1]: .waitsFor(updates[0]), order: .waitsFor(updates[1])])
    }

    @Test func `an operation that cannot join a merged group waits for the same operation in every process`() throws {
        let shared = try store.download("Customers", ["CustomerID": .integer(1)])
        let other = try store.create("Customers")
        let new = try (1...8).map { _ in try store.create("Customers") }
        let last = try store.state.header().applied
        try orders(of: new + [shared])
        // Has to follow the merged group, which therefore keeps its position.
        try store.perform([.update(shared, changes: ["Name": .string("new")], bindings: [])])
        try orders(of: [new[0], other])
        let (grouping, held) = try grouped()
        #expect(held == [last + 11: .waitsFor(last), last + 12: .waitsFor(last)])
        #expect(grouping.inOrder().map(\.count) == [1, 17, 1])
    }
}
