import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Links that a delta reports before, or without, the entity at their other end.
struct OpenLinkTests {
    private static let suppliers = DefiningQuery(name: "Suppliers", query: "Suppliers")
    /// Key of the next product that a client creates.
    private static let next = 4
    private static let products = DefiningQuery(name: "Products", query: "Products")

    /// Sets the items of the next delta of suppliers.
    private func suppliersSay(_ items: String..., to shop: Shop) {
        say(items.joined(separator: ","), of: "Suppliers", to: shop)
    }

    /// Sets the items of a delta response.
    ///
    ///  - Parameters:
    ///    - end: The members after the items; nil for a new delta link.
    ///    - urlPart: Part of the URL of the request that receives the response; nil for the next request for the set.
    private func say(_ items: String, of set: String, end: String? = nil, urlPart: String? = nil, to shop: Shop) {
        let end = end ?? ##""@odata.deltaLink":"http://shop.test/v4/\##(set)?$deltatoken=1""##
        let body =
            ##"{"@odata.context":"http://shop.test/v4/$metadata#\##(set)/$delta","value":[\##(items)],\##(end)}"##
        shop.transport.add(
            Fault(.replace(contentType: "application/json", body: Array(body.utf8)), urlPart: urlPart ?? set + "?"))
    }

    private func link(_ supplier: Int, _ product: Int, _ kind: String = "link") -> String {
        ##"{"@odata.context":"#Suppliers/$\##(kind)","source":"Suppliers(\##(supplier))","relationship":"Products","target":"Products(\##(product))"}"##
    }

    private func newProduct(_ shop: Shop) throws -> Int {
        let body = shop.transport.direct("POST", "/v4/Products", #"{"Name":"new"}"#).body
        let text = String(decoding: body, as: UTF8.self)
        let digits = try #require(text.split(separator: "\"ProductID\":").last).prefix(while: \.isNumber)
        return try #require(Int(digits))
    }

    private func shop(_ queries: [DefiningQuery] = [suppliers, products]) async throws -> Shop {
        try await Shop(.v4, deltas: Deltas(.flat), queries: queries)
    }

    @Test func `a link to an entity of the next query exists after the same download`() async throws {
        let shop = try await shop()
        let product = try newProduct(shop)
        suppliersSay(link(1, product), to: shop)
        let report = try await shop.engine.download()
        #expect(try await shop.targets("Suppliers(1)", "Products") == ["Products(\(product))"])
        #expect(report.openLinks.isEmpty)
    }

    @Test func `a dangling link is kept and reported until its other end is downloaded, also after a reopen`()
        async throws
    {
        let shop = try await shop()
        suppliersSay(link(1, Self.next), to: shop)
        let report = try await shop.engine.download()
        #expect(
            report.openLinks == [
                OpenLink(
                    query: "Suppliers", set: "Suppliers", source: "Suppliers(1)", navigation: "Products",
                    target: "Products(\(Self.next))")
            ])
        let views = shop.directory.path + "/views.sqlite"
        await shop.store.close()
        TemporaryDirectory.remove(file: views)
        let store = try await LocalStore(StoreFiles(directory: shop.directory.path), options: .init())
        let engine = SyncEngine(
            store: store, session: ServiceSession(root: "http://shop.test/v4/", transport: shop.transport))
        #expect(try newProduct(shop) == Self.next)
        let again = try await engine.download()
        #expect(again.openLinks.isEmpty)
        #expect(try await store.query("Suppliers(1)/Products").entities.map(\.readLink) == ["Products(\(Self.next))"])
    }

    @Test func `a dangling link is removed when the service removes it`() async throws {
        let shop = try await shop()
        suppliersSay(link(1, 99), to: shop)
        try await shop.pull()
        suppliersSay(link(1, 99, "deletedLink"), to: shop)
        #expect(try await shop.engine.download().openLinks.isEmpty)
    }

