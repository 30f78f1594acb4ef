import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing
import Transport

@testable import OfflineStore
@testable import SyncEngine

/// Creates in doubt, at a service that assigns the keys and does not support repeatable requests.
struct EvidenceTests {
    private let time = VirtualTime()

    private func shop(
        _ dialect: Dialect, _ service: ServiceOptions = ServiceOptions(), queries: [DefiningQuery]? = nil
    ) async throws -> Shop {
        let shop = try await Shop(
            dialect, options: LocalStoreOptions(environment: time.environment), queries: queries)
        await shop.store.use(service)
        return shop
    }

    /// Uploads a batch during which the connection is cut.
    private func cut(_ shop: Shop, _ effect: Fault.Effect) async throws {
        shop.transport.add(Fault(effect, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        shop.transport.forgetRequests()
    }

    private func batches(_ shop: Shop) -> Int { shop.transport.requests.count { $0.url.hasSuffix("$batch") } }

    private func suppliers(_ shop: Shop, _ name: String) async throws -> Int {
        try await shop.serviceState(["Suppliers"]).count { $0.contains(name) }
    }

    private func agree(_ shop: Shop) async throws {
        try await shop.pull()
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    // MARK: Single creates

    @Test(arguments: Dialect.allCases)
    func `a create in doubt that took effect is confirmed at once, with its key`(_ dialect: Dialect) async throws {
        let shop = try await shop(dialect)
        let link = try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropAnswer)
        let report = try await shop.push()
        #expect(report.inDoubt == [])
        #expect(report.remaining == 0)
        #expect(report.adopted == report.confirmed)
        #expect(batches(shop) == 0)
        #expect(try await !shop.load(link).readLink.contains("~"))
        try await shop.perform(update(link, ["Name": .string("Renamed")]))
        #expect(try await shop.push().remaining == 0)
        try await agree(shop)
        #expect(try await suppliers(shop, "Renamed") == 1)
    }

    @Test(arguments: Dialect.allCases)
    func `a create in doubt that did not take effect is sent again after the waiting time`(_ dialect: Dialect)
        async throws
    {
        let shop = try await shop(dialect)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropRequest)
        try await shop.perform(update("Customers(1)", ["Name": .string("Independent")]))
        let early = try await shop.push()
        #expect(early.confirmed.count == 1)
        #expect(early.inDoubt.count == 1)
        #expect(early.nextLooks[early.inDoubt[0]] == time.environment.now() + 120_000)
        #expect(try await shop.store.doubts.nextLooks() == early.nextLooks)
        time.pass(119)
        #expect(try await shop.push().inDoubt.count == 1)
        time.pass(1)
        #expect(try await shop.push().remaining == 0)
        #expect(try await suppliers(shop, "Quick blue fox") == 1)
        try await agree(shop)
    }

    @Test(arguments: Dialect.allCases)
    func `a missing create of a change set in doubt is sent again, although a different request of the set took effect`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await shop(dialect)
        let supplier = Intent.create(
            try await shop.draft(0, "Suppliers", ["Name": .string("Quick blue fox")]), in: nil)
        let person = Intent.create(
            try await shop.draft(1, "Persons", ["Name": .string("Slow green turtle")]), in: nil)
        try await shop.perform(supplier, person, asChangeSet: true)
        // The service rejects the second request without rolling back the first one, and the response of both is lost.
        shop.transport.add(Fault(.keepRefused, urlPart: "$batch"))
        shop.transport.add(Fault(.refuse(status: 400), method: "POST", urlPart: "Persons", part: .any))
        try await cut(shop, .dropAnswer)
        #expect(try await suppliers(shop, "Quick blue fox") == 1)
        // The lost request may still be running and create the person.
        #expect(try await shop.push().inDoubt.count == 2)
        time.pass(120)
        #expect(try await shop.push().remaining == 0)
        #expect(try await suppliers(shop, "Quick blue fox") == 1)
        #expect(try await shop.serviceState(["Persons"]).count { $0.contains("Slow green turtle") } == 1)
        #expect(try await shop.store.serviceOptions.changeSetRollback == .absent)
        try await agree(shop)
    }

