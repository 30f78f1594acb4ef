import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
@testable import OfflineStore
@testable import SyncEngine
import Synchronization
import TestSupport
import Testing
import Views

/// Metadata that change while operations are pending.
///
/// Features: MR-22, MR-23.
struct MetadataRefreshTests {
    /// A store whose service returns changed metadata.
    final class Changing: Sendable {
        let shop: Shop
        let engine: SyncEngine
        private let texts = Replacements()

        init(_ dialect: Dialect = .v4, options: LocalStoreOptions = .init()) async throws {
            shop = try await Shop(dialect, options: options)
            let (replacements, inner) = (texts, shop.transport)
            let transport = HookedTransport(inner) { request, _ in
                guard request.path?.hasSuffix("$metadata") == true,
                    let (response, body) = try? await inner.send(request, body: [])
                else { return nil }
                return (response, Array(replacements.applied(to: String(decoding: body, as: UTF8.self)).utf8))
            }
            engine = SyncEngine(
                store: shop.store,
                session: ServiceSession(root: "http://shop.test/\(dialect.rawValue)/", transport: transport))
        }

        func replace(_ old: String, _ new: String) { texts.list.withLock { $0.append((old, new)) } }
        func restore() { texts.list.withLock { $0 = [] } }
    }

    final class Replacements: Sendable {
        let list = Mutex<[(String, String)]>([])

        func applied(to text: String) -> String {
            list.withLock { $0 }.reduce(text) { text, item in
                precondition(text.contains(item.0), "the document has no \(item.0)")
                return text.replacing(item.0, with: item.1)
            }
        }
    }

    private static let note = "<Property Name=\"Note\" Type=\"Edm.String\""

    private func rebuilt(_ shop: Shop) async throws -> String {
        await shop.store.close()
        for file in shop.store.files.viewFiles { TemporaryDirectory.remove(file: file) }
        return try await LocalStore(shop.store.files).digest()
    }

    @Test(arguments: Dialect.allCases)
    func `a refresh with unchanged metadata changes nothing`(_ dialect: Dialect) async throws {
        let service = try await Changing(dialect)
        let before = await service.shop.store.nextSequence
        let refresh = try await service.engine.refreshMetadata(CompatibilityPolicy())
        #expect(refresh.difference.isEmpty)
        #expect(await service.shop.store.nextSequence == before)
    }

    @Test(arguments: Dialect.allCases)
    func `a refresh adopts a new property and keeps pending operations, which are then sent`(_ dialect: Dialect)
        async throws
    {
        let service = try await Changing(dialect)
        let shop = service.shop
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        service.replace(Self.note, "<Property Name=\"Weight\" Type=\"Edm.Int32\"/>" + Self.note)
        let refresh = try await service.engine.refreshMetadata(CompatibilityPolicy())
        #expect(refresh.isExtension("Shop.Order/Weight"))
        #expect(!refresh.isExtension("Shop.Order/Note"))
        #expect(refresh.difference.changes.map(\.description) == ["Property Shop.Order/Weight: added"])
        #expect(try await shop.value("Orders(1)", "Note") == .string("mine"))
        #expect(try await shop.store.model.findEntityType("Shop.Order")?.findProperty("Weight") != nil)
        #expect(try await shop.store.query("Orders?$filter=Weight eq null").entities.isEmpty == false)
        #expect(try await service.engine.upload().confirmed.count == 1)
        #expect(try await service.engine.download().unusable.isEmpty)
        let digest = try await shop.store.digest()
        #expect(try await rebuilt(shop) == digest)
    }

