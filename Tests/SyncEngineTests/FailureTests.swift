import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import SyncEngine
import TestSupport
import Testing
@testable import OfflineStore

/// Uploads that the service rejects, or during which the connection breaks.
struct FailureTests {
    private func statuses(_ shop: Shop) async throws -> [PendingOperation.Status] {
        try await shop.store.queue.pendingOperations().map(\.status)
    }

    private func refusal(_ status: PendingOperation.Status?) -> Refusal? {
        if case .rejected(let refusal)? = status { refusal } else { nil }
    }

    private func isInDoubt(_ status: PendingOperation.Status?) -> Bool {
        if case .inDoubt? = status { true } else { false }
    }

    private func batches(_ shop: Shop) -> Int { shop.transport.requests.filter { $0.method == "POST" }.count }

    // MARK: Rejected operations

    @Test(arguments: Dialect.allCases)
    func `a rejected operation stays visible with the service's error, and can be retried`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let order = try await shop.create("Orders", ["Note": .string("orphan"), "CustomerID": .integer(4)])
        let report = try await shop.push()
        #expect(report.rejected.count == 1)
        let refusal = try #require(refusal(try await statuses(shop).first))
        #expect(refusal.status == 400)
        #expect(refusal.method == "POST")
        #expect(refusal.url == "Orders")
        #expect(!refusal.message.isEmpty)
        #expect(try await shop.load(order).state == .error)
        #expect(try await shop.value(order, "Note") == .string("orphan"))
        try await shop.pull()
        #expect(try await shop.load(order).state == .error)