    @Test(arguments: ["Suppliers(1)", "Products(99)"])
    func `a dangling link is removed when the service deletes one of its ends`(_ end: String) async throws {
        let shop = try await shop()
        suppliersSay(link(1, 99), to: shop)
        try await shop.pull()
        let set = end.prefix { $0 != "(" }
        suppliersSay(
            ##"{"@odata.context":"#\##(set)/$deletedEntity","id":"\##(end)","reason":"deleted"}"##, to: shop)
        #expect(try await shop.engine.download().openLinks.isEmpty)
    }

    @Test func `only the last dangling link of a single-valued property is kept`() async throws {
        let shop = try await Shop(.v4, deltas: Deltas(.flat), queries: [DefiningQuery(name: "Cities", query: "Cities")])
        for mayor in [98, 99] {
            let link =
                ##"{"@odata.context":"#Cities/$link","source":"Cities(3)","relationship":"Mayor","target":"Mayors(\##(mayor))"}"##
            say(link, of: "Cities", to: shop)
            try await shop.pull()
        }
        #expect(try await shop.store.downloads.openLinks().map(\.target) == ["Mayors(99)"])
    }

    @Test func `a link removed by a page of an interrupted download does not reappear`()
        async throws
    {
        let shop = try await shop()
        suppliersSay(link(1, Self.next), to: shop)
        try await shop.pull()
        // The first of two pages. The request for the second one fails.
        say(
            link(1, Self.next, "deletedLink"), of: "Suppliers",
            end: ##""@odata.nextLink":"http://shop.test/v4/Suppliers?$skiptoken=2""##, to: shop)
        shop.transport.add(Fault(.refuse(status: 403), urlPart: "skiptoken=2"))
        await #expect(throws: TidelogError.self) { try await shop.engine.download(["Suppliers"]) }
        #expect(try newProduct(shop) == Self.next)
        say("", of: "Suppliers", urlPart: "skiptoken=2", to: shop)
        let report = try await shop.engine.download()
        #expect(report.queries.map(\.mode) == [.resumed, .delta])
        #expect(try await shop.targets("Suppliers(1)", "Products") == [])
    }

    @Test func `a delta with waiting links continues after its last page, unless there are too many`() async throws {
        for limit in [1, 0] {
            var options = LocalStoreOptions()
            options.downloadLimits.linksOfPage = limit
            let shop = try await Shop(
                .v4, options: options, deltas: Deltas(.flat), queries: [Self.suppliers, Self.products])
            say(
                link(1, Self.next), of: "Suppliers",
                end: ##""@odata.nextLink":"http://shop.test/v4/Suppliers?$skiptoken=2""##, to: shop)
            shop.transport.add(Fault(.refuse(status: 403), urlPart: "skiptoken=2"))
            await #expect(throws: TidelogError.self) { try await shop.engine.download(["Suppliers"]) }
            #expect(try newProduct(shop) == Self.next)
            if limit > 0 {
                say("", of: "Suppliers", urlPart: "skiptoken=2", to: shop)
            } else {
                suppliersSay(link(1, Self.next), to: shop)
            }
            let report = try await shop.engine.download()
            #expect(report.queries.map(\.mode) == [limit > 0 ? .resumed : .delta, .delta])
            #expect(try await shop.targets("Suppliers(1)", "Products") == ["Products(\(Self.next))"])
            #expect(report.openLinks.isEmpty)
        }
    }

    @Test func `the links of a query removed during the download of a different query do not reappear`() async throws {
        let shop = try await shop()
        let link = OpenLink(
            query: "Removed", set: "Suppliers", source: "Suppliers(1)", navigation: "Products", target: "Products(99)")
        _ = try await shop.store.downloads.finishDownload(
            of: Self.products, deltaLink: nil, waiting: DanglingLinks(kept: [link]))
        #expect(try await shop.store.downloads.openLinks().isEmpty)
    }

    @Test func `dangling links are removed with their query`() async throws {
        let shop = try await shop()
        suppliersSay(link(1, 99), to: shop)
        try await shop.pull()
        try await shop.store.definingQueries.remove("Suppliers")
        #expect(try await shop.store.downloads.openLinks().isEmpty)
    }

    @Test func `a full download reports its links again`() async throws {
        let shop = try await shop()
        suppliersSay(link(1, 99), to: shop)
        try await shop.pull()
        shop.transport.add(Fault(.refuse(status: 410), urlPart: "deltatoken"))
        #expect(try await shop.engine.download(["Suppliers"]).openLinks.isEmpty)
    }

    @Test func `if there are too many dangling links, none is kept, and the next download is a full one`() async throws
    {
        var options = LocalStoreOptions()
        options.downloadLimits.openLinks = 10
        let shop = try await Shop(
            .v4, options: options, deltas: Deltas(.flat), queries: [Self.suppliers, Self.products])
        let kept = (0..<10).map { link(1, 1_000 + $0) }.joined(separator: ",")
        suppliersSay(kept, to: shop)
        #expect(try await shop.engine.download().openLinks.count == 10)
        let body = (0...10).map { link(2, 1_000 + $0) }.joined(separator: ",")
        suppliersSay(body, to: shop)
        #expect(try await shop.engine.download().openLinks.isEmpty)
        #expect(try await shop.engine.download(["Suppliers"]).queries.map(\.mode) == [.full])
    }
}
