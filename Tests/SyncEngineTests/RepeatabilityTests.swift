import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Exactly-once delivery: uploads after requests whose response was lost.
///
/// Features: RR-05.
struct RepeatabilityTests {
    struct Way: Sendable, CustomTestStringConvertible {
        let dialect: Dialect
        let form: ServiceOptions.Repeatability
        let effect: Fault.Effect
        let batch: Bool

        var testDescription: String { "\(dialect) \(form) \(effect) \(batch ? "$batch" : "single")" }

        static let all = Dialect.allCases.flatMap { dialect in
            [ServiceOptions.Repeatability.oasis, .sap].flatMap { form in
                [Fault.Effect.dropAnswer, .dropRequest].flatMap { effect in
                    [true, false].map { Way(dialect: dialect, form: form, effect: effect, batch: $0) }
                }
            }
        }
    }

    private func shop(_ way: Way) async throws -> Shop {
        let shop = try await Shop(way.dialect)
        shop.transport.change { $0.options.repeatability = Repeatability(way.form == .oasis ? .oasis : .sap) }
        await shop.store.use(ServiceOptions(supportsBatch: way.batch, repeatability: way.form))
        return shop
    }

    private func batches(_ shop: Shop) -> [WireRequest] { shop.transport.requests.filter { $0.method == "POST" } }

    private func reopened(_ shop: Shop, _ way: Way) async throws -> SyncEngine {
        await shop.store.close()
        let store = try await LocalStore(
            StoreFiles(directory: shop.directory.path),
            options: .init(service: ServiceOptions(supportsBatch: way.batch, repeatability: way.form)))
        return SyncEngine(store: store, session: shop.engine.session)
    }