        // The order precedes its customer in the log, so a second upload is necessary.
        try await shop.create("Customers", ["Name": .string("now there")])
        #expect(try await shop.push().remaining == 1)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.load(order).state == .clean)
        #expect(try await shop.targets(order, "Customer") == ["Customers(4)"])
    }

    @Test(arguments: Dialect.allCases)
    func `a rejected order holds back only the operations that depend on it`(_ dialect: Dialect)
        async throws
    {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        _ = try await shop.push()
        let bad = try await shop.create("Orders", ["CustomerID": .integer(99)])
        try await shop.perform(update(bad, ["Note": .string("held")]))
        let good = try await shop.create("Orders", ["Note": .string("good")], bind: [bind("Customer", customer)])
        try await shop.perform(update(customer, ["Name": .string("Renamed")]))
        let report = try await shop.push()
        #expect(report.rejected.count == 1)
        #expect(report.remaining == 2)
        #expect(try await shop.load(good).state == .clean)
        #expect(try await shop.load(customer).state == .clean)
        #expect(try await shop.value(bad, "Note") == .string("held"))
    }

    @Test(arguments: Dialect.allCases)
    func `a rejected change set has no effect, and the failed request is identified`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let customer = try await shop.draft(0, "Customers", ["Name": .string("All or nothing")])
        let order = try await shop.draft(1, "Orders", ["CustomerID": .integer(99)])
        try await shop.perform(.create(customer, in: nil), .create(order, in: nil), asChangeSet: true)
        let report = try await shop.push()
        let statuses = try await statuses(shop)
        #expect(statuses.count == 2)
        #expect(refusal(statuses.last)?.url == "Orders")
        // A V2 response does not identify the failed request of a change set, so all of them are rejected.
        if dialect == .v4 {
            #expect(statuses.first == .pending)
        } else {
            #expect(refusal(statuses.first)?.url == "Customers")
        }
        #expect(report.rejected.count == (dialect == .v4 ? 1 : 2))
        #expect(try await shop.serviceState(["Customers"]).count == 3)
    }

    @Test(arguments: Dialect.allCases)
    func `an update does not overwrite a change by another client, and is reapplied after a download`(
        _ dialect: Dialect
    )
        async throws
    {
        let shop = try await Shop(dialect)
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        shop.transport.direct("PATCH", "/v4/Orders(1)", "{\"Quantity\":42}", headers: ["If-Match": "*"])
        let asking = UploadOptions(conflicts: ConflictHandling(policy: .ask))
        let report = try await shop.engine.upload(asking)
        #expect(report.conflicts.count == 1 && report.rejected.isEmpty)
        try await shop.pull()
        #expect(try await shop.value("Orders(1)", "Quantity") == .integer(42))
        #expect(try await shop.value("Orders(1)", "Note") == .string("mine"))
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.localState(["Orders"]) == shop.serviceState(["Orders"]))
    }

    @Test(arguments: Dialect.allCases)
    func `a delete of an entity that no longer exists is confirmed`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(.delete(.link("Orders(4)")), .delete(.link("Products(3)")))
        for url in ["/v4/Orders(4)", "/v4/Products(3)"] {
            shop.transport.direct("DELETE", url, headers: ["If-Match": "*"])
        }
        let report = try await shop.push()
        #expect(report.rejected.map(\.refusal.status) == [])
        #expect(report.remaining == 0)
    }

    @Test(arguments: Dialect.allCases)
    func `an update of a deleted entity is in conflict, and is kept after a download`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(update("Products(3)", ["Name": .string("mine")]))
        shop.transport.direct("DELETE", "/v4/Products(3)")
        let report = try await shop.push()
        #expect(report.conflicts.map(\.kind) == [.deletedByOthers] && report.rejected.isEmpty)
        try await shop.pull()
        #expect(try await shop.value("Products(3)", "Name") == .string("mine"))
    }

    // MARK: Rejected batches

    @Test(arguments: [401, 403, 404])
    func `a batch that the service rejects as a whole leaves its operations pending`(_ status: Int) async throws {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.add(Fault(.refuse(status: status), urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await statuses(shop) == [.pending])
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    @Test func `a failed request for a CSRF token does not put the batch in doubt`() async throws {
        let shop = try await Shop(.v2)
        try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.add(Fault(.dropRequest, method: "GET"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await statuses(shop) == [.pending])
        #expect(try await shop.push().remaining == 0)
    }

    // MARK: Lost responses

    /// Performs one operation of each kind whose outcome can be read from the service.
    private func knowableOperations(_ shop: Shop) async throws {
        let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-000000000001"))
        try await shop.create("Visits", ["VisitID": .guid(id), "Subject": .string("S")])
        try await shop.perform(
            update("Orders(1)", ["Note": .string("mine")]), .delete(.link("Orders(2)")),
            .createLink(from: .link("Suppliers(2)"), navigation: "Products", to: .link("Products(3)")),
            .updateLink(from: .link("Mayors(1)"), navigation: "City", to: .link("Cities(3)")),
            .deleteLink(from: .link("Orders(3)"), navigation: "Customer", to: nil))
    }

    @Test(arguments: Dialect.allCases, [Fault.Effect.dropAnswer, .dropRequest])
    func `operations whose outcome can be read are resolved after a lost request or response`(
        _ dialect: Dialect, _ effect: Fault.Effect
    ) async throws {
        let shop = try await Shop(dialect)
        try await knowableOperations(shop)
        let sequences = try await shop.store.queue.pendingOperations().map(\.sequence)
        shop.transport.add(Fault(effect, urlPart: "$batch"))
        await #expect {
            try await shop.push()
        } throws: { error in
            (error as? TidelogError)?.code == .unreachable
                && (error as? TidelogError)?.upload?.inDoubt == sequences
        }
        #expect(try await statuses(shop).allSatisfy(isInDoubt))
        let report = try await shop.push()
        #expect(report.rejected.map(\.refusal.message) == [])
        #expect(report.inDoubt == [])
        #expect(report.remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        try await shop.perform(update("Orders(1)", ["Note": .string("again")]))
        #expect(try await shop.push().rejected.isEmpty)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: Dialect.allCases, [Fault.Effect.dropAnswer, .dropRequest])
    func `a create with a key of the service is not sent again without evidence`(
        _ dialect: Dialect, _ effect: Fault.Effect
    )
        async throws
    {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.add(Fault(effect, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        shop.transport.forgetRequests()
        let report = try await shop.push()
        #expect(report.inDoubt.count == 1)
        #expect(report.remaining == 1)
        #expect(batches(shop) == 0)
        #expect(try await shop.value(customer, "Name") == .string("New"))
    }

    @Test(arguments: Dialect.allCases)
    func `an entity in doubt keeps the values that the service returned`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-000000000001"))
        let visit = try await shop.create("Visits", ["VisitID": .guid(id), "Subject": .string("S")])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        shop.transport.direct("PATCH", "/v4/Visits(\(id))", "{\"Duration\":\"PT5M\"}")
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.localState(["Visits"]) == shop.serviceState(["Visits"]))
        #expect(try await shop.value(visit, "Subject") == .string("S"))
    }

    @Test(arguments: [true, false])
    func `an update in doubt whose value the service has normalized is confirmed, unless it had the value before`(
        _ tookEffect: Bool
    ) async throws {
        let shop = try await Shop(.v4)
        let former = tookEffect ? "former" : "Lovelace 1842"
        shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"\#(former)"}"#)
        try await shop.pull()
        try await shop.perform(update("Customers(1)", ["Name": .string(" Lovelace 1842 ")]))
        shop.transport.add(Fault(tookEffect ? .dropAnswer : .dropRequest, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        if tookEffect { shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"Lovelace 1842"}"#) }
        shop.transport.forgetRequests()
        let report = try await shop.push()
        #expect(report.conflicts.isEmpty)
        #expect(report.remaining == 0)
        #expect(batches(shop) == (tookEffect ? 0 : 1))
        #expect(
            try await shop.value("Customers(1)", "Name") == .string(tookEffect ? "Lovelace 1842" : " Lovelace 1842 "))
    }

    @Test func `an operation in doubt that had no effect is sent again`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        let plan = try await shop.store.uploads.plan()
        let batch = try await shop.store.prepare(plan)
        try await shop.store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: "test"))])
        #expect(try await statuses(shop).allSatisfy(isInDoubt))
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.localState(["Orders"]) == shop.serviceState(["Orders"]))
    }

    /// Creates an order, whose key the app assigns, with a binding to a new customer, whose key the service assigns.
    /// Both are sent in one change set, formed by the app or by the planner.
    private func boundCreations(_ shop: Shop, asChangeSet: Bool) async throws -> (customer: String, order: String) {
        if asChangeSet {
            let customer = try await shop.draft(0, "Customers", ["Name": .string("New")])
            let order = try await shop.draft(
                1, "Orders", ["OrderID": .integer(5), "Note": .string("bound")],
                bind: [BindingDraft(navigation: "Customer", targets: [.draft(0)])])
            let results = try await shop.perform(
                .create(customer, in: nil), .create(order, in: nil), asChangeSet: true)
            return (results[0].entities[0]?.readLink ?? "", results[1].entities[1]?.readLink ?? "")
        }
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        let order = try await shop.create(
            "Orders", ["OrderID": .integer(5), "Note": .string("bound")], bind: [bind("Customer", customer)])
        return (customer, order)
    }

    @Test(arguments: Dialect.allCases, [false, true])
    func `an existing entity of a change set shows that the others took effect, and keeps its links`(
        _ dialect: Dialect, _ asChangeSet: Bool
    ) async throws {
        let shop = try await Shop(dialect)
        let (customer, order) = try await boundCreations(shop, asChangeSet: asChangeSet)
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        shop.transport.forgetRequests()
        let report = try await shop.push()
        #expect(report.inDoubt == [])
        #expect(report.remaining == 0)
        #expect(report.confirmed.count == 2)
        #expect(batches(shop) == 0)
        #expect(try await shop.targets(order, "Customer") == ["Customers(4)"])
        #expect(try await shop.load(customer).readLink == "Customers(4)")
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        try await shop.perform(update(customer, ["Name": .string("again")]))
        #expect(try await shop.push().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: Dialect.allCases)
    func `a missing entity of a change set shows that none took effect, and all are sent again`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let (customer, order) = try await boundCreations(shop, asChangeSet: false)
        shop.transport.add(Fault(.dropRequest, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        shop.transport.forgetRequests()
        #expect(try await shop.push().remaining == 0)
        #expect(batches(shop) == 1)
        #expect(try await shop.targets(order, "Customer") == [try await shop.load(customer).readLink])
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `an update whose effect is visible does not resolve a create in the same change set`() async throws {
        let shop = try await Shop(.v4)
        let customer = try await shop.draft(0, "Customers", ["Name": .string("New")])
        try await shop.perform(
            .create(customer, in: nil), update("Orders(1)", ["Note": .string("mine")]), asChangeSet: true)
        shop.transport.add(Fault(.dropRequest, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        shop.transport.direct("PATCH", "/v4/Orders(1)", #"{"Note":"mine"}"#, headers: ["If-Match": "*"])
        // They stay in one change set, so that the outcome of one determines the outcome of both.
        #expect(try await shop.push().inDoubt.count == 2)
        #expect(try await shop.store.queue.pendingOperations().contains { !$0.operation.createdEntities.isEmpty })
    }

    // MARK: Changed options

    @Test func `a plan that was made with other service options is not sent`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        let planEpoch = await shop.store.planEpoch
        let plan = try await shop.store.uploads.plan()
        await shop.store.use(ServiceOptions(supportsBatch: false))
        #expect(try await shop.store.prepare(plan, since: planEpoch) == nil)
    }

    // MARK: Sparse responses and interrupted downloads

    @Test(arguments: Dialect.allCases)
    func `keys and ETags are read from responses without bodies`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let customer = try await shop.draft(1, "Customers", ["Name": .string("Deep")])
        let order = try await shop.draft(
            0, "Orders", ["Note": .string("sparse")],
            inline: [InlineDraft(navigation: "Customer", entities: [customer])])
        let options = IntentOptions(headers: ["Prefer": "return=minimal"])
        let result = try await shop.store.perform([(.create(order, in: nil), options)], asChangeSet: false)
        let links = [0, 1].map { result[0].entities[$0]?.readLink ?? "" }
        try await shop.perform(update(links[0], ["Note": .string("changed")]))
        let report = try await shop.push()
        #expect(report.rejected.map(\.refusal.message) == [])
        #expect(report.remaining == 0)
        #expect(try await shop.load(links[0]).readLink == "Orders(5)")
        #expect(try await shop.load(links[1]).readLink == "Customers(4)")
        try await shop.pull()
        #expect(try await shop.load(links[1]).readLink == "Customers(4)")
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: Dialect.allCases)
    func `an interrupted download removes no entity, and the next one succeeds`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect, pageSize: 1)
        let before = try await Set(shop.localState())
        shop.transport.direct("DELETE", "/v4/Products(3)")
        shop.transport.add(Fault(.dropAnswer, method: "GET", urlPart: "Products"))
        await #expect(throws: TidelogError.self) { try await shop.pull() }
        #expect(try await Set(shop.localState()) == before)
        try await shop.pull()
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        #expect(try await shop.localState(["Products"]).count == 2)
    }
}
