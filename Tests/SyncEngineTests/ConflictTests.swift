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

/// Uploads of changes to entities that another client has changed at the service.
///
/// Features: KE-31, OB-36.
struct ConflictTests {
    private func shop(_ dialect: Dialect) async throws -> Shop { try await Shop(dialect) }

    private func others(_ shop: Shop, _ url: String, _ body: String) {
        let response = shop.transport.direct(
            "PATCH", "/v4/\(url)", body, headers: ["If-Match": "*"])
        #expect(response.isSuccess)
    }

    private func push(
        _ shop: Shop, _ policy: ConflictPolicy = .merge(overlapping: .ask)
    ) async throws -> UploadReport {
        try await shop.engine.upload(UploadOptions(conflicts: ConflictHandling(policy: policy)))
    }

    private func text(_ shop: Shop, _ url: String) -> String {
        String(decoding: shop.transport.direct("GET", "/\(shop.dialect.rawValue)/\(url)").body, as: UTF8.self)
    }

    private func note(_ shop: Shop, _ text: String) async throws {
        try await shop.perform(update("Orders(1)", ["Note": .string(text)]))
    }

    @Test(arguments: Dialect.allCases)
    func `a property that both clients changed is a conflict with three versions, and is sent after its resolution`(
        _ dialect: Dialect
    )
        async throws
    {
        let shop = try await shop(dialect)
        try await note(shop, "mine")
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        let report = try await push(shop)
        let conflict = try #require(report.conflicts.first)
        #expect(report.remaining == 1)
        let note = try #require(conflict.properties.first { $0.isOverlapping })
        #expect((note.name, note.mine, note.theirs) == ("Note", .string("mine"), .string("theirs")))
        #expect(text(shop, "Orders(1)").contains("theirs"))
        #expect(try await shop.value("Orders(1)", "Note") == .string("mine"))
        #expect(try await push(shop).confirmed.isEmpty)
        try await shop.store.conflicts.resolve(conflict, with: .mine)
        #expect(try await push(shop).remaining == 0)
        #expect(text(shop, "Orders(1)").contains("mine"))
    }

    @Test func `a conflict on an entity that cannot be read holds back only that entity`() async throws {
        let shop = try await shop(.v4)
        try await note(shop, "mine")
        try await shop.create("Customers", ["Name": .string("New")])
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        shop.transport.add(Fault(.refuse(status: 403), times: 99, method: "GET", urlPart: "Orders(1)"))
        let report = try await push(shop)
        #expect(report.rejected.map(\.refusal.status) == [412])
        #expect(report.confirmed.count == 1)
        shop.transport.change { $0.faults = [] }
        #expect(try await push(shop).conflicts.count == 1)
    }

    @Test(arguments: Dialect.allCases)
    func `a conflict is reported in the same way after a download has shown the change`(_ dialect: Dialect) async throws
    {
        let shop = try await shop(dialect)
        try await note(shop, "mine")
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        try await shop.pull()
        #expect(try await push(shop).conflicts.count == 1)
        #expect(text(shop, "Orders(1)").contains("theirs"))
    }

    @Test(arguments: Dialect.allCases)
    func `changes of different properties are merged without a decision`(_ dialect: Dialect) async throws {
        let shop = try await shop(dialect)
        try await note(shop, "mine")
        others(shop, "Orders(1)", #"{"Quantity":77}"#)
        let report = try await push(shop)
        #expect(report.remaining == 0)
        #expect(report.rejected.isEmpty)
        #expect(text(shop, "Orders(1)").contains("mine"))
        #expect(text(shop, "Orders(1)").contains("77"))
    }

    @Test(arguments: Dialect.allCases)
    func `with the policy client wins, the pending values replace those of the service`(_ dialect: Dialect) async throws
    {
        let shop = try await shop(dialect)
        try await note(shop, "mine")
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        #expect(try await push(shop, .clientWins).remaining == 0)
        #expect(text(shop, "Orders(1)").contains("mine"))
    }

    @Test(arguments: Dialect.allCases)
    func `with the policy server wins, the pending operations are undone and can be redone`(_ dialect: Dialect)
        async throws
    {
        let shop = try await shop(dialect)
        try await note(shop, "mine")
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        #expect(try await push(shop, .serverWins).remaining == 0)
        #expect(try await shop.value("Orders(1)", "Note") == .string("theirs"))
        #expect(try await shop.store.queue.redoLast().count == 1)
        #expect(try await push(shop).remaining == 0)
        #expect(text(shop, "Orders(1)").contains("mine"))
    }

    @Test(arguments: Dialect.allCases)
    func `with the policy ask, the app's function decides for each property`(_ dialect: Dialect) async throws {
        let shop = try await shop(dialect)
        try await note(shop, "mine")
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        let handling = ConflictHandling { conflict in
            ConflictResolution(.mine, properties: ["Note": .value(.string("both of \(conflict.name)"))])
        }
        #expect(try await shop.engine.upload(UploadOptions(conflicts: handling)).remaining == 0)
        #expect(text(shop, "Orders(1)").contains("both of Orders(1)"))
    }

    @Test(arguments: Dialect.allCases)
    func `successive updates of the same client do not conflict with each other`(_ dialect: Dialect) async throws {
        let shop = try await shop(dialect)
        for number in 1...4 { try await note(shop, "edit \(number)") }
        let report = try await push(shop, .ask)
        #expect(report.remaining == 0)
        #expect(report.confirmed.count == 4)
        #expect(text(shop, "Orders(1)").contains("edit 4"))
    }

    @Test(arguments: Dialect.allCases)
    func `an update of an entity that another client deleted is a conflict, and can be given up`(_ dialect: Dialect)
        async throws
    {
        let shop = try await shop(dialect)
        try await note(shop, "mine")
        let gone = shop.transport.direct("DELETE", "/v4/Orders(1)", headers: ["If-Match": "*"])
        #expect(gone.isSuccess)
        let conflict = try #require(try await push(shop).conflicts.first)
        #expect(conflict.kind == .deletedByOthers)
        await #expect(throws: TidelogError.self) { try await shop.store.conflicts.resolve(conflict, with: .mine) }
        try await shop.store.conflicts.resolve(conflict, with: .theirs)
        #expect(try await push(shop).remaining == 0)
    }

    @Test(arguments: Dialect.allCases)
    func `a delete of an entity that another client changed is a conflict, and is then sent with the new ETag`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await shop(dialect)
        try await shop.perform(.delete(.link("Orders(1)")))
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        let conflict = try #require(try await push(shop).conflicts.first)
        #expect(conflict.kind == .deletedHere)
        try await shop.store.conflicts.resolve(conflict, with: .mine)
        #expect(try await push(shop).remaining == 0)
        #expect(shop.transport.direct("GET", "/\(dialect.rawValue)/Orders(1)").status == 404)
    }