    @Test func `an incompatible change is refused with a list of all changes, and nothing is logged`() async throws {
        let service = try await Changing()
        let before = await service.shop.store.nextSequence
        service.replace(Self.note, "<Property Name=\"Remark\" Type=\"Edm.String\"")
        let error = await #expect(throws: TidelogError.self) {
            try await service.engine.refreshMetadata(CompatibilityPolicy())
        }
        #expect(error?.code == .incompatibleMetadata)
        #expect(error?.message.contains("Property Shop.Order/Note: removed") == true)
        let cause = try #require(error?.cause as? IncompatibleMetadata)
        #expect(cause.changes.map(\.path) == ["Shop.Order/Note"])
        #expect(cause.difference.extensions == ["Shop.Order/Remark"])
        #expect(await service.shop.store.nextSequence == before)
        #expect(try await service.shop.store.model.findEntityType("Shop.Order")?.findProperty("Note") != nil)
    }

    @Test
    func
        `after an approved removal, incompatible operations are in the error archive, and an upload sends the rest`()
        async throws
    {
        let service = try await Changing()
        let shop = service.shop
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        try await shop.perform(update("Customers(1)", ["Name": .string("Mine")]))
        service.replace(Self.note, "<Property Name=\"Remark\" Type=\"Edm.String\"")
        let policy = CompatibilityPolicy(removable: ["Shop.Order/Note"])
        let rehearsal = try await service.engine.rehearseMetadataRefresh(CompatibilityPolicy())
        #expect(rehearsal.incompatible.map(\.path) == ["Shop.Order/Note"])
        let refresh = try await service.engine.refreshMetadata(policy)
        #expect(
            refresh.incompatibleOperations == rehearsal.incompatibleOperations
                && refresh.incompatibleOperations.count == 1)
        #expect(refresh.isRemoved("Shop.Order/Note"))
        let entry = try #require(try await shop.store.queue.errorArchive().first)
        #expect(entry.state == .rejected && entry.errorClass == .modelChanged && entry.httpStatusCode == nil)
        #expect(entry.message == "Orders no longer has a property Note.")
        #expect(entry.requestMethod == "PATCH" && entry.requestBody?.contains("mine") == true)
        #expect(try await shop.value("Orders(1)", "Note") == nil)
        #expect(try await service.engine.upload().confirmed.count == 1)
        #expect(try await shop.store.queue.errorArchive().map(\.requestID) == [entry.requestID])
        // The service has the property again, so the operations that waited for it are sent.
        service.restore()
        let again = try await service.engine.refreshMetadata(CompatibilityPolicy(removable: ["Shop.Order/Remark"]))
        #expect(again.compatibleAgain == [entry.requestID])
        #expect(try await shop.value("Orders(1)", "Note") == .string("mine"))
        #expect(try await service.engine.upload().confirmed.count == 1)
        let digest = try await shop.store.digest()
        #expect(try await rebuilt(shop) == digest)
    }

    @Test func `an incompatible operation is amended to the new metadata and sent by the next upload`() async throws {
        let service = try await Changing()
        let shop = service.shop
        try await shop.perform(update("Orders(1)", ["Note": .string("mine"), "Quantity": .integer(77)]))
        try await shop.perform(update("Orders(2)", ["Note": .string("mine")]))
        service.replace(Self.note, "<Property Name=\"Remark\" Type=\"Edm.String\"")
        let refresh = try await service.engine.refreshMetadata(CompatibilityPolicy(removable: ["Shop.Order/Note"]))
        let (first, second) = (refresh.incompatibleOperations[0].operation, refresh.incompatibleOperations[1].operation)
        let refused = await #expect(throws: TidelogError.self) { try await shop.store.metadata.amend([first, second]) }
        #expect(refused?.message == "No part of operation \(second) fits the metadata.")
        #expect(try await shop.store.queue.pendingOperations(.rejected).count == 2)
        try await shop.store.metadata.amend([first])
        #expect(try await shop.store.queue.errorArchive().map(\.requestID) == [second])
        await #expect(throws: TidelogError.self) { try await shop.store.metadata.amend([first]) }
        shop.transport.forgetRequests()
        #expect(try await service.engine.upload().confirmed == [first])
        let body = shop.transport.requests.map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(body.contains("77") && !body.contains("mine"))
        #expect(try await shop.value("Orders(1)", "Quantity") == .integer(77))
        let digest = try await shop.store.digest()
        #expect(try await rebuilt(shop) == digest)
    }

    /// Returns a store in whose new metadata the navigation property `IDCard` leads to a supplier. Another client has
    /// created a second card.
    private func withOtherCards() async throws -> Changing {
        let service = try await Changing()
        service.shop.transport.direct("POST", "/v4/IDCards", #"{"Number":"X-2"}"#)
        try await service.shop.pull()
        try await service.shop.perform(
            update("Persons(1)", ["Name": .string("mine")], bind: [bind("IDCard", "IDCards(2)")]))
        service.replace(
            #"<NavigationProperty Name="IDCard" Type="Shop.IDCard" Partner="Person"/>"#,
            #"<NavigationProperty Name="IDCard" Type="Shop.Supplier"/>"#)
        service.replace(#" Partner="IDCard""#, "")
        service.replace(#"Path="IDCard" Target="IDCards""#, #"Path="IDCard" Target="Suppliers""#)
        return service
    }

    @Test func `amending an operation drops a link whose property has another target type, and ends no other link`()
        async throws
    {
        let service = try await withOtherCards()
        let shop = service.shop
        let refresh = try await service.engine.refreshMetadata(CompatibilityPolicy(canChangeAnything: true))
        try await shop.store.metadata.amend(refresh.incompatibleOperations.map(\.operation))
        let operations = try await shop.store.queue.pendingOperations().map(\.operation.action)
        let id = try await shop.store.media.entityID(.link("Persons(1)"))
        #expect(operations == [.update(id, changes: ["Name": .string("mine")], bindings: [])])
    }

    @Test
    func `an entity that was kept only for an operation is removed when the amended operation no longer refers to it`()
        async throws
    {
        let service = try await withOtherCards()
        let shop = service.shop
        shop.transport.direct("DELETE", "/v4/IDCards(2)")
        try await shop.pull()
        #expect(try await shop.store.query("IDCards").entities.map(\.readLink).contains("IDCards(2)"))
        let refresh = try await service.engine.refreshMetadata(CompatibilityPolicy(canChangeAnything: true))
        try await shop.store.metadata.amend(refresh.incompatibleOperations.map(\.operation))
        #expect(try await !shop.store.query("IDCards").entities.map(\.readLink).contains("IDCards(2)"))
        let digest = try await shop.store.digest()
        #expect(try await rebuilt(shop) == digest)
    }

    @Test(arguments: Dialect.allCases)
    func
        `an incompatible operation in doubt stays in doubt, and is not sent a second time when the metadata are restored`(
            _ dialect: Dialect
        ) async throws
    {
        let service = try await Changing(dialect)
        let shop = service.shop
        try await shop.create("Orders", ["Note": .string("once")])
        shop.transport.add(Fault(.dropAnswer, method: "POST", urlPart: "$batch"))
        _ = try? await service.engine.upload()
        #expect(try await shop.store.queue.pendingOperations(.inDoubt).count == 1)
        service.replace(Self.note, "<Property Name=\"Remark\" Type=\"Edm.String\"")
        let policy = CompatibilityPolicy(removable: ["Shop.Order/Note", "Shop.Order/Remark"])
        #expect(try await service.engine.refreshMetadata(policy).incompatibleOperations.isEmpty)
        #expect(try await shop.store.queue.pendingOperations(.inDoubt).count == 1)
        #expect(try await shop.store.query("Orders?$expand=Customer").entities.isEmpty == false)
        service.restore()
        #expect(try await service.engine.refreshMetadata(policy).compatibleAgain.isEmpty)
        _ = try? await service.engine.upload()
        #expect(try await shop.serviceState(["Orders"]).filter { $0.contains("once") }.count == 1)
        let digest = try await shop.store.digest()
        #expect(try await rebuilt(shop) == digest)
    }

    @Test func `an incompatible operation in doubt that had no effect moves to the error archive`()
        async throws
    {
        let service = try await Changing()
        let shop = service.shop
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        try await shop.perform(update("Customers(1)", ["Name": .string("Mine")]))
        for _ in 0..<8 { shop.transport.add(Fault(.dropRequest, method: "POST", urlPart: "$batch")) }
        _ = try? await service.engine.upload()
        let doubtful = try await shop.store.queue.pendingOperations(.inDoubt).map(\.sequence)
        #expect(doubtful.count == 2)
        service.replace(Self.note, "<Property Name=\"Remark\" Type=\"Edm.String\"")
        _ = try await service.engine.refreshMetadata(CompatibilityPolicy(removable: ["Shop.Order/Note"]))
        shop.transport.change { $0.faults = [] }
        try await shop.store.doubts.resendInDoubt()
        let entry = try #require(try await shop.store.queue.errorArchive().first)
        #expect(entry.requestID == doubtful.first && entry.errorClass == .modelChanged)
        #expect(try await service.engine.upload().confirmed == Array(doubtful.dropFirst()))
        let digest = try await shop.store.digest()
        #expect(try await rebuilt(shop) == digest)
    }

    private static let photo = "<EntityType Name=\"Photo\" HasStream=\"true\">"
    private static let streamless = "<EntityType Name=\"Photo\">"

    /// Writes the stream of a downloaded photo.
    private func writeStream(_ shop: Shop, _ link: String) async throws {
        var options = IntentOptions()
        options.stream = StreamWrite(
            content: try await shop.store.media.keepStream(mediaType: "image/png") { take in try take([1, 2, 3]) })
        _ = try await shop.store.perform(
            [(.update(.link(link), changes: [:], bindings: [], inline: []), options)], asChangeSet: false)
    }

    @Test func `a stream of a type without streams does not hold back other operations, in doubt or not`()
        async throws
    {
        let service = try await Changing()
        let shop = service.shop
        try await shop.store.definingQueries.add(DefiningQuery(name: "Photos", query: "Photos"))
        try await shop.pull()
        try await writeStream(shop, "Photos(1)")
        shop.transport.add(Fault(.dropAnswer, method: "PUT", urlPart: "/v4/Photos(1)/$value"))
        _ = try? await service.engine.upload()
        let doubtful = try await shop.store.queue.pendingOperations(.inDoubt).map(\.sequence)
        #expect(doubtful.count == 1)
        try await writeStream(shop, "Photos(1)")
        try await shop.perform(update("Customers(1)", ["Name": .string("Mine")]))
        service.replace(Self.photo, Self.streamless)
        let refresh = try await service.engine.refreshMetadata(CompatibilityPolicy(canChangeAnything: true))
        #expect(
            refresh.incompatibleOperations.map(\.refusal.message) == [
                "Entities of type Shop.Photo no longer have a media stream."
            ])
        #expect(try await service.engine.upload().confirmed.count == 1)
        #expect(try await shop.store.queue.pendingOperations(.inDoubt).map(\.sequence) == doubtful)
    }

    @Test func `a declared index exists again after a change of the metadata`() async throws {
        var options = LocalStoreOptions()
        options.indexes = [EntityIndex("Orders", .ascending("Note"))]
        let service = try await Changing(options: options)
        func isIndexed() async throws -> Bool {
            try await service.shop.store.explain("Orders?$filter=Note eq 'a'").statements.contains {
                $0.plan.contains { $0.hasPrefix("SEARCH t0 USING") }
            }
        }
        #expect(try await isIndexed())
        service.replace(Self.note, "<Property Name=\"Weight\" Type=\"Edm.Int32\"/>" + Self.note)
        _ = try await service.engine.refreshMetadata(CompatibilityPolicy())
        #expect(try await isIndexed())
    }

    @Test func `the defining query of a removed set is skipped, and all others are downloaded`()
        async throws
    {
        let service = try await Changing()
        let shop = service.shop
        _ = try await shop.create("Suppliers", ["SupplierID": .integer(77)])
        service.replace("Name=\"Prices\"", "Name=\"Tariffs\"")
        let refresh = try await service.engine.refreshMetadata(CompatibilityPolicy(canRemoveAnything: true))
        #expect(refresh.unusableQueries.map(\.name) == ["Prices"])
        let report = try await service.engine.download()
        #expect(report.unusable.map(\.name) == ["Prices"])
        #expect(report.entities > 0)
        await #expect(throws: TidelogError.self) { try await service.engine.download(["Prices"]) }
        let digest = try await shop.store.digest()
        #expect(try await rebuilt(shop) == digest)
    }

    @Test
    func
        `a defining query is removed with its entities, unless they have pending operations or removal is not allowed`()
        async throws
    {
        var options = LocalStoreOptions()
        options.querySettings = ["Suppliers": DefiningQuerySettings(allowsRemoval: false)]
        let shop = try await Shop(.v4, options: options)
        try await shop.perform(update("Customers(1)", ["Name": .string("Mine")]))
        let number = try #require(try await shop.store.queue.pendingOperations().first?.sequence)
        let touched = await #expect(throws: TidelogError.self) {
            try await shop.store.definingQueries.remove("Customers")
        }
        #expect(touched?.code == .refused(.hasDependants))
        #expect(touched?.message.contains("\(number) (Customers(1))") == true)
        let kept = await #expect(throws: TidelogError.self) { try await shop.store.definingQueries.remove("Suppliers") }
        #expect(kept?.code == .refused(.notAllowed))
        // A different query under the same name would remove the same entities.
        for (query, code) in [
            (DefiningQuery(name: "Customers", query: "Customers?$top=1"), TidelogError.Code.refused(.hasDependants)),
            (DefiningQuery(name: "Suppliers", query: "Suppliers?$top=1"), .refused(.notAllowed)),
        ] {
            let replaced = await #expect(throws: TidelogError.self) { try await shop.store.definingQueries.add(query) }
            #expect(replaced?.code == code)
        }
        // Entities that another query delivers as well are kept, so pending operations do not prevent the removal.
        try await shop.store.definingQueries.add(DefiningQuery(name: "First", query: "Customers(1)"))
        _ = try await shop.engine.download(["First"])
        try await shop.store.definingQueries.remove("Customers")
        #expect(try await shop.store.query("Customers").entities.map(\.values["Name"]) == [.string("Mine")])
    }

    @Test func `a defining query that must be read again follows the same rules of removal`() async throws {
        var options = LocalStoreOptions()
        options.querySettings = ["Suppliers": DefiningQuerySettings(allowsRemoval: false)]
        let service = try await Changing(options: options)
        let store = service.shop.store
        try await service.shop.perform(update("Customers(1)", ["Name": .string("Mine")]))
        service.replace(Self.note, "<Property Name=\"Weight\" Type=\"Edm.Int32\"/>" + Self.note)
        _ = try await service.engine.refreshMetadata(CompatibilityPolicy())
        let touched = await #expect(throws: TidelogError.self) { try await store.definingQueries.remove("Customers") }
        #expect(touched?.code == .refused(.hasDependants))
        let kept = await #expect(throws: TidelogError.self) { try await store.definingQueries.remove("Suppliers") }
        #expect(kept?.code == .refused(.notAllowed))
    }

    @Test func `a document that contains no metadata is refused`() async throws {
        let service = try await Changing()
        service.replace("</edmx:Edmx>", "")
        let error = await #expect(throws: TidelogError.self) {
            try await service.engine.refreshMetadata(CompatibilityPolicy(canChangeAnything: true))
        }
        #expect(error?.code == .notOData)
    }
}