    @Test(arguments: Way.all)
    func `a create with a key of the service takes effect once after a lost request or response`(
        _ way: Way
    ) async throws {
        let shop = try await shop(way)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        shop.transport.add(Fault(way.effect, method: "POST"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        let report = try await shop.push()
        #expect(report.inDoubt == [])
        #expect(report.rejected.isEmpty)
        #expect(report.remaining == 0)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
        #expect(try await shop.load(customer).readLink == "Customers(4)")
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        #expect(try await shop.store.doubts.openBatches().isEmpty)
    }

    @Test func `a repeated batch is identical byte by byte`() async throws {
        let shop = try await shop(Way(dialect: .v4, form: .oasis, effect: .dropAnswer, batch: true))
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        try await shop.create("Orders", ["Note": .string("bound")], bind: [bind("Customer", customer)])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await shop.push().remaining == 0)
        let sent = batches(shop)
        #expect(sent.count == 2)
        #expect(sent.first?.body == sent.last?.body)
        let text = String(decoding: sent[0].body, as: UTF8.self)
        #expect(text.components("Repeatability-Request-ID: ") == 2)
        #expect(text.contains("Repeatability-Client-ID: \(shop.store.identifier)"))
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: [true, false])
    func `request identifiers are kept after a restart and a compaction`(_ compacts: Bool) async throws {
        let way = Way(dialect: .v4, form: .oasis, effect: .dropAnswer, batch: true)
        let shop = try await shop(way)
        try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        if compacts { _ = try await shop.store.compact(keeping: .bytes(0)) }
        let engine = try await reopened(shop, way)
        #expect(try await engine.upload().remaining == 0)
        #expect(batches(shop).count == 2)
        #expect(batches(shop).first?.body == batches(shop).last?.body)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    @Test func `if the service has forgotten a request, its outcome is read, and stays in doubt if it cannot be read`()
        async throws
    {
        let shop = try await shop(Way(dialect: .v4, form: .oasis, effect: .dropAnswer, batch: true))
        let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-000000000001"))
        try await shop.create("Visits", ["VisitID": .guid(id), "Subject": .string("S")])
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        let later = try #require(GlobalDateTime("2100-01-01T00:00:00Z"))
        shop.transport.change {
            $0.options.repeatability = Repeatability(.oasis, window: 60)
            $0.options.now = later
        }
        let report = try await shop.push()
        #expect(report.rejected.isEmpty)
        #expect(report.confirmed.count == 1)
        #expect(report.inDoubt.count == 1)
        #expect(try await shop.serviceState(["Visits"]) == shop.localState(["Visits"]))
        #expect(try await shop.value(customer, "Name") == .string("New"))
    }

    @Test func `a repeated success without Repeatability-Result leaves a duplicate to the user instead of hiding it`()
        async throws
    {
        let shop = try await shop(Way(dialect: .v4, form: .oasis, effect: .dropAnswer, batch: true))
        // The service does not recognize repetitions, although its options state it.
        shop.transport.change { $0.options.repeatability = nil }
        try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        let report = try await shop.push()
        #expect(report.confirmed.isEmpty && report.inDoubt.count == 1)
        #expect(try await shop.serviceState(["Customers"]).count == 5)
    }

    @Test func `after a success without Repeatability-Result nothing is repeated, and reading resolves doubts`()
        async throws
    {
        let shop = try await shop(Way(dialect: .v4, form: .oasis, effect: .dropAnswer, batch: true))
        shop.transport.change { $0.options.repeatability = nil }
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        #expect(try await shop.push().remaining == 0)
        #expect(await shop.store.lacksRepeatability)
        try await shop.create("Customers", ["Name": .string("Customer 8231-4470")])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        let sent = batches(shop).count
        let report = try await shop.push()
        #expect(report.remaining == 0, "\(report)")
        #expect(batches(shop).count == sent)
        #expect(try await shop.serviceState(["Customers"]).count == 4)

        shop.transport.change { $0.options.repeatability = Repeatability(.oasis) }
        try await shop.perform(update("Orders(1)", ["Note": .string("again")]))
        #expect(try await shop.push().remaining == 0)
        #expect(await !shop.store.lacksRepeatability)
    }

    @Test func `an operation that is sent again as a new request has a new identifier`() async throws {
        let shop = try await shop(Way(dialect: .v4, form: .oasis, effect: .dropAnswer, batch: true))
        let order = try await shop.create("Orders", ["CustomerID": .integer(4)])
        #expect(try await shop.push().rejected.count == 1)
        shop.transport.direct("POST", "/v4/Customers", #"{"Name":"late"}"#)
        _ = try await shop.push()
        #expect(try await shop.load(order).state == .clean)
    }

    @Test func `an operation whose earlier rejection becomes known is not sent again by the same upload`() async throws
    {
        let shop = try await shop(Way(dialect: .v4, form: .oasis, effect: .dropAnswer, batch: true))
        try await shop.create("Orders", ["CustomerID": .integer(99)])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        shop.transport.forgetRequests()
        #expect(try await shop.push().rejected.count == 1)
        #expect(batches(shop).count == 1)
    }

    @Test func `operations that the service still processes are not searched for, also in a part of a repeated batch`()
        async throws
    {
        let shop = try await Shop(.v4)
        await shop.store.use(
            ServiceOptions(repeatability: .oasis, correlationProperties: ["Customers": "Name"]))
        shop.transport.change {
            $0.options.repeatability = Repeatability(.oasis)
            $0.options.asynchrony = Asynchrony(polls: 0)
        }
        for name in ["Ada", "Bob", "Cleo", "Dan"] { try await shop.create("Customers", ["Name": .string(name)]) }
        shop.transport.add(Fault(.dropRequest, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        // A batch with Ada and Dan times out at the gateway; a batch with Ada but without Dan is processed
        // asynchronously.
        let transport = HookedTransport(shop.transport) { request, body in
            guard body.contains("Ada") else { return nil }
            if body.contains("Dan") { return (HTTPResponse(status: .gatewayTimeout), []) }
            var request = request
            request.headerFields[HTTPField.Name("Prefer")!] = "respond-async"
            return try? await shop.transport.send(request, body: Array(body.utf8))
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let report = try await engine.upload()
        #expect(report.confirmed.count == 2)
        #expect(report.inDoubt.count == 2)
        // The service has completed the asynchronous batch.
        #expect(shop.transport.direct("GET", "/v4/$async/1").isSuccess)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.serviceState(["Customers"]).count == 7)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `a change is not repeated before an earlier one of its entity whose repetition was lost`() async throws {
        let shop = try await shop(Way(dialect: .v4, form: .oasis, effect: .dropRequest, batch: true))
        for name in ["Quick blue fox", "Slow green turtle"] {
            try await shop.perform(update("Customers(1)", ["Name": .string(name)]))
        }
        try await shop.perform(update("Customers(2)", ["Name": .string("Lazy brown dog")]))
        shop.transport.add(Fault(.dropRequest, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        // A batch with the first change times out at the gateway.
        let transport = HookedTransport(shop.transport) { _, body in
            body.contains("fox") ? (HTTPResponse(status: .gatewayTimeout), []) : nil
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        _ = try? await engine.upload()
        // The other entity does not wait.
        #expect(try await shop.store.queue.pendingCount() == 2)
        #expect(try await shop.engine.upload(UploadOptions(ignoresPostponement: true)).remaining == 0)
        let found = shop.transport.direct("GET", "/v4/Customers(1)")
        #expect(String(decoding: found.body, as: UTF8.self).contains("Slow green turtle"))
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    // MARK: Without request identifiers

    @Test(arguments: Dialect.allCases, [Fault.Effect.dropAnswer, .dropRequest])
    func `a correlation property shows whether a create took effect`(
        _ dialect: Dialect, _ effect: Fault.Effect
    ) async throws {
        let shop = try await Shop(dialect)
        await shop.store.use(ServiceOptions(correlationProperties: ["Customers": "Name"]))
        let customer = try await shop.create("Customers", ["Name": .string("New's & only")])
        shop.transport.add(Fault(effect, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        let report = try await shop.push()
        #expect(report.inDoubt == [])
        #expect(report.remaining == 0)
        #expect(try await shop.load(customer).readLink == "Customers(4)")
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `an entity deleted by another client does not keep operations of the same change set in doubt`()
        async throws
    {
        let shop = try await Shop(.v4)
        try await shop.perform(
            .delete(.link("Orders(3)")), update("Customers(1)", ["Name": .string("mine")]), asChangeSet: true)
        shop.transport.add(Fault(.dropRequest, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(shop.transport.direct("DELETE", "/v4/Orders(3)", headers: ["If-Match": "*"]).isSuccess)
        // The service does not state which entity is missing.
        let transport = HookedTransport(shop.transport) { request, body in
            guard body.contains("DELETE"), let answer = try? await shop.transport.send(request, body: Array(body.utf8))
            else { return nil }
            let text = String(decoding: answer.body, as: UTF8.self)
                .replacing("Content-ID", with: "X-Other-ID").replacing("Orders(3)", with: "something")
            return (answer.response, Array(text.utf8))
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let report = try await engine.upload()
        #expect(report.confirmed.count == 2)
        #expect(report.remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: DoubtSettlement.allCases)
    func `the user can settle the outcome of an operation in doubt`(_ settlement: DoubtSettlement) async throws {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.add(
            Fault(settlement == .tookEffect ? .dropAnswer : .dropRequest, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        let operation = try #require(try await shop.push().inDoubt.first)
        try await shop.store.doubts.resolveInDoubt(operation, as: settlement)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
        await #expect(throws: TidelogError.self) {
            try await shop.store.doubts.resolveInDoubt(operation, as: settlement)
        }
    }

    @Test func `alternate keys are read from the metadata`() throws {
        let model = try CSDLReader.read(
            Array(
                """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Country" Type="Edm.String"/><Property Name="Number" Type="Edm.Int32"/>
                <Annotation Term="Org.OData.Core.V1.AlternateKeys"><Collection><Record>
                <PropertyValue Property="Key"><Collection>
                <Record><PropertyValue Property="Name" PropertyPath="Country"/><PropertyValue Property="Alias" String="c"/></Record>
                <Record><PropertyValue Property="Name" PropertyPath="Number"/><PropertyValue Property="Alias" String="n"/></Record>
                </Collection></PropertyValue></Record></Collection></Annotation></EntityType>
                <EntityContainer Name="C"><EntitySet Name="Ps" EntityType="S.P"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
        let set = try #require(model.findEntitySet("Ps"))
        func marks(_ values: PropertyValues) -> [[String]] {
            let creation = Creation(entity: EntityID(rawValue: 1), set: "Ps", type: "S.P", values: values)
            return InDoubtResolver.marks(of: creation, set, set.entityType, ServiceOptions()).map {
                $0.map(\.property.name)
            }
        }
        #expect(marks(["Country": .string("A"), "Number": .integer(1)]) == [["Country", "Number"]])
        #expect(marks(["Country": .string("A")]) == [])
        #expect(marks(["Country": .string("A"), "Number": .null]) == [])
    }
}

extension String {
    /// Returns the number of occurrences of `part`.
    fileprivate func components(_ part: String) -> Int { ranges(of: part).count }
}
