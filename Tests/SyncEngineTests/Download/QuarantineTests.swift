import EDM
import Foundation
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import SyncEngine
import TestSupport
import Testing
@testable import OfflineStore

/// Responses with errors, and entities of valid responses that the store cannot accept.
struct QuarantineTests {
    private static let customers = DefiningQuery(name: "Customers", query: "Customers")

    private func shop(
        _ dialect: Dialect = .v4, query: String = "Customers", deltas: Deltas? = nil, pageSize: Int? = nil,
        _ change: (inout LocalStoreOptions) -> Void = { _ in }
    ) async throws -> Shop {
        var options = LocalStoreOptions()
        change(&options)
        return try await Shop(
            dialect, pageSize: pageSize, options: options, deltas: deltas,
            queries: [DefiningQuery(name: "Customers", query: query)])
    }

    /// Sets the response to the next request of the query.
    private func answer(_ body: String, to shop: Shop, _ urlPart: String = "Customers") {
        shop.transport.add(
            Fault(
                .replace(contentType: "application/json", body: Array(body.utf8)), method: "GET", urlPart: urlPart))
    }

    private func keys(_ shop: Shop) async throws -> [String] {
        try await shop.store.query("Customers").entities.map(\.readLink).sorted()
    }

    /// Whether the store has all customers of the service. No query delivers their orders.
    private func hasAll(_ shop: Shop) async throws -> Bool {
        let service = try await shop.serviceState(["Customers"]).map { $0.prefix { $0 != "→" } }
        let local = try await shop.localState(["Customers"])
        return zip(local, service).allSatisfy { $1 == $0 || $1 == $0 + " Orders" } && local.count == service.count
    }

    private func page(_ items: String..., more: String = "") -> String {
        #"{"@odata.context":"http://shop.test/v4/$metadata#Customers","value":[\#(items.joined(separator: ","))]\#(more)}"#
    }

    private let first = #"{"CustomerID":1,"Name":"First","Tags":[]}"#
    private let second = #"{"CustomerID":2,"Name":"Second","Tags":[]}"#

    // MARK: In-stream errors

