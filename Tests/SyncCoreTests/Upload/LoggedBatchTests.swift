import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Sent batches that are read from the log, compared with those at their transmission.
struct LoggedBatchTests {
    private let store: TestStore
    private let customer: EntityID

    init() throws {
        store = try TestStore()
        customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("Ada")])
    }

    private func read(_ prepared: BatchPrepared) throws -> UploadedBatch {
        try LoggedBatchReader(storage: store.state, model: store.model).batch(
            prepared, prepared.changeSets.indices)
    }

    /// Returns the plan of the queue as it is sent, and as the log contains it.
    private func sent(_ plan: UploadPlan) throws -> (sent: UploadedBatch, logged: UploadedBatch) {
        let encoder = RequestEncoder(version: store.model.version, model: store.model, serviceRoot: "http://s/")
        let requests = plan.changeSets.map { $0.requests.map { encoder.encode($0.modification) } }
        var prepared = plan.prepared(as: 7)
        prepared.sent = zip(plan.changeSets, requests).map { changeSet, wires in
            zip(changeSet.requests, wires).map { BatchPrepared.SentRequest($1, contentID: $0.contentID) }
        }
        let batch = UploadedBatch(plan, number: 7) { encoder.encode($0.modification) }
        return (batch, try read(prepared))
    }

    private func expectSame(_ plan: UploadPlan) throws {
        let (sent, logged) = try sent(plan)
        #expect(logged.number == sent.number)
        #expect(logged.changeSets.count == sent.changeSets.count)
        for (own, expected) in zip(
            logged.changeSets.flatMap(\.requests), sent.changeSets.flatMap(\.requests))
        {
            #expect(own.contentID == expected.contentID)
            #expect(own.operation == expected.operation)
            #expect(own.carries == expected.carries)
            #expect(own.effect == expected.effect)
            #expect(own.creates == expected.creates)
            #expect(own.wire == expected.wire)
            #expect(own.references == expected.references)
            #expect(own.ended == expected.ended)
            #expect(own.body?.type == expected.body?.type)
            #expect(own.body?.values == expected.body?.values)
        }
        #expect(logged.operations == sent.operations)
    }

    @Test func `a logged batch has the requests of the sent one`() throws {
        let order = try store.create("Orders", ["Note": .string("n")])
        try store.perform([.createLink(link(customer, "Orders", order))])
        try store.perform([.update(customer, changes: ["Name": .string("B")], bindings: [])])
        let gone = try store.download("Orders", ["OrderID": .integer(4)])
        try store.perform([.delete(gone)])
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let product = try store.download("Products", ["ProductID": .integer(1)])
        try store.perform([.createLink(link(supplier, "Products", product))])
        try store.perform([.deleteLink(link(supplier, "Products", product))])
        let plan = try store.plan()
        #expect(Set(try sent(plan).sent.changeSets.flatMap(\.requests).map(\.effect)).count >= 4)
        try expectSame(plan)
    }

    @Test func `a logged request carries the operations that it was coalesced from`() throws {
        let order = try store.create("Orders", ["Note": .string("n")])
        try store.perform([.update(order, changes: ["Note": .string("later")], bindings: [])])
        try store.perform([.update(customer, changes: ["Name": .string("B")], bindings: [])])
        let plan = try store.plan { $0.coalesces = true }
        #expect(plan.changeSets.flatMap(\.requests).map(\.carries.count) == [1, 0])
        try expectSame(plan)
        let logged = try sent(plan).logged
        #expect(logged.changeSets[0].requests[0].body?.values["Note"] == .string("later"))
    }

    @Test func `a logged deep insert has the content of its inner entities`() throws {
        let order = try store.newID()
        let inner = EntityID(rawValue: order.rawValue + 1)
        let child = store.creation(inner, "Customers", ["Name": .string("inner")])
        let inline = Creation.Inline(navigation: "Customer", entities: [child])
        try store.perform([.create(store.creation(order, "Orders", inline: [inline]), parent: nil)])
        let plan = try store.plan()
        try expectSame(plan)
        let body = try #require(try sent(plan).logged.changeSets.first?.requests.first?.body)
        #expect(body.inline.map(\.navigation.name) == ["Customer"])
        #expect(body.inline[0].entities.map(\.values) == [["Name": .string("inner")]])
        #expect(body.inline[0].entities.map(\.contentID) == [nil])
    }

    @Test func `the entities of a logged deep insert in a collection have the Content-IDs of the sent ones`() throws {
        store.service = ServiceOptions(deepInsertToMany: .contentID)
        let new = try store.newID()
        let orders = (1...2).map { EntityID(rawValue: new.rawValue + $0) }
        let inline = Creation.Inline(navigation: "Orders", entities: orders.map { store.creation($0, "Orders") })
        try store.perform([.create(store.creation(new, "Customers", inline: [inline]), parent: nil)])
        let (sent, logged) = try sent(store.plan())
        for batch in [sent, logged] {
            let body = try #require(batch.changeSets.first?.requests.first?.body)
            #expect(body.inline.flatMap(\.entities).compactMap(\.contentID) == orders.map { "\($0.rawValue)" })
        }
    }

    // MARK: Logs of earlier versions

    private func request(_ id: String, _ operation: SequenceNumber) -> BatchPrepared.Request {
        BatchPrepared.Request(contentID: id, operation: operation)
    }

    private func effects(_ changeSet: [BatchPrepared.Request]) throws -> [BatchPrepared.Effect] {
        try read(BatchPrepared(batch: 1, changeSets: [changeSet])).changeSets[0].requests.map(\.effect)
    }

    @Test func `without a logged effect, that of the operation counts`() throws {
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let product = try store.download("Products", ["ProductID": .integer(1)])
        let actions: [Operation.Action] = [
            .create(store.creation(try store.newID(), "Orders"), parent: nil),
            .update(customer, changes: ["Name": .string("B")], bindings: []),
            .createLink(link(supplier, "Products", product)), .deleteLink(link(supplier, "Products", product)),
            .delete(customer),
        ]
        let operations = try actions.map { try store.perform([$0])[0] }
        #expect(
            try effects(operations.enumerated().map { request("\($0)", $1) })
                == [.create, .update, .link, .unlink, .delete])
    }

    @Test func `an operation of several requests without logged effects is read as links`() throws {
        let order = try store.create("Orders")
        let creation = try store.state.header().applied
        #expect(try effects([request("1", creation), request("2", creation)]) == [.link, .link])
        let batch = try read(BatchPrepared(batch: 1, changeSets: [[request("1", creation)]]))
        #expect(batch.changeSets[0].requests[0].creates == NewEntity(order))
    }

    @Test func `an operation that is no longer pending has no outcome`() throws {
        let update = try store.perform([.update(customer, changes: ["Name": .string("B")], bindings: [])])[0]
        let batch = try read(
            BatchPrepared(batch: 1, changeSets: [[request("1", update), request("1", 900), request("2", 901)]]))
        let requests = batch.changeSets[0].requests
        #expect(requests.map(\.operation) == [update, 901])
        #expect(requests.map(\.carries) == [[900], []])
        #expect(requests.map(\.ended) == [[900], [901]])
        #expect(batch.operations == [update])
    }

    @Test func `requests that the log lacks are added by their Content-ID`() throws {
        let update = try store.perform([.update(customer, changes: ["Name": .string("B")], bindings: [])])[0]
        var batch = try read(BatchPrepared(batch: 1, changeSets: [[request("1", update)], [request("2", 900)]]))
        let (wire, other) = (WireRequest(method: "PATCH", url: "a"), WireRequest(method: "PATCH", url: "b"))
        func rebuilt(_ requests: [(contentID: String, wire: WireRequest)]) -> UploadedBatch {
            UploadedBatch(
                number: 1,
                changeSets: requests.map {
                    var request = UploadedRequest(contentID: $0.contentID, operation: update, effect: .update)
                    request.wire = $0.wire
                    return UploadedChangeSet(requests: [request])
                })
        }
        batch.complete(from: rebuilt([("2", other), ("3", wire)]))
        #expect(batch.changeSets.map { $0.requests.map(\.wire) } == [[nil], [other]])
        batch.complete(from: rebuilt([("1", wire), ("2", wire)]))
        #expect(batch.changeSets.map { $0.requests.map(\.wire) } == [[wire], [other]])
    }
}
