import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Outcomes of responses, in the forms that services use.
struct ReconcilerTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    private func response(_ status: Int, _ body: String = "", headers: HTTPHeaders = .empty) -> WireResponse {
        var headers = headers
        if !body.isEmpty { headers["Content-Type"] = "application/json" }
        return WireResponse(status: status, headers: headers, body: Array(body.utf8))
    }

    /// - Parameter change: A change of the store between the request and the response.
    @discardableResult
    private func answer(
        _ outcome: ChangeSetOutcome, doubtful: Set<SequenceNumber> = [], in other: TestStore? = nil,
        after change: () throws -> Void = {}
    ) throws -> [BatchAnswered.Outcome] {
        try (other ?? store).answer(outcome, doubtful: doubtful, after: change)
    }

    private func to(_ navigation: String, _ target: EntityID) -> [Binding] {
        [Binding(navigation: navigation, targets: [target])]
    }

    // MARK: Order

    @Test func `a link outlasts the response to an update that was sent before it`() throws {
        let customers = try (1...2).map { try store.download("Customers", ["CustomerID": .integer($0)]) }
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "W/\"1\"")
        try store.perform(
            [
                .updateLink(link(order, "Customer", customers[1])),
                .update(order, changes: ["Note": .string("n")], bindings: []),
            ], changeSet: true)
        try answer(
            .members([
                response(200, #"{"@odata.etag":"W/\"2\"","OrderID":1,"CustomerID":1,"Note":"n"}"#), response(204),
            ]))
        #expect(try store.targets(order, "Customer") == [customers[1]])
        #expect(try store.value(order, "CustomerID") == .integer(2))
        // The link has changed the ETag again.
        #expect(try store.state.row(order)?.origin == .serviceWithStaleETag)
    }

    @Test func `the response to a check of the ETag does not replace the links after it`() throws {
        let customers = try (1...3).map { try store.download("Customers", ["CustomerID": .integer($0)]) }
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .string("o")], etag: "W/\"1\"")
        try store.perform(
            [
                .updateLink(link(order, "Customer", customers[1])),
                .update(order, changes: ["Note": .string("n")], bindings: to("Customer", customers[2])),
            ], changeSet: true)
        let outcomes = try answer(
            .members([
                response(200, #"{"@odata.etag":"W/\"2\"","OrderID":1,"CustomerID":1,"Note":"o"}"#), response(204),
                response(200, #"{"@odata.etag":"W/\"4\"","OrderID":1,"CustomerID":3,"Note":"n"}"#),
            ]))
        #expect(outcomes.map(\.operation) == outcomes.map(\.operation).sorted())
        #expect(try store.targets(order, "Customer") == [customers[2]])
        #expect(try store.value(order, "Note") == .string("n"))
        #expect(try store.state.row(order)?.etag == "W/\"4\"")
    }

    // MARK: Keys

    @Test func `a response 201 with the entity contains its key, values and ETag`() throws {
        let order = try store.create("Orders")
        try answer(.members([response(201, "{\"@odata.etag\":\"W/\\\"1\\\"\",\"OrderID\":7,\"Note\":\"set there\"}")]))
        #expect(try store.value(order, "OrderID") == .integer(7))
        #expect(try store.value(order, "Note") == .string("set there"))
        #expect(try store.state.row(order)?.etag == "W/\"1\"")
        #expect(try store.state.entity(set: "Orders", key: "OrderID=7") == order)
    }

    @Test func `the ETag of a header is used if the body contains none`() throws {
        let order = try store.create("Orders")
        try answer(.members([response(201, "{\"OrderID\":7}", headers: ["ETag": "\"h\""])]))
        #expect(try store.state.row(order)?.etag == "\"h\"")
    }

    @Test(
        arguments: [
            ("OData-EntityId", "http://127.0.0.1/v4/Orders(7)"), ("OData-EntityId", "Orders(7)"),
            ("OData-EntityId", "/v4/Orders(7)"), ("Location", "http://127.0.0.1/v4/Orders(7)"),
            ("Location", "Orders(7)"),
            ("Location", "https://behind.the.gateway/odata/Orders(OrderID=7)"),
        ])
    func `a response 204 with the entity's URL in a header contains its key`(_ header: String, _ url: String) throws {
        let order = try store.create("Orders")
        var headers = HTTPHeaders.empty
        headers[header] = url
        try answer(.members([response(204, headers: headers)]))
        #expect(try store.value(order, "OrderID") == .integer(7))
    }

    @Test func `a body without the key is completed from the header`() throws {
        let order = try store.create("Orders")
        try answer(.members([response(201, "{\"Note\":\"n\"}", headers: ["Location": "Orders(7)"])]))
        #expect(try store.value(order, "OrderID") == .integer(7))
        #expect(try store.value(order, "Note") == .string("n"))
    }

    @Test
    func `a response without a key confirms the create, and operations that refer to the entity wait for its key`()
        throws
    {
        let order = try store.create("Orders")
        try answer(.members([response(204)]))
        #expect(try store.state.row(order)?.origin.isOnService == true)
        try store.perform([.update(order, changes: ["Note": .string("x")], bindings: [])])
        #expect(try store.plan().held.values.first == .keyUnknown(order))
    }

    @Test func `a new entity has the type of its create, even if it was deleted in the store meanwhile`() throws {
        let metadata = TestModel.metadata.replacing(
            "<EntityContainer", with: "<EntityType Name=\"Member\" BaseType=\"Shop.Customer\"/><EntityContainer")
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(metadata.utf8)))
        let member = try store.newID()
        let creation = Creation(
            entity: member, set: "Customers", type: "Shop.Member", values: [:], bindings: [], inline: [])
        try store.perform([.create(creation, parent: nil)])
        try answer(.members([response(201, #"{"CustomerID":7}"#)]), in: store) {
            try store.perform([.delete(member)])
        }
        #expect(try store.state.row(member) == nil)
        let row = try #require(try store.state.serviceRow(member))
        #expect(row.values["CustomerID"] == .integer(7))
        #expect(row.type == "Shop.Member")
    }

    @Test func `a malicious header yields no key and does no harm`() throws {
        let order = try store.create("Orders")
        try answer(.members([response(204, headers: ["OData-EntityId": "Orders((((", "Location": "/Orders("])]))
        #expect(try store.value(order, "OrderID") == nil)
    }

    // MARK: Deep inserts

    @Test func `an expanded response contains the keys of inner entities on two levels`() throws {
        let card = try store.newID()
        let person = EntityID(rawValue: card.rawValue + 1)
        let inline = Creation.Inline(navigation: "Person", entities: [store.creation(person, "Persons")])
        try store.perform([.create(store.creation(card, "IDCards", inline: [inline]), parent: nil)])
        try answer(.members([response(201, "{\"IDCardID\":3,\"PersonID\":4,\"Person\":{\"PersonID\":4}}")]))
        #expect(try store.value(person, "PersonID") == .integer(4))
        #expect(try store.targets(person, "IDCard") == [card])
        #expect(try store.state.rows(set: "Persons") == [person])
    }

    @Test func `children of a collection get the keys of their own responses`() throws {
        let customer = try store.newID()
        let orders = (1...2).map { EntityID(rawValue: customer.rawValue + $0) }
        let inline = Creation.Inline(navigation: "Orders", entities: orders.map { store.creation($0, "Orders") })
        try store.perform([.create(store.creation(customer, "Customers", inline: [inline]), parent: nil)])
        try answer(
            .members([
                response(201, "{\"CustomerID\":1}"), response(201, "{\"OrderID\":11,\"CustomerID\":1}"),
                response(201, "{\"OrderID\":12,\"CustomerID\":1}"),
            ]))
        #expect(try orders.map { try store.value($0, "OrderID") } == [.integer(11), .integer(12)])
        #expect(try store.targets(customer, "Orders") == orders)
    }

    // MARK: Updates

    @Test func `the ETag of the response's header is used for an update`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        try store.perform([.update(order, changes: ["Note": .string("x")], bindings: [])])
        try answer(.members([response(204, headers: ["ETag": "\"2\""])]))
        #expect(try store.state.row(order)?.etag == "\"2\"")
        #expect(try store.state.row(order)?.origin == .service)
    }

    @Test func `an update of an entity that the same change set created uses its own response`() throws {
        let order = try store.newID()
        try store.perform(
            [
                .create(store.creation(order, "Orders"), parent: nil),
                .update(order, changes: ["Note": .string("x")], bindings: []),
            ], changeSet: true)
        try answer(
            .members([
                response(201, "{\"OrderID\":7}", headers: ["ETag": "\"1\""]), response(204, headers: ["ETag": "\"2\""]),
            ]))
        #expect(try store.state.row(order)?.etag == "\"2\"")
        #expect(try store.value(order, "Note") == .string("x"))
    }

    // MARK: Rejections

    private let no = "{\"error\":{\"code\":\"X1\",\"message\":\"Not so.\"}}"

    @Test func `the failed request of a change set is rejected, and the others are pending again`() throws {
        let customer = try store.create("Customers")
        let first = try store.state.header().applied
        try store.create("Orders", bindings: to("Customer", customer))
        let outcomes = try answer(.failed(response(400, no), culprit: "2"))
        #expect(outcomes.map(\.operation) == [first, first + 1])
        #expect(outcomes[0].result == .notProcessed)
        guard case .rejected(let refusal) = outcomes[1].result else {
            Issue.record("it is \(outcomes[1].result)")
            return
        }
        #expect(refusal.code == "X1")
        #expect(refusal.message == "Not so.")
        #expect(refusal.url == "Orders")
    }

    @Test func `if the failed request is unknown, all are rejected, each with its own URL`() throws {
        let customer = try store.create("Customers")
        try store.create("Orders", bindings: to("Customer", customer))
        let outcomes = try answer(.failed(response(400, no), culprit: nil))
        let urls = outcomes.map { if case .rejected(let refusal) = $0.result { refusal.url } else { "" } }
        #expect(urls == ["Customers", "Orders"])
    }

    /// The change set creates a customer and an order of that customer, with the Content-IDs 1 and 2.
    @Test(
        arguments: [
            ("{\"@Core.ContentID\":\"2\"}", "2"), ("{\"details\":[{\"code\":\"D\",\"ContentID\":\"2\"}]}", "2"),
            ("{\"innererror\":{\"errordetails\":[{\"ContentID\":\"1\",\"code\":\"D\"}]}}", "1"),
            ("{\"target\":\"/Orders/Note\"}", "2"), ("{\"target\":\"$1/Name\"}", "1"),
            ("{\"innererror\":{\"errordetails\":[{\"propertyref\":\"Customers/Name\",\"code\":\"D\"}]}}", "1"),
        ])
    func `an error that names a request by Content-ID or target applies to that request`(
        _ error: String, _ culprit: String
    ) throws {
        let customer = try store.create("Customers")
        try store.create("Orders", bindings: to("Customer", customer))
        let outcomes = try answer(.failed(response(400, "{\"error\":\(error)}"), culprit: nil))
        let refused = outcomes.map { if case .rejected = $0.result { true } else { false } }
        #expect(refused == [culprit == "1", culprit == "2"])
    }

    @Test func `an error that names the entity of a check applies to the operation of the check`() throws {
        let customers = try (1...3).map { try store.download("Customers", ["CustomerID": .integer($0)]) }
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .string("o")], etag: "W/\"1\"")
        let operations = try store.perform(
            [
                .updateLink(link(order, "Customer", customers[1])),
                .update(order, changes: ["Note": .string("n")], bindings: to("Customer", customers[2])),
            ], changeSet: true)
        let outcomes = try answer(
            .failed(response(400, #"{"error":{"code":"C","message":"m","target":"Orders(1)/Note"}}"#), culprit: nil))
        let refused = outcomes.filter { if case .rejected = $0.result { true } else { false } }
        #expect(refused.map(\.operation) == [operations[1]])
    }

    @Test(arguments: [404, 410])
    func `a deletion whose check finds that the entity is gone is confirmed`(_ status: Int) throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(9)], etag: "W/\"9\"")
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(9)])
        let operations = try store.perform(
            [.deleteLink(link(order, "Customer", customer)), .delete(customer)], changeSet: true)
        let outcomes = try answer(.failed(response(status, no), culprit: "1"))
        #expect(outcomes.first { $0.operation == operations[0] }?.result == .notProcessed)
        #expect(outcomes.first { $0.operation == operations[1] }?.result == .confirmed(images: []))
    }

    @Test(arguments: ["{\"target\":\"Name\"}", "{\"@Core.ContentID\":\"7\"}", "{\"target\":\"OrdersOfMine\"}"])
    func `an error that names no request applies to all requests`(_ error: String) throws {
        let customer = try store.create("Customers")
        try store.create("Orders", bindings: to("Customer", customer))
        let outcomes = try answer(.failed(response(400, "{\"error\":\(error)}"), culprit: nil))
        #expect(outcomes.allSatisfy { if case .rejected = $0.result { true } else { false } })
    }

    @Test(arguments: [404, 410])
    func `a delete of a missing entity is confirmed`(_ status: Int) throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        try store.perform([.delete(order)])
        try answer(.failed(response(status, no), culprit: "1"))
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.state.row(order) == nil)
    }

    @Test func `a delete of a missing entity does not reject its change set`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let operations = try store.perform(
            [.update(customer, changes: ["Name": .string("x")], bindings: []), .delete(order)], changeSet: true)
        try answer(.failed(response(404, no), culprit: "2"))
        #expect(try store.state.pendingOperations().map(\.sequence) == [operations[0]])
        #expect(try store.state.pendingOperations().map(\.status) == [.pending])
    }

    @Test(arguments: [true, false])
    func `if the missing entity is unknown, an earlier attempt may have deleted it`(_ wasSent: Bool) throws {
        let orders = try [1, 2].map { try store.download("Orders", ["OrderID": .integer($0)]) }
        let operations = try store.perform(orders.map { .delete($0) }, changeSet: true)
        try answer(.failed(response(404, no), culprit: nil), doubtful: wasSent ? Set(operations) : [])
        let kinds = try store.state.pendingOperations().map(\.status.kind)
        #expect(kinds == (wasSent ? [.inDoubt, .inDoubt] : [.rejected, .rejected]))
    }

    @Test func `an update of a missing entity is rejected`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        try store.perform([.update(order, changes: ["Note": .string("x")], bindings: [])])
        try answer(.failed(response(404, no), culprit: "1"))
        #expect(try store.state.pendingOperations().count == 1)
        #expect(try store.value(order, "Note") == .string("x"))
    }

    @Test func `a body that is no OData error is quoted in the rejection`() throws {
        try store.create("Orders")
        let outcomes = try answer(.failed(response(400, "<html>Bad Gateway</html>"), culprit: "1"))
        guard case .rejected(let refusal)? = outcomes.first?.result else {
            Issue.record("it is not refused")
            return
        }
        #expect(refusal.status == 400)
        #expect(refusal.message.contains("Bad Gateway"))
    }

    private func refusal(_ outcomes: [BatchAnswered.Outcome]) throws -> Refusal {
        guard case .rejected(let refusal)? = outcomes.first?.result else { throw Unexpected("\(outcomes)") }
        return refusal
    }

    @Test func `a rejection quotes only the beginning of a long body that is no OData error`() throws {
        try store.create("Orders")
        let body = String(repeating: "x", count: 600)
        let refusal = try refusal(answer(.failed(response(400, body), culprit: "1")))
        #expect(refusal.message == body.prefix(500))
    }

    @Test(arguments: [1, 16_373, 16_374, 20_000])
    func `a rejection contains the body of the request, of which a long one is shortened`(_ length: Int) throws {
        try store.create("Orders", ["Note": .string(String(repeating: "x", count: length))])
        let refusal = try refusal(answer(.failed(response(400, no), culprit: "1")))
        let body = #"{"Note":"\#(String(repeating: "x", count: length))"}"#
        let isLong = body.utf8.count > 16_384
        #expect(refusal.requestBody == (isLong ? body.prefix(16_384) + "… (\(body.utf8.count) bytes)" : body))
    }

    @Test func `operations without an outcome in the response stay pending`() throws {
        try store.create("Orders")
        try store.create("Customers")
        let outcomes = try answer(.members([response(201, "{\"OrderID\":7}")]))
        #expect(outcomes.map(\.result).last == .notProcessed)
        #expect(try store.state.pendingOperations().map(\.status) == [.pending])
    }

    @Test func `an outcome in doubt puts the operation in doubt`() throws {
        try store.create("Orders")
        try answer(.inDoubt("cut"))
        guard case .inDoubt(_, reason: "cut")? = try store.state.pendingOperations().first?.status else {
            try Issue.record("it is \(store.state.pendingOperations())")
            return
        }
    }

    // MARK: Uncertain responses

    @Test(arguments: [303, 502, 504])
    func `a part that may have been executed is in doubt`(_ status: Int) throws {
        try store.create("Orders")
        for outcome in [
            ChangeSetOutcome.failed(response(status, #"{"error":{"code":"c","message":"m"}}"#), culprit: nil),
            .failed(response(status), culprit: "1"),
        ] {
            let outcomes = try answer(outcome)
            #expect(outcomes.count == 1)
            guard case .inDoubt? = outcomes.first?.result else { return #expect(Bool(false), "\(outcomes)") }
            try store.add(.operationsReleased([outcomes[0].operation]))
        }
    }

    @Test func `a part that redirects without execution is rejected`() throws {
        try store.create("Orders")
        let outcomes = try answer(.failed(response(307), culprit: nil))
        guard case .rejected? = outcomes.first?.result else { return #expect(Bool(false), "\(outcomes)") }
    }
}
