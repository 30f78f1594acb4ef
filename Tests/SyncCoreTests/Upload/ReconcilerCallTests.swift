import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// The responses to calls.
struct ReconcilerCallTests {
    let store: TestStore

    init() throws { store = try TestStore(TestModel.withActions) }

    /// Folds the response to the only request of the plan.
    private func answer(
        _ body: String, status: Int = 200, headers: HTTPHeaders = .empty, in other: TestStore? = nil
    ) throws {
        let store = other ?? self.store
        let plan = try store.plan()
        let encoder = RequestEncoder(version: .v4, model: store.model, serviceRoot: TestModel.service.root)
        let batch = try store.prepare(plan)
        let sent = UploadedBatch(plan, number: batch) { encoder.encode($0.modification) }
        var reconciler = try Reconciler(
            storage: store.state, model: store.model, serviceRoot: TestModel.service.root)
        var headers = headers
        headers["Content-Type"] = "application/json"
        let response = WireResponse(status: status, headers: headers, body: Array(body.utf8))
        let outcomes = try reconciler.outcomes(of: sent.answered([.members([response])]))
        try store.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
    }

    // MARK: The bound entity

    @Test func `the bound entity in the response replaces the declared effect`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        try store.call(.touch(order), .update(order, changes: ["Note": .string("mine")], bindings: []))
        try answer(#"{"@odata.etag":"\"2\"","OrderID":1,"Note":"theirs"}"#)
        #expect(try store.value(order, "Note") == .string("theirs"))
        #expect(try store.state.row(order)?.etag == "\"2\"")
        #expect(try store.state.pendingOperations().isEmpty)
    }

    @Test func `a response without content keeps the declared effect, and the entity has to be read`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        try store.call(.touch(order), .update(order, changes: ["Note": .string("mine")], bindings: []))
        #expect(try store.plan().changeSets[0].requests[0].called == [order])
        try answer("", status: 204)
        #expect(try store.value(order, "Note") == .string("mine"))
        #expect(try store.state.row(order)?.origin == .serviceWithStaleETag)
    }

    @Test func `the bound entity takes a new key from the response`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        try store.call(.touch(order, answer: .boundEntity))
        try answer(#"{"OrderID":9,"Note":"b"}"#)
        #expect(try store.value(order, "OrderID") == .integer(9))
        #expect(try store.state.entity(set: "Orders", key: "OrderID=9") == order)
        #expect(try store.state.entity(set: "Orders", key: "OrderID=1") == order)
    }

    @Test func `the bound entity does not take the key of another entity`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        let other = try store.download("Orders", ["OrderID": .integer(9)])
        try store.call(.touch(order, answer: .boundEntity))
        try answer(#"{"OrderID":9,"Note":"b"}"#)
        #expect(try store.value(order, "OrderID") == .integer(1))
        #expect(try store.value(other, "Note") == .string("b"))
    }

    @Test func `the ETag of a header is used if the returned entity contains none`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        try store.call(.touch(order))
        try answer(#"{"OrderID":1,"Note":"b"}"#, headers: ["ETag": "\"2\""])
        #expect(try store.value(order, "Note") == .string("b"))
        #expect(try store.state.row(order)?.etag == "\"2\"")
    }

    // MARK: Sets

    @Test func `returned entities are known ones and new ones`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        try store.call(ActionCall("List"))
        try answer(#"{"value":[{"OrderID":1,"Note":"a"},{"OrderID":2,"Note":"b"}]}"#)
        #expect(try store.value(order, "Note") == .string("a"))
        #expect(try store.state.entity(set: "Orders", key: "OrderID=2") != nil)
        #expect(try store.state.rows(set: "Orders").count == 2)
    }

    /// Returns a store with further actions, whose results have no declared set.
    ///
    /// - Parameter sets: Further entity sets.
    private func extendedStore(sets: String = "") throws -> TestStore {
        let type =
            #"<EntityType Name="Report"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>"#
            + #"<Property Name="error" Type="Edm.String"/></EntityType>"#
        let actions =
            #"<Action Name="Copy" IsBound="true"><Parameter Name="it" Type="Shop.Order" Nullable="false"/>"#
            + #"<ReturnType Type="Shop.Order"/></Action><Action Name="Find"><ReturnType Type="Shop.Order"/></Action>"#
            + #"<Action Name="Check"><ReturnType Type="Shop.Report"/></Action>"#
        let imports =
            #"<ActionImport Name="Find" Action="Shop.Find"/><ActionImport Name="Check" Action="Shop.Check"/>"#
        let text = String(decoding: TestModel.withActions.metadata, as: UTF8.self)
            .replacing("<EntityContainer", with: "\(type)\(actions)<EntityContainer", maxReplacements: 1)
            .replacing("</EntityContainer>", with: "\(sets)\(imports)</EntityContainer>")
        return try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
    }

    @Test func `a result without a declared set belongs to the only set of its type`() throws {
        let store = try extendedStore()
        try store.call(ActionCall("Find"))
        try answer(#"{"OrderID":5,"Note":"x"}"#, in: store)
        let found = try #require(try store.state.entity(set: "Orders", key: "OrderID=5"))
        #expect(try store.value(found, "Note") == .string("x"))
    }

    @Test func `of several sets, a result without a declared set belongs to that of the bound entity, or to none`()
        throws
    {
        let store = try extendedStore(sets: #"<EntitySet Name="OldOrders" EntityType="Shop.Order"/>"#)
        let order = try store.download("OldOrders", ["OrderID": .integer(1)])
        try store.call(ActionCall("Shop.Copy", on: .entity(order)))
        try answer(#"{"OrderID":2}"#, in: store)
        #expect(try store.state.entity(set: "OldOrders", key: "OrderID=2") != nil)
        try store.call(ActionCall("Find"))
        try answer(#"{"OrderID":5}"#, in: store)
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.state.rows(set: "OldOrders").count == 2)
        #expect(try store.state.rows(set: "Orders").isEmpty)
    }

    // MARK: Errors

    @Test(arguments: ["{}", "[", #"{"value":3}"#, "null", #"{"OrderID":"x"}"#])
    func `a response that cannot be read confirms the call`(_ body: String) throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        try store.call(.touch(order))
        try answer(body)
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.value(order, "OrderID") == .integer(1))
    }

    @Test func `a property of the returned entity is no error, whatever its name`() throws {
        let store = try extendedStore()
        try store.call(ActionCall("Check"))
        try answer(#"{"ID":1,"error":"none"}"#, in: store)
        #expect(try store.state.pendingOperations().isEmpty)
        let failed = try store.call(ActionCall("Find"))
        try answer(#"{"error":{"code":"c","message":"m"}}"#, in: store)
        #expect(try store.state.pendingOperation(failed)?.status.kind == .inDoubt)
    }
}