    @Test func `a create that takes effect within the waiting time is confirmed`() async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropRequest)
        #expect(try await shop.push().inDoubt.count == 1)
        time.pass(100)
        shop.transport.direct("POST", "/v4/Suppliers", #"{"Name":"Quick blue fox"}"#)
        #expect(try await shop.push().remaining == 0)
        #expect(try await suppliers(shop, "Quick blue fox") == 1)
    }

    @Test func `a clock that is set back does not shorten the waiting time, and lengthens it only once`() async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropRequest)
        time.pass(-86_400)
        #expect(try await shop.push().inDoubt.count == 1)
        time.pass(119)
        #expect(try await shop.push().inDoubt.count == 1)
        time.pass(1)
        #expect(try await shop.push().remaining == 0)
    }

    @Test func `the waiting time starts with the request, also after a restart`() async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        let plan = try await shop.store.uploads.plan()
        _ = try await shop.store.prepare(plan, since: await shop.store.planEpoch)
        await shop.store.close()
        time.pass(120)
        let store = try await LocalStore(
            StoreFiles(directory: shop.directory.path),
            options: LocalStoreOptions(environment: time.environment))
        let engine = SyncEngine(store: store, session: shop.engine.session)
        #expect(try await store.queue.pendingOperations(.inDoubt).count == 1)
        #expect(try await engine.upload().remaining == 0)
        #expect(try await suppliers(shop, "Quick blue fox") == 1)
        await store.close()
    }

    @Test func `the log contains the evidence for the outcome of a create in doubt`() async throws {
        for effect in [Fault.Effect.dropAnswer, .dropRequest] {
            let shop = try await shop(.v4)
            let reasons = Mutex<[String]>([])
            shop.store.onRecords { records, _ in
                for case .batchAnswered(let answered) in records.map(\.body) {
                    for case .inDoubt(let reason) in answered.outcomes.map(\.result) {
                        reasons.withLock { $0.append(reason) }
                    }
                }
            }
            try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
            try await cut(shop, effect)
            time.pass(600)
            #expect(try await shop.push().remaining == 0)
            let reported = reasons.withLock { $0 }
            #expect(reported.count == 1)
            let text = effect == .dropAnswer ? "Suppliers(3) has the values" : "The service has no entity"
            #expect(reported.first?.contains(text) == true)
        }
    }

    // MARK: Cases that the user decides

    @Test func `a create in doubt with two matching entities waits for the user, and shows the reason`() async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropAnswer)
        shop.transport.direct("POST", "/v4/Suppliers", #"{"Name":"Quick blue fox"}"#)
        for _ in 1...3 {
            time.pass(600)
            #expect(try await shop.push().inDoubt.count == 1)
        }
        let reason = try await shop.store.queue.pendingOperations(.inDoubt).first?.doubtReason
        #expect(reason?.contains("The service has 2 entities with its values") == true)
        // The reason occurs once.
        #expect(reason?.split(separator: "Looked for").count == 2)
        #expect(try await suppliers(shop, "Quick blue fox") == 2)
    }

    @Test func `common values are no evidence`() async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("New")])
        try await cut(shop, .dropAnswer)
        time.pass(600)
        #expect(try await shop.push().inDoubt.count == 1)
        #expect(batches(shop) == 0)
    }

    @Test(arguments: Dialect.allCases)
    func `a downloaded entity that matches a create in doubt is replaced by the created entity`(_ dialect: Dialect)
        async throws
    {
        let shop = try await shop(dialect)
        let link = try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropAnswer)
        try await shop.pull()
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.store.query("Suppliers?$filter=Name eq 'Quick blue fox'").entities.count == 1)
        try await shop.perform(update(link, ["Name": .string("Quick red fox")]))
        #expect(try await shop.push().remaining == 0)
        #expect(try await suppliers(shop, "Quick red fox") == 1)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        try await agree(shop)
    }

    @Test func `a downloaded and then changed entity that matches a create in doubt is neither replaced nor ignored`()
        async throws
    {
        let shop = try await shop(.v4)
        let link = try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropAnswer)
        try await shop.pull()
        let all = try await shop.store.query("Suppliers?$filter=Name eq 'Quick blue fox'").entities.map(\.readLink)
        let downloaded = try #require(all.first { $0 != link })
        try await shop.perform(update(downloaded, ["Name": .string("Quick red fox")]))
        time.pass(600)
        #expect(try await shop.push().inDoubt.count == 1)
        #expect(try await shop.serviceState(["Suppliers"]).count == 3)
    }

    @Test func `an entity that was downloaded before the create was sent does not match it`() async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        shop.transport.direct("POST", "/v4/Suppliers", #"{"Name":"Quick blue fox"}"#)
        try await shop.pull()
        try await cut(shop, .dropRequest)
        time.pass(600)
        #expect(try await shop.push().remaining == 0)
        #expect(try await suppliers(shop, "Quick blue fox") == 2)
        try await agree(shop)
    }

    @Test(arguments: [("Quick blue fox", false), ("Quick blue fox of the northern hills", true)])
    func `more evidence is necessary if no query delivers the whole set`(_ name: String, _ isSettled: Bool) async throws
    {
        let query = DefiningQuery(name: "S", query: "Suppliers?$filter=SupplierID lt 100")
        let shop = try await shop(.v4, queries: [query, DefiningQuery(name: "C", query: "Customers")])
        // 32 bits are necessary: the prefix has fewer, the longer name has more.
        try await shop.create("Suppliers", ["Name": .string(isSettled ? name : String(name.prefix(10)))])
        try await cut(shop, .dropAnswer)
        #expect(try await shop.push().inDoubt.isEmpty == isSettled)
    }

    @Test(arguments: [400, 501, 403])
    func `a create stays in doubt if the service cannot be searched, and holds back no other operation`(_ status: Int)
        async throws
    {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropAnswer)
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        shop.transport.add(Fault(.refuse(status: status), times: 99, method: "GET", urlPart: "$filter"))
        time.pass(600)
        let report = try await shop.push()
        #expect(report.confirmed.count == 1)
        #expect(report.inDoubt.count == 1)
    }

    @Test func `the search uses the plain value if the service rejects alternatives`() async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropAnswer)
        shop.transport.add(Fault(.refuse(status: 400), times: 99, method: "GET", urlPart: "%20or%20"))
        #expect(try await shop.push().remaining == 0)
        #expect(try await suppliers(shop, "Quick blue fox") == 1)
    }

    // MARK: Services that change values

    @Test(arguments: ["  quick  Blue fox ", "QUICK BLUE FOX", "quick blue fox"])
    func `a created entity whose text the service has changed is found`(_ stored: String) async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox ")])
        try await cut(shop, .dropRequest)
        let name = stored.hasPrefix(" ") ? "Quick blue fox" : stored
        shop.transport.direct("POST", "/v4/Suppliers", "{\"Name\":\"\(name)\"}")
        time.pass(600)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.serviceState(["Suppliers"]).count == 3)
    }

    @Test func `a created entity of which the service has changed another value is not created a second time`()
        async throws
    {
        let shop = try await shop(.v4)
        try await shop.create("Orders", ["Note": .string("Quick blue fox"), "Quantity": .integer(4)])
        try await cut(shop, .dropRequest)
        shop.transport.direct("POST", "/v4/Orders", #"{"Note":"Quick blue fox","Quantity":5}"#)
        time.pass(600)
        let before = try await shop.serviceState(["Orders"]).count
        #expect(try await shop.push().inDoubt.count == 1)
        #expect(try await shop.serviceState(["Orders"]).count == before)
    }

    // MARK: Equal creates

    @Test(arguments: Dialect.allCases, [Fault.Effect.dropAnswer, .dropRequest])
    func `creates in doubt with equal values are interchangeable`(_ dialect: Dialect, _ effect: Fault.Effect)
        async throws
    {
        let shop = try await shop(dialect)
        for _ in 1...3 { try await shop.create("Suppliers", ["Name": .string("Quick blue fox")]) }
        try await cut(shop, effect)
        time.pass(600)
        #expect(try await shop.push().remaining == 0)
        #expect(try await suppliers(shop, "Quick blue fox") == 3)
        try await agree(shop)
    }

    @Test func `missing creates among equal ones are sent again after the waiting time`() async throws {
        let shop = try await shop(.v4)
        for _ in 1...2 { try await shop.create("Suppliers", ["Name": .string("Quick blue fox")]) }
        try await cut(shop, .dropRequest)
        shop.transport.direct("POST", "/v4/Suppliers", #"{"Name":"Quick blue fox"}"#)
        #expect(try await shop.push().inDoubt.count == 2)
        time.pass(120)
        let report = try await shop.push()
        #expect(report.adopted.count == 1)
        #expect(report.remaining == 0)
        #expect(try await suppliers(shop, "Quick blue fox") == 2)
        try await agree(shop)
    }

    @Test func `a confirmed create with equal values is not taken for one in doubt`() async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        try await cut(shop, .dropRequest)
        try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        #expect(try await shop.push().confirmed.count == 1)
        time.pass(120)
        #expect(try await shop.push().remaining == 0)
        #expect(try await suppliers(shop, "Quick blue fox") == 2)
        try await agree(shop)
    }

    // MARK: Change sets

    @Test(arguments: Dialect.allCases, [Fault.Effect.dropAnswer, .dropRequest])
    func `evidence for one create resolves the whole change set`(_ dialect: Dialect, _ effect: Fault.Effect)
        async throws
    {
        let shop = try await shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("Quick blue fox")])
        let order = try await shop.create("Orders", ["Note": .string("x")], bind: [bind("Customer", customer)])
        try await cut(shop, effect)
        time.pass(600)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.targets(order, "Customer") == [try await shop.load(customer).readLink])
        #expect(try await !shop.load(order).readLink.contains("~"))
        try await agree(shop)
    }

    @Test func `linked creates are identified by their combined evidence`() async throws {
        let shop = try await shop(.v4)
        let customer = try await shop.create("Customers", ["Name": .string("Ada")])
        try await shop.create("Orders", ["Note": .string("Tea")], bind: [bind("Customer", customer)])
        try await cut(shop, .dropAnswer)
        #expect(try await shop.push().remaining == 0)
        try await agree(shop)
    }

    // MARK: Policies

    @Test(arguments: [ServiceOptions.DoubtPolicy.ask, .correlation])
    func `other policies leave a create in doubt to the user`(_ policy: ServiceOptions.DoubtPolicy) async throws {
        let options = [ServiceOptions(doubts: policy), ServiceOptions(doubtsBySet: ["Suppliers": policy])]
        for options in options {
            let shop = try await shop(.v4, options)
            try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
            try await cut(shop, .dropAnswer)
            time.pass(600)
            #expect(try await shop.push().inDoubt.count == 1)
            #expect(try await shop.store.doubts.nextLooks().isEmpty)
            // An upload can override the policy.
            #expect(try await shop.engine.upload(UploadOptions(doubts: .evidence)).remaining == 0)
        }
    }

    @Test func `a correlation property resolves a create in doubt unless the policy is to ask the user`() async throws {
        for policy in ServiceOptions.DoubtPolicy.allCases {
            let shop = try await shop(
                .v4, ServiceOptions(correlationProperties: ["Suppliers": "Name"], doubts: policy))
            try await shop.create("Suppliers", ["Name": .string("A")])
            try await cut(shop, .dropAnswer)
            #expect(try await shop.push().inDoubt.isEmpty == (policy != .ask))
        }
    }
}