    private static let erroneous: [(Dialect, String)] = [
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x"}],"error":{"code":"E","message":"out of memory"}}"#),
        (.v4, #"{"error":{"code":"E","message":"out of memory"},"value":[{"CustomerID":1,"Name":"x"}]}"#),
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x"}],"value":[{"CustomerID":2,"Name":"y"}]}"#),
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x","Name":"y"}]}"#),
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x","N\u0061me":"y"}]}"#),
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x","Address":{"City":"a","City":"b"}}]}"#),
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x"}]} {}"#),
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x"}]"#),
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x"}],"@odata.count":1,"@odata.count":2}"#),
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x"}],"@error":{"code":"E","message":"out of memory"}}"#),
        (.v4, #"{"value@Core.ResourceException":{"message":"no"},"value":[{"CustomerID":1,"Name":"x"}]}"#),
        (.v4, #"{"value":[{"CustomerID":1,"Name":"x"}],"@odata.nextLink":7}"#),
        (.v2, #"{"d":{"results":[{"CustomerID":1,"Name":"x"}],"__next":{"uri":"x"}}}"#),
        (.v2, #"{"d":{"results":[{"CustomerID":1,"Name":"x"}]},"error":{"code":"E","message":{"value":"no"}}}"#),
        (.v2, #"{"d":{"results":[{"CustomerID":1,"Name":"x"}],"error":{"code":"E"}}}"#),
        (.v2, #"{"d":{"results":[{"CustomerID":1,"Name":"x"}],"results":[]}}"#),
        (.v2, #"{"d":[{"CustomerID":1,"Name":"x"}],"d":[]}"#),
        (.v2, #"{"d":{"results":[{"CustomerID":1,"Name":"x"}]},"results":[]}"#),
    ]

    @Test(arguments: erroneous)
    func `a response with an in-stream error adds and removes nothing`(
        _ dialect: Dialect, _ body: String
    ) async throws {
        let shop = try await shop(dialect)
        let before = try await (keys(shop), shop.value("Customers(1)", "Name"))
        answer(body, to: shop)
        let error = await #expect(throws: TidelogError.self) { try await shop.engine.download() }
        #expect(error?.download?.failures.map(\.name) == ["Customers"])
        let after = try await (keys(shop), shop.value("Customers(1)", "Name"))
        #expect(after.0 == before.0)
        #expect(after.1 == before.1)
        #expect(try await shop.store.downloads.quarantine().isEmpty)
        // The next download succeeds.
        shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"Later"}"#)
        try await shop.pull()
        #expect(try await shop.value("Customers(1)", "Name") == .string("Later"))
    }

    @Test func `the report contains the message of the service`() async throws {
        let shop = try await shop()
        answer(page(first, more: #","error":{"code":"E17","message":"out of memory"}"#), to: shop)
        let error = await #expect(throws: TidelogError.self) { try await shop.engine.download() }
        #expect(error?.code == .service(status: 200))
        #expect(error?.message.contains("E17: out of memory") == true)
    }

    @Test(arguments: [1, 4 << 20])
    func `parts of a long page that ends in an error leave no trace`(_ memory: Int) async throws {
        let shop = try await shop { $0.downloadLimits.memory = memory }
        let before = try await shop.localState(["Customers"])
        let items = (0..<2_500).map { #"{"CustomerID":\#($0 + 1),"Name":"new","Tags":[]}"# }.joined(separator: ",")
        answer(page(items, more: #","error":{"code":"E","message":"x"}"#), to: shop)
        await #expect(throws: TidelogError.self) { try await shop.engine.download() }
        #expect(try await shop.localState(["Customers"]) == before)
    }

    @Test func `valid pages before an error are kept, and the next download resumes after them`() async throws {
        let shop = try await shop(pageSize: 1)
        shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"Later"}"#)
        shop.transport.add(Fault(.distort(.inStreamError), skipping: 1, method: "GET", urlPart: "Customers"))
        await #expect(throws: TidelogError.self) { try await shop.engine.download() }
        #expect(try await shop.value("Customers(1)", "Name") == .string("Later"))
        let report = try await shop.engine.download()
        #expect(report.queries.first?.mode == .resumed)
        #expect(try await hasAll(shop))
    }

    @Test func `an operation whose successful response contains an error is in doubt`() async throws {
        let shop = try await shop()
        try await shop.create("Customers", ["Name": .string("Ada"), "Tags": .collection([])])
        shop.transport.add(Fault(.distort(.inStreamError), method: "POST", part: .any))
        let report = try await shop.push()
        #expect(report.inDoubt.count == 1)
        #expect(report.confirmed.isEmpty)
    }

    @Test func `a property with the name of an error member is not an error`() async throws {
        let model = try CSDLReader.read(Array(Self.withError.utf8))
        let type = try #require(model.findEntitySet("Things")?.entityType)
        let reader = PayloadReader(version: .v4, model: model)
        let body = Array(#"{"ID":1,"error":"none"}"#.utf8)
        #expect(try reader.entity(body, type: type).values["error"] == .string("none"))
        #expect(reader.inStreamError(in: body, of: type) == nil)
    }

    private static let withError = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="error" Type="Edm.String"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="S.Thing"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    // MARK: Entities without keys

    @Test(arguments: [#"{"Name":"x","Tags":[]}"#, #"{"CustomerID":null,"Name":"x","Tags":[]}"#])
    func `an entity without its key is reported, and removes no other entity`(_ item: String) async throws {
        let shop = try await shop()
        let before = try await keys(shop)
        answer(page(first, item), to: shop)
        let report = try await shop.engine.download()
        #expect(report.queries.first?.tally.removed == 0)
        #expect(report.skipped.isEmpty)
        let found = try #require(report.quarantined.first)
        #expect(found.reason == .withoutKey)
        #expect(found.message.contains("CustomerID"))
        #expect(try await keys(shop) == before)
        #expect(try await shop.value("Customers(1)", "Name") == .string("First"))
        // The next download is a full one, and removes the entities that no longer exist.
        shop.transport.direct("DELETE", "/v4/Customers(2)", headers: ["If-Match": "*"])
        let next = try await shop.engine.download()
        #expect(next.queries.first?.mode == .full)
        #expect(next.quarantined.isEmpty)
        #expect(try await shop.store.downloads.quarantine().isEmpty)
        #expect(try await !keys(shop).contains("Customers(2)"))
    }

    @Test(arguments: Dialect.allCases)
    func `an entity without its key does not change the entities of the store`(_ dialect: Dialect) async throws {
        let shop = try await shop(dialect)
        let before = try await shop.localState(["Customers"])
        shop.transport.add(Fault(.distort(.keyless), urlPart: "Customers"))
        let report = try await shop.engine.download()
        #expect(report.quarantined.map(\.reason) == [.withoutKey])
        #expect(try await shop.localState(["Customers"]) == before)
    }

    @Test func `an expanded entity without its key removes no link`() async throws {
        let shop = try await shop(query: "Suppliers?$expand=Products")
        let before = try await shop.targets("Suppliers(1)", "Products")
        try #require(!before.isEmpty)
        answer(
            #"{"@odata.context":"$metadata#Suppliers","value":[{"SupplierID":1,"Products":[{"Name":"x"}]}]}"#, to: shop,
            "Suppliers")
        let report = try await shop.engine.download()
        #expect(report.quarantined.map(\.set) == ["Products"])
        #expect(try await shop.targets("Suppliers(1)", "Products") == before)
    }

    // MARK: Values that cannot be read

    private static let badValues: [(property: String, item: String)] = [
        ("Rating", #"{"CustomerID":2,"Name":"x","Tags":[],"Rating":"abc"}"#),
        ("Since", #"{"CustomerID":2,"Name":"x","Tags":[],"Since":"2026-02-30"}"#),
        ("Name", #"{"CustomerID":2,"Name":{"a":1},"Tags":[]}"#),
        ("Tags", #"{"CustomerID":2,"Name":"x","Tags":5}"#),
        ("Address", #"{"CustomerID":2,"Name":"x","Tags":[],"Address":{"City":7}}"#),
        ("Name", #"{"CustomerID":2,"Name":"x\ud83d","Tags":[]}"#),
        ("Tags", #"{"CustomerID":2,"Name":"x","Tags":["a","\ude00\ud83d!"]}"#),
        ("@odata.etag", #"{"@odata.etag":"W/\"1\"\r\nX: y","CustomerID":2,"Name":"x","Tags":[]}"#),
    ]

    @Test(arguments: badValues)
    func `a value that cannot be read puts only its entity into quarantine`(
        _ bad: (property: String, item: String)
    ) async throws {
        let shop = try await shop()
        let before = try await keys(shop)
        let name = try await shop.value("Customers(2)", "Name")
        answer(page(first, bad.item, #"{"CustomerID":77,"Name":"New","Tags":[]}"#), to: shop)
        let report = try await shop.engine.download()
        let found = try #require(report.quarantined.first)
        #expect(report.quarantined.count == 1)
        #expect(found.name == "Customers(2)")
        #expect(found.reason == .unreadable)
        #expect(found.path.hasPrefix("/" + bad.property))
        #expect(try await shop.value("Customers(1)", "Name") == .string("First"))
        #expect(try await shop.value("Customers(77)", "Name") == .string("New"))
        // The entity is unchanged. Entities that no page contained are removed, because each entity could be
        // identified.
        #expect(try await shop.value("Customers(2)", "Name") == name)
        let gone = before.filter { !["Customers(1)", "Customers(2)"].contains($0) }
        #expect(report.queries.first?.tally.removed == gone.count)
        #expect(try await shop.store.downloads.quarantine().map(\.entity) == [found])
        // The next download tries again, and reads everything.
        let next = try await shop.engine.download()
        #expect(next.queries.first?.mode == .full)
        #expect(try await shop.store.downloads.quarantine().isEmpty)
        #expect(try await hasAll(shop))
    }

    @Test(arguments: [
        #""@Core.ResourceException":{"message":"gone wrong"}"#, #""error":{"code":"E","message":"gone wrong"}"#,
        #""Name@Org.OData.Core.V1.ValueException":{"message":"gone wrong"}"#,
        #""@odata.error":{"message":"gone wrong"}"#,
    ])
    func `an entity that the service failed to serialize changes nothing`(_ member: String) async throws {
        let shop = try await shop()
        let before = try await keys(shop)
        let name = try await shop.value("Customers(2)", "Name")
        answer(page(first, #"{"CustomerID":2,"Name":null,"Tags":[],\#(member)}"#), to: shop)
        let report = try await shop.engine.download()
        #expect(report.quarantined.map(\.name) == ["Customers(2)"])
        #expect(report.quarantined.first?.message.contains("gone wrong") == true)
        #expect(try await shop.value("Customers(1)", "Name") == .string("First"))
        #expect(try await shop.value("Customers(2)", "Name") == name)
        #expect(try await keys(shop) == before)
    }

    @Test func `a key that is not a valid text identifies no entity`() async throws {
        let shop = try await shop(query: "Prices")
        let before = try await shop.store.query("Prices").entities.count
        answer(#"{"value":[{"Currency":"\ud83d","Day":1}]}"#, to: shop, "Prices")
        let report = try await shop.engine.download()
        #expect(report.quarantined.map(\.name) == [nil])
        #expect(try await shop.store.query("Prices").entities.count == before)
    }

    @Test func `a query with a filtered expansion removes no link that another query delivers`() async throws {
        let shop = try await Shop(
            .v4, options: LocalStoreOptions(),
            queries: [
                DefiningQuery(name: "All", query: "Suppliers?$expand=Products"),
                DefiningQuery(name: "Part", query: "Suppliers?$expand=Products($filter=ProductID eq 1)"),
            ])
        let service = try await shop.serviceState(["Suppliers"])
        #expect(try await shop.localState(["Suppliers"]) == service)
    }

    @Test func `the quarantine is restored when the views are rebuilt`() async throws {
        let shop = try await shop()
        answer(page(first, Self.badValues[0].item), to: shop)
        _ = try await shop.engine.download()
        let entries = try await shop.store.downloads.quarantine()
        #expect(entries.count == 1)
        let digest = try await shop.store.digest()
        await shop.store.close()
        try FileManager.default.removeItem(atPath: shop.store.files.views)
        let again = try await LocalStore(shop.store.files)
        #expect(try await again.downloads.quarantine() == entries)
        #expect(try await again.digest() == digest)
        await again.close()
    }

    @Test func `a delta with an entity that cannot be read is requested again`() async throws {
        let shop = try await shop(deltas: Deltas(.nested))
        shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"Later"}"#)
        shop.transport.add(Fault(.distort(.badValue), urlPart: "Customers"))
        let link = try await shop.store.downloads.queryStates().first?.deltaLink?.url
        let report = try await shop.engine.download()
        #expect(report.queries.first?.mode == .delta)
        #expect(report.quarantined.map(\.name) == ["Customers(1)"])
        #expect(try await shop.store.downloads.queryStates().first?.deltaLink?.url == link)
        #expect(try await shop.value("Customers(1)", "Name") != .string("Later"))
        let next = try await shop.engine.download()
        #expect(next.queries.first?.mode == .delta)
        #expect(next.quarantined.isEmpty)
        #expect(try await shop.store.downloads.quarantine().isEmpty)
        #expect(try await shop.value("Customers(1)", "Name") == .string("Later"))
    }

    @Test func `an expanded entity that cannot be read does not affect its owner`() async throws {
        let shop = try await shop(query: "Suppliers?$expand=Products")
        let before = try await shop.targets("Suppliers(1)", "Products")
        let ids = before.map { $0.drop { $0 != "(" }.dropFirst().dropLast() }
        let id = try #require(ids.first)
        let products = ids.map { #"{"ProductID":\#($0),"Name":\#($0 == id ? "5" : "null")}"# }.joined(separator: ",")
        let item = #"{"SupplierID":1,"Name":"Renamed","Products":[\#(products)]}"#
        answer(#"{"@odata.context":"$metadata#Suppliers","value":[\#(item)]}"#, to: shop, "Suppliers")
        let report = try await shop.engine.download()
        #expect(report.quarantined.map(\.name) == ["Products(\(id))"])
        #expect(try await shop.value("Suppliers(1)", "Name") == .string("Renamed"))
        #expect(try await shop.targets("Suppliers(1)", "Products") == before)
    }

    @Test func `an entity that is too large for a record does not prevent others from being stored`() async throws {
        let shop = try await shop { $0.downloadLimits.entity = 1_000 }
        let large = #"{"CustomerID":2,"Name":"\#(String(repeating: "x", count: 2_000))","Tags":[]}"#
        answer(page(first, large), to: shop)
        let report = try await shop.engine.download()
        #expect(report.quarantined.map(\.reason) == [.tooLarge])
        #expect(report.quarantined.map(\.name) == ["Customers(2)"])
        #expect(try await shop.value("Customers(1)", "Name") == .string("First"))
        #expect(try await keys(shop).contains("Customers(2)"))
    }

    @Test func `the number of quarantined entities of a query is limited, and the others are counted`() async throws {
        let shop = try await shop()
        let items = (0..<1_300).map { #"{"CustomerID":\#($0 + 100),"Name":7}"# }.joined(separator: ",")
        answer(page(items), to: shop)
        _ = try await shop.engine.download()
        let entries = try await shop.store.downloads.quarantine()
        #expect(entries.count == QuarantinedEntity.limit)
        #expect(entries.last?.entity.reason == .further)
        #expect(entries.reduce(0) { $0 + $1.entity.count } == 1_300)
    }

    @Test func `an entity that occurs twice on a page is stored once and reported`() async throws {
        let shop = try await shop()
        answer(page(first, second, #"{"CustomerID":1,"Name":"Again","Tags":[]}"#), to: shop)
        let report = try await shop.engine.download()
        #expect(report.repeated == ["Customers(1)"])
        #expect(try await shop.value("Customers(1)", "Name") == .string("Again"))
    }

    @Test func `the quarantine of a query is removed with the query`() async throws {
        let shop = try await shop()
        answer(page(first, Self.badValues[0].item), to: shop)
        _ = try await shop.engine.download()
        try await shop.store.definingQueries.remove("Customers")
        #expect(try await shop.store.downloads.quarantine().isEmpty)
    }

    // MARK: Upload plans

    @Test func `an operation that cannot be encoded does not prevent the plan of the others`() async throws {
        let shop = try await shop()
        let id = try #require(try await shop.load("Customers(1)").entityID)
        // An ETag that an earlier version may have logged.
        let image = EntityImage(
            entity: id, set: "Customers", type: "Shop.Customer", values: [:], etag: "W/\"1\"\r\nX: y")
        try await shop.store.record([.entitiesRead([image])])
        try await shop.perform(update("Customers(1)", ["Name": .string("a")]))
        try await shop.perform(update("Customers(2)", ["Name": .string("b")]))
        let bad = try #require(try await shop.store.queue.pendingOperations().first?.sequence)
        let plan = try await shop.store.uploads.plan()
        let encoder = BatchEncoder(model: try await shop.store.model, serviceRoot: "http://shop.test/v4/")
        let sendable = encoder.sendable(plan)
        #expect(Array(sendable.held.keys) == [bad])
        #expect(sendable.held[bad]?.description.contains("If-Match") == true)
        #expect(sendable.changeSets.count == 1)
        _ = try encoder.encode(encoder.batch(sendable, number: 1))
        // The upload behaves in the same way.
        let report = try await shop.push()
        #expect(report.rejected.map(\.operation) == [bad])
        #expect(report.confirmed.count == 1)
    }
}
