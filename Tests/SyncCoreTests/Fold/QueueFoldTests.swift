import EDM
import Operations
import SyncCore
import Testing

/// Operations that end without a request to the service.
struct QueueFoldTests {
    private let customer = EntityID(rawValue: 1)

    private func rename(_ name: String, _ delivery: Delivery = .queued) -> Record.Body {
        var operation = Operation(.update(customer, changes: ["Name": .string(name)], bindings: []))
        operation.delivery = delivery
        return .operation(operation)
    }

    @Test(arguments: [1, .max >> 2, 1 + .max >> 2, .max] as [UInt64])
    func `an entity with any number is rebased, also if only a part of the queue is reapplied`(
        _ number: UInt64
    ) throws {
        let entity = EntityID(rawValue: number)
        func read(_ name: String, etag: String) -> Record.Body {
            .entitiesRead([
                EntityImage(
                    entity: entity, set: "Customers", type: "Shop.Customer",
                    values: ["CustomerID": .integer(1), "Name": .string(name)], etag: etag)
            ])
        }
        let update = Operation(.update(entity, changes: ["Name": .string("own")], bindings: []))
        let records: [Record.Body] = [
            .serviceInstalled(TestModel.service), read("Ada", etag: "1"), .operation(update), read("Ada", etag: "1"),
            read("Bob", etag: "2"),
        ]
        for longQueue in [0, .max] {
            let state = WorkingSet()
            var fold = try Fold(storage: state)
            fold.longQueue = longQueue
            for (index, body) in records.enumerated() {
                try fold.apply(Record(time: 0, body: body), sequence: SequenceNumber(index + 1))
                try fold.finishRebase()
            }
            let row = try #require(try state.row(entity))
            #expect(row.values["Name"] == .string("own"))
            #expect(row.etag == "2", "a queue longer than \(longQueue)")
        }
    }

    @Test func `the numbers of the entities that an amended operation creates are not assigned again`() throws {
        let store = try TestStore()
        let order = try store.create("Orders")
        let creation = try #require(try store.state.pendingOperations().first).sequence
        let customer = EntityID(rawValue: order.rawValue + 5)
        let inline = Creation.Inline(navigation: "Customer", entities: [store.creation(customer, "Customers")])
        let content = Operation(.create(store.creation(order, "Orders", inline: [inline]), parent: nil))
        try store.add(.operationsAmended([AmendedOperation(operation: creation, content: content)]))
        #expect(try store.targets(order, "Customer") == [customer])
        #expect(try store.newID() == EntityID(rawValue: customer.rawValue + 1))
    }

    @Test func `requests that change an entity after an operation of a new batch are not repeated`() throws {
        let (store, a, b) = try TestStore.withCustomers()
        let updates = [(a, "first"), (a, "second"), (b, "other")].map { entity, name in
            Operation.Action.update(entity, changes: ["Name": .string(name)], bindings: [])
        }
        let order = try store.creation(store.newID(), "Orders")
        let operations = try store.perform(updates + [.create(order, parent: Parent(entity: a, navigation: "Orders"))])
        let request = BatchPrepared.SentRequest(contentID: "1", method: "PATCH", url: "", headers: [], body: [])
        let batch = try store.state.header().nextBatch
        try store.add(
            .batchPrepared(
                BatchPrepared(
                    batch: batch, changeSets: operations.map { [.init(contentID: "1", operation: $0)] },
                    sent: operations.map { _ in [request] })))
        try store.add(.batchInterrupted(BatchInterrupted(batch: batch, reason: "No answer.")))
        // Reading has shown that the first operation did not take effect.
        try store.add(.operationsReleased([operations[0]]))
        try store.add(
            .batchPrepared(
                BatchPrepared(batch: batch + 1, changeSets: [[.init(contentID: "1", operation: operations[0])]])))
        // A creation must not be executed twice.
        let sent = try #require(try store.state.bookkeeping.openBatch(batch)).prepared.sent
        #expect(sent == [[request], [], [request], [request]])
        #expect(try StateDigest(of: TestStore(replaying: store.records).state) == store.digest())
    }

    @Test(arguments: [
        (Record.Body.clientChangesKept([4]), "own"), (.operationsElided([4]), "Ada"), (.operationsUndone([4]), "Ada"),
    ])
    func `an operation that ends is no longer applied after the others, also if only a part of the queue is reapplied`(
        _ end: Record.Body, _ base: String
    ) throws {
        let image = EntityImage(
            entity: customer, set: "Customers", type: "Shop.Customer",
            values: ["CustomerID": .integer(1), "Name": .string("Ada")])
        let records: [Record.Body] = [
            .serviceInstalled(TestModel.service), .entitiesRead([image]), rename("sent"), rename("own", .localOnly),
            // After a fact, the effects of all operations are known.
            .entitiesRead([image]), end,
        ]
        for longQueue in [0, .max] {
            let state = WorkingSet()
            var fold = try Fold(storage: state)
            fold.longQueue = longQueue
            for (index, body) in records.enumerated() {
                try fold.apply(Record(time: 0, body: body), sequence: SequenceNumber(index + 1))
                try fold.finishRebase()
            }
            #expect(try state.row(customer)?.values["Name"] == .string("sent"))
            #expect(try state.serviceRow(customer)?.values["Name"] == .string(base))
            #expect(fold.partialReplaysOfEnded == (longQueue == 0 ? 1 : 0))
        }
    }
}
