import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import SyncEngine
import TestSupport
import Testing
@testable import OfflineStore

/// Entities that are removed from an expanded collection.
struct UnlinkedEntityTests {
    private static let suppliers = DefiningQuery(name: "Suppliers", query: "Suppliers?$expand=Products")

    /// Sets the next delta, which reports products that left or joined the collections of suppliers.
    private func tell(_ shop: Shop, _ changes: [(supplier: Int, left: [Int], came: [Int])]) {
        let items = changes.map { change in
            let left = change.left.map { #"{"@removed":{"reason":"changed"},"@id":"Products(\#($0))"}"# }
            let came = change.came.map { #"{"ProductID":\#($0)}"# }
            return #"{"SupplierID":\#(change.supplier),"Products@delta":[\#((left + came).joined(separator: ","))]}"#
        }
        tell(shop, items)
    }

    /// Sets the next delta, which contains these entities in JSON.
    private func tell(_ shop: Shop, _ items: [String], of set: String = "Suppliers") {
        let body =
            ##"{"@context":"http://shop.test/v4/$metadata#\##(set)/$delta","value":[\##(items.joined(separator: ","))],"@deltaLink":"http://shop.test/v4/\##(set)?$deltatoken=1"}"##
        shop.transport.add(
            Fault(.replace(contentType: "application/json", body: Array(body.utf8)), urlPart: "deltatoken"))
    }

    /// Returns a shop with two suppliers: only the first one has product 3, and both have product 2.
    private func shop(_ more: DefiningQuery...) async throws -> Shop {
        let shop = try await Shop(.v4, deltas: Deltas(.nested), queries: [Self.suppliers] + more)
        return shop
    }

    private func products(_ shop: Shop) async throws -> [String] {
        try await shop.store.query("Products").entities.map(\.readLink).sorted()
    }

    private func left(_ shop: Shop, of supplier: Int) async throws -> [Int] {
        let links = try await shop.targets("Suppliers(\(supplier))", "Products")
        return links.compactMap { Int($0.filter(\.isNumber)) }.sorted()
    }

    @Test func `an entity that leaves its only collection is removed`() async throws {
        let shop = try await shop()
        let both = Set(try await left(shop, of: 1)).intersection(try await left(shop, of: 2))
        let product = try #require(try await left(shop, of: 1).first { !both.contains($0) })
        tell(shop, [(1, [product], [])])
        let report = try await shop.engine.download()
        #expect(try await !products(shop).contains("Products(\(product))"))
        #expect(report.queries.map(\.tally.removed) == [1])
    }

    @Test func `an entity that is missing in the complete collection of a delta is removed`() async throws {
        let shop = try await shop()
        let both = Set(try await left(shop, of: 1)).intersection(try await left(shop, of: 2))
        let only = try await left(shop, of: 1).filter { !both.contains($0) }
        let product = try #require(only.first)
        let others = (only.dropFirst() + both).map { #"{"ProductID":\#($0)}"# }.joined(separator: ",")
        tell(shop, [#"{"SupplierID":1,"Products":[\#(others)]}"#])
        try await shop.pull()
        #expect(try await !products(shop).contains("Products(\(product))"))
        let kept = Set(try await products(shop))
        #expect(both.allSatisfy { kept.contains("Products(\($0))") })
    }

    @Test(arguments: ["changed", "deleted"])
    func `the entities in the collections of a removed entity are removed with it`(_ reason: String) async throws {
        let shop = try await shop()
        let both = Set(try await left(shop, of: 1)).intersection(try await left(shop, of: 2))
        let only = try await left(shop, of: 1).filter { !both.contains($0) }
        try #require(!only.isEmpty && !both.isEmpty)
        tell(shop, [#"{"@removed":{"reason":"\#(reason)"},"@id":"Suppliers(1)"}"#])
        let report = try await shop.engine.download()
        let kept = Set(try await products(shop))
        #expect(only.allSatisfy { !kept.contains("Products(\($0))") })
        #expect(both.allSatisfy { kept.contains("Products(\($0))") })
        #expect(report.queries.map(\.tally.removed) == [1 + only.count])
    }

    @Test func `the entities in the collections of a removed entity stay if another query delivers them`() async throws
    {
        let shop = try await shop(DefiningQuery(name: "Products", query: "Products"))
        let product = try #require(try await left(shop, of: 1).first)
        tell(shop, [#"{"@removed":{"reason":"deleted"},"@id":"Suppliers(1)"}"#])
        _ = try await shop.engine.download(["Suppliers"])
        #expect(try await products(shop).contains("Products(\(product))"))
    }

    @Test func `an entity whose only link a delta deletes is removed`() async throws {
        let shop = try await shop()
        let both = Set(try await left(shop, of: 1)).intersection(try await left(shop, of: 2))
        let product = try #require(try await left(shop, of: 1).first { !both.contains($0) })
        let shared = try #require(both.first)
        tell(
            shop,
            [product, shared].map {
                ##"{"@context":"#Suppliers/$deletedLink","source":"Suppliers(1)","relationship":"Products","target":"Products(\##($0))"}"##
            })
        try await shop.pull()
        #expect(try await !products(shop).contains("Products(\(product))"))
        #expect(try await products(shop).contains("Products(\(shared))"))
    }

    @Test func `an entity in the collection of another entity of the query is kept`() async throws {
        let shop = try await shop()
        let both = Set(try await left(shop, of: 1)).intersection(try await left(shop, of: 2))
        let product = try #require(both.first)
        tell(shop, [(1, [product], [])])
        try await shop.pull()
        #expect(try await products(shop).contains("Products(\(product))"))
        #expect(try await !left(shop, of: 1).contains(product))
        #expect(try await left(shop, of: 2).contains(product))
    }

    @Test func `an entity that another query delivers is kept`() async throws {
        let shop = try await shop(DefiningQuery(name: "Products", query: "Products"))
        let product = try #require(try await left(shop, of: 1).first)
        tell(shop, [(1, [product], [])])
        _ = try await shop.engine.download(["Suppliers"])
        #expect(try await products(shop).contains("Products(\(product))"))
    }

    @Test(arguments: [[1, 2], [2, 1]])
    func `an entity that moves to the collection of another entity keeps its values`(_ order: [Int]) async throws {
        let shop = try await shop()
        let both = Set(try await left(shop, of: 1)).intersection(try await left(shop, of: 2))
        let product = try #require(try await left(shop, of: 1).first { !both.contains($0) })
        let name = try await shop.value("Products(\(product))", "Name")
        tell(shop, order.map { $0 == 1 ? (1, [product], []) : (2, [], [product]) })
        try await shop.pull()
        #expect(try await left(shop, of: 2).contains(product))
        #expect(try await shop.value("Products(\(product))", "Name") == name)
    }

    @Test(arguments: [(3, [1]), (2, [1, 2])])
    func `an entity whose only link a foreign key in a delta moves is removed`(
        _ order: Int, _ customers: [Int]
    ) async throws {
        let query = DefiningQuery(name: "Orders", query: "Orders?$expand=Customer")
        let shop = try await Shop(.v4, deltas: Deltas(.nested), queries: [query])
        // Customer 2 has only order 3, customer 1 has two orders.
        tell(shop, [#"{"OrderID":\#(order),"CustomerID":\#(order == 3 ? 1 : 2)}"#], of: "Orders")
        try await shop.pull()
        let kept = try await shop.store.query("Customers").entities.map(\.readLink).sorted()
        #expect(kept == customers.map { "Customers(\($0))" })
        #expect(
            try await shop.targets("Orders(\(order))", "Customer") == [order == 3 ? "Customers(1)" : "Customers(2)"])
    }
}
