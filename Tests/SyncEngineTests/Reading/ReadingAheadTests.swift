import EDM
import ODataQuery
import ODataWire
import Operations
import SyncCore
import Views
import Testing
@testable import OfflineStore

/// Expansions that are read for many rows at once return the same entities as separate reads.
struct ReadingAheadTests {
    private func busyShop(_ dialect: Dialect) async throws -> Shop {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        for note in ["a", "b", "c"] {
            try await shop.create("Orders", ["Note": .string(note)], bind: [bind("Customer", customer)])
        }
        try await shop.perform(
            update("Orders(1)", ["Note": .string("changed")]),
            .updateLink(from: .link("Orders(2)"), navigation: "Customer", to: .link(customer)),
            .delete(.link("Orders(3)")))
        return shop
    }

    @Test(
        arguments: Dialect.allCases, ["Orders", "Orders($expand=Customer)", "Orders($filter=Note ne 'b';$top=2)", "*"])
    func `the expansion of many entities equals the expansions of each one`(_ dialect: Dialect, _ expand: String)
        async throws
    {
        let shop = try await busyShop(dialect)
        // V2 expresses nested expansions as paths.
        if dialect == .v2, expand.contains("(") || expand == "*" { return }
        let all = try await shop.store.query("Customers?$expand=\(expand)").entities
        #expect(all.contains { $0.expanded.contains { $0.entities.count > 1 } })
        for entity in all {
            let alone = try await shop.store.query("\(entity.readLink)?$expand=\(expand)").entities
            #expect(alone == [entity])
        }
        let links = try await shop.store.query("Orders").entities.map(\.readLink)
        for link in links {
            let order = try await shop.store.query("\(link)?$expand=Customer").entities[0]
            let customers = try await shop.targets(link, "Customer")
            #expect(order.expanded.flatMap(\.entities).map(\.readLink) == customers)
        }
    }

    @Test func `the number of statements does not grow with the number of rows`() async throws {
        let shop = try await busyShop(.v4)
        let before = try await shop.store.explain("Customers?$expand=Orders($expand=Customer)")
        for number in 0..<10 {
            let customer = try await shop.create("Customers", ["Name": .string("C\(number)")])
            try await shop.create("Orders", ["Note": .null], bind: [bind("Customer", customer)])
        }
        let after = try await shop.store.explain("Customers?$expand=Orders($expand=Customer)")
        #expect(after.entities == before.entities + 10)
        #expect(after.statements.map(\.runs).reduce(0, +) == before.statements.map(\.runs).reduce(0, +))
        #expect(after.inMemory.isEmpty)
        // Each level looks up links by the source's end of the relationship; the query traverses it from both ends.
        let plans = after.statements.flatMap(\.plan).filter { $0.hasPrefix("SEARCH links") }
        #expect(plans.contains { $0.contains("first=?") } && plans.contains { $0.contains("second=?") }, "\(plans)")
    }

    @Test func `the count of an expansion is computed without reading its entities`() async throws {
        let shop = try await busyShop(.v4)
        let found = try await shop.store.explain("Customers?$expand=Orders/$count")
        #expect(found.statements.contains { $0.sql.contains("COUNT(*)") })
        let orders = found.statements.filter { $0.sql.contains("set_Orders") && !$0.sql.contains("COUNT(*)") }
        #expect(orders.isEmpty, "\(orders.map(\.sql))")
        for customer in try await shop.store.query("Customers?$expand=Orders/$count").entities {
            let expected = try await shop.store.query("\(customer.readLink)/Orders/$count").count
            #expect(customer.expanded.map(\.count) == [expected])
        }
    }

    @Test func `an expansion with options equals that of each entity, and is evaluated in SQL`() async throws {
        let shop = try await busyShop(.v4)
        for options in [
            "$filter=Note ne 'b'", "$orderby=Note desc;$top=2", "$skip=1;$count=true", "$search=engine;$count=true",
            "$filter=Customer/Name eq 'New';$orderby=OrderID desc;$skip=1;$top=1", "$top=0;$count=true",
        ] {
            let url = "Customers?$expand=Orders(\(options))"
            #expect(try await shop.store.explain(url).inMemory.isEmpty, "\(options)")
            for entity in try await shop.store.query(url).entities {
                let alone = try await shop.store.query(
                    "\(entity.readLink)/Orders?\(options.replacing(";", with: "&"))")
                #expect(entity.expanded[0].entities.map(\.readLink) == alone.entities.map(\.readLink), "\(options)")
                #expect(entity.expanded[0].count == alone.count, "\(options)")
            }
        }
    }

    @Test func `reading an entity by its link accepts aliases and refuses deeply nested conditions`() async throws {
        let shop = try await busyShop(.v4)
        var options = try QueryOptions.parse(
            "$expand=Orders($filter=Note%20eq%20@note)&@note='engine%20parts'", version: .v401)
        let link = "Customers(1)"
        let plain = try await shop.store.query("\(link)?$expand=Orders($filter=Note eq 'engine parts')").entities
        #expect(try await shop.store.load(.link(link), options: options) == plain[0])
        #expect(try await shop.store.load(.link("/" + link), options: options) == plain[0])
        options.expand[0].options.filter = (0..<100).reduce(Expression.true) { inner, _ in .not(inner) }
        for link in [link, "/" + link] {
            let error = await #expect(throws: TidelogError.self) {
                _ = try await shop.store.load(.link(link), options: options)
            }
            #expect(error?.code == .invalidRequest)
        }
    }

    @Test(arguments: Dialect.allCases)
    func `the fast path for readLinks returns the same links as the encoder`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let model = try await shop.store.model
        let encoder = RequestEncoder(version: model.version, model: model, serviceRoot: "http://h/")
        for set in model.entitySets {
            for entity in try await shop.store.query(set.name).entities {
                let type = try #require(model.findEntityType(entity.type))
                let key = try #require(KeyPredicate(of: type, in: entity.values))
                #expect(entity.readLink == encoder.url(of: .entity(set: set, key: key)))
            }
        }
    }

    @Test(arguments: Dialect.allCases)
    func `a short link resolves like the complete URL`(_ dialect: Dialect) async throws {
        let shop = try await busyShop(dialect)
        let root = try #require(try await shop.store.service).root
        for entity in try await shop.store.query("Orders").entities + shop.store.query("Customers").entities {
            let short = try await shop.load(entity.readLink)
            #expect(short == entity)
            #expect(try await shop.load(root + entity.readLink) == short)
        }
    }

    @Test func `a short link to a missing or deleted entity is answered like the complete URL`() async throws {
        let shop = try await busyShop(.v4)
        for link in ["Orders(4711)", "Orders(3)", "Nowhere(1)", "Orders(99999999999999999999)", "Orders()", "Orders(1"]
        {
            let short = await #expect(throws: TidelogError.self) { _ = try await shop.load(link) }
            let long = await #expect(throws: TidelogError.self) { _ = try await shop.load("/" + link) }
            #expect(short?.code == long?.code, "\(link)")
        }
    }

    @Test(arguments: [
        ("Orders(5)", true), ("Orders(-5)", false), ("Orders('5')", false), ("Orders(5)/Customer", false),
        ("Orders(~5)", false), ("http://h/Orders(5)", false), ("Orders(5", false), ("(5)", false),
        ("Orders(5)?a", false),
        ("", false), ("Orders(1234567890123456789)", false),
    ])
    func `only a set with a number is a short link`(_ link: String, _ isPlain: Bool) {
        #expect((PlainLink(link) != nil) == isPlain)
    }
}