    @Test func `a conflict holds back only operations on its entity`() async throws {
        let shop = try await shop(.v4)
        try await note(shop, "mine")
        try await shop.perform(update("Orders(2)", ["Note": .string("free")]))
        try await shop.create("Customers", ["Name": .string("free too")])
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        let report = try await push(shop)
        #expect(report.remaining == 1)
        #expect(report.confirmed.count == 2)
    }

    @Test func `the resolution of an outdated conflict is refused`() async throws {
        let shop = try await shop(.v4)
        try await note(shop, "mine")
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        let conflict = try #require(try await push(shop).conflicts.first)
        others(shop, "Orders(1)", #"{"Note":"theirs again"}"#)
        try await shop.pull()
        await #expect(throws: TidelogError.self) { try await shop.store.conflicts.resolve(conflict, with: .mine) }
        #expect(try await shop.store.conflicts.all().count == 1)
    }

    @Test(arguments: Dialect.allCases)
    func `a change by another client of an entity whose create was in doubt conflicts with later local changes`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await shop(dialect)
        await shop.store.use(ServiceOptions(correlationProperties: ["Orders": "Note"]))
        let order = try await shop.create("Orders", ["Note": .string("mark"), "Quantity": .integer(1)])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await shop.perform(update(order, ["Quantity": .integer(5)]))
        let found = String(
            decoding: shop.transport.direct("GET", "/v4/Orders?$filter=Note%20eq%20'mark'").body, as: UTF8.self)
        let key = try #require(found.split(separator: "\"OrderID\":").last).prefix(while: \.isNumber)
        others(shop, "Orders(\(key))", #"{"Quantity":9}"#)
        let report = try await push(shop)
        let quantity = try #require(report.conflicts.first?.properties.first { $0.isOverlapping })
        #expect(quantity.base == .integer(1))
        #expect(quantity.mine == .integer(5))
        #expect(quantity.theirs == .integer(9))
        #expect(report.remaining == 1)
    }

    @Test func `an entity that was deleted at the service and cannot be read does not hold back other operations`()
        async throws
    {
        let shop = try await shop(.v4)
        try await note(shop, "mine")
        try await shop.perform(update("Orders(2)", ["Note": .string("free")]))
        #expect(shop.transport.direct("DELETE", "/v4/Orders(1)", headers: ["If-Match": "*"]).isSuccess)
        try await shop.pull()
        let transport = HookedTransport(shop.transport) { request, _ in
            guard request.method == .get, request.path?.contains("Orders(1)") == true else { return nil }
            return (HTTPResponse(status: 403), Array("no".utf8))
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let report = try await engine.upload()
        #expect(report.confirmed.count == 1)
        #expect(report.conflicts.map(\.kind) == [.deletedByOthers])
    }

    @Test func `an entity that changes at the service before each batch does not keep an upload running forever`()
        async throws
    {
        let shop = try await shop(.v4)
        try await note(shop, "mine")
        let views = Counter()
        let transport = HookedTransport(shop.transport) { request, _ in
            guard request.path?.contains("$batch") == true else { return nil }
            // Ends the test in any case.
            let count = await views.next()
            guard count < 20 else { return nil }
            others(shop, "Orders(1)", #"{"Quantity":\#(count + 100)}"#)
            return nil
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let report = try await engine.upload(
            UploadOptions(conflicts: ConflictHandling(policy: .merge(overlapping: .ask))))
        #expect(report.batches <= 5)
        #expect(report.remaining == 1)
        #expect(report.conflicts.count == 1)
        #expect(try await push(shop).remaining == 0)
        #expect(text(shop, "Orders(1)").contains("mine"))
    }

    @Test func `conflicts are restored when the store is opened again and when its views are rebuilt`() async throws {
        let shop = try await shop(.v4)
        try await note(shop, "mine")
        others(shop, "Orders(1)", #"{"Note":"theirs"}"#)
        let conflicts = try await push(shop).conflicts
        let digest = try await shop.store.digest()
        await shop.store.close()
        let files = StoreFiles(directory: shop.directory.path)
        StoreDirectory.remove([files.views, files.views + "-wal", files.views + "-shm"])
        let again = try await LocalStore(files)
        #expect(try await again.conflicts.all() == conflicts)
        #expect(try await again.digest() == digest)
        await again.close()
    }
}

private actor Counter {
    private var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}
