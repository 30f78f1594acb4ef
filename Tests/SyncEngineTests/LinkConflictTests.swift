import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import SyncEngine
import TestSupport
import Testing
@testable import OfflineStore

/// Two clients that change the same link to different targets.
struct LinkConflictTests {
    /// Ways in which the app moves `Orders(1)` from `Customers(1)` to `Customers(2)`, or deletes the link.
    enum Technique: CaseIterable {
        case link, binding, bindingAndMore, unlink

        var intent: Intent {
            switch self {
            case .link: .updateLink(from: order, navigation: "Customer", to: .link("Customers(2)"))
            case .binding: update("Orders(1)", [:], bind: [bind("Customer", "Customers(2)")])
            case .bindingAndMore:
                update("Orders(1)", ["Note": .string("mine")], bind: [bind("Customer", "Customers(2)")])
            case .unlink: .deleteLink(from: order, navigation: "Customer", to: nil)
            }
        }

        private var order: EntityAddress { .link("Orders(1)") }

        var mine: [String] { self == .unlink ? [] : ["Customers(2)"] }
    }

    static let theirs = ["Customers(3)"]

    /// Returns a shop in which both clients have moved the order, after a download.
    private func shop(_ dialect: Dialect, _ technique: Technique) async throws -> Shop {
        let shop = try await Shop(dialect)
        try await shop.perform(technique.intent)
        moveElsewhere(shop)
        try await shop.pull()
        return shop
    }

    private func moveElsewhere(_ shop: Shop) {
        let moved = shop.transport.direct(
            "PATCH", "/v4/Orders(1)", #"{"CustomerID":3}"#, headers: ["If-Match": "*"])
        #expect(moved.isSuccess)
    }

    private func push(_ shop: Shop, _ handling: ConflictHandling = ConflictHandling()) async throws -> UploadReport {
        try await shop.engine.upload(UploadOptions(conflicts: handling))
    }

    /// Returns the order's customer at the service and in the store.
    private func owners(_ shop: Shop) async throws -> (service: [String], here: [String]) {
        let answer = shop.transport.direct("GET", "/v4/Orders(1)/Customer")
        let text = String(decoding: answer.body, as: UTF8.self)
        let key = text.split(separator: "\"CustomerID\":").last?.prefix(while: \.isNumber)
        let service = answer.status == 200 ? key.map { ["Customers(\($0))"] } ?? [] : []
        return (service, try await shop.targets("Orders(1)", "Customer"))
    }

    private func expect(
        _ expected: [String], _ shop: Shop, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let owners = try await owners(shop)
        #expect(owners.service == expected, sourceLocation: location)
        #expect(owners.here == expected, sourceLocation: location)
    }

    private func name(_ shop: Shop, _ id: EntityID?) async throws -> [String] {
        guard let id else { return [] }
        return [try await shop.load("Customers(\(id))").readLink]
    }

    @Test(arguments: Dialect.allCases, Technique.allCases)
    func `a link that both clients moved is a conflict with three targets`(_ dialect: Dialect, _ technique: Technique)
        async throws
    {
        let shop = try await shop(dialect, technique)
        let report = try await push(shop)
        #expect((report.batches, report.remaining) == (0, 1))
        let link = try #require(report.conflicts.first?.links.first { $0.navigation == "Customer" })
        #expect(link.isOverlapping)
        #expect(try await name(shop, link.base) == ["Customers(1)"])
        #expect(try await name(shop, link.mine) == technique.mine)
        #expect(try await name(shop, link.theirs) == Self.theirs)
        let owners = try await owners(shop)
        #expect(owners.service == Self.theirs)
        #expect(owners.here == technique.mine)
    }

    @Test(arguments: Dialect.allCases, Technique.allCases)
    func `each policy leads to its target in the store and at the service`(_ dialect: Dialect, _ technique: Technique)
        async throws
    {
        let outcomes: [(ConflictPolicy, [String])] = [
            (.clientWins, technique.mine), (.serverWins, Self.theirs),
            (.merge(overlapping: .clientWins), technique.mine), (.merge(overlapping: .serverWins), Self.theirs),
        ]
        for (policy, expected) in outcomes {
            let shop = try await shop(dialect, technique)
            #expect(try await push(shop, ConflictHandling(policy: policy)).remaining == 0, "\(policy)")
            try await expect(expected, shop)
            #expect(try await Set(shop.localState()) == Set(shop.serviceState()), "\(policy)")
        }
    }

    @Test(arguments: Dialect.allCases, Technique.allCases)
    func `the app's function decides for each link`(_ dialect: Dialect, _ technique: Technique) async throws {
        for side in [ConflictResolution.Side.mine, .theirs] {
            let shop = try await shop(dialect, technique)
            let handling = ConflictHandling(policy: .ask) { _ in
                ConflictResolution(.mine, links: ["Customer": side])
            }
            #expect(try await push(shop, handling).remaining == 0)
            try await expect(side == .mine ? technique.mine : Self.theirs, shop)
            if technique == .bindingAndMore {
                #expect(try await shop.value("Orders(1)", "Note") == .string("mine"))
                #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
            }
        }
    }

    @Test(arguments: Dialect.allCases, Technique.allCases)
    func `a link that was given up in a conflict can be redone on the new base state`(
        _ dialect: Dialect, _ technique: Technique
    )
        async throws
    {
        let shop = try await shop(dialect, technique)
        try await shop.store.conflicts.resolve(try #require(try await shop.store.conflicts.all().first), with: .theirs)
        #expect(try await push(shop).remaining == 0)
        try await expect(Self.theirs, shop)
        guard technique != .unlink else {
            // The link of the operation no longer exists.
            await #expect(throws: TidelogError.self) { try await shop.store.queue.redoLast() }
            return
        }
        #expect(try await shop.store.queue.redoLast().count == 1)
        #expect(try await push(shop).remaining == 0)
        try await expect(technique.mine, shop)
    }

    @Test(arguments: Dialect.allCases)
    func `deleting a link or moving it to the same target on both sides is no conflict`(_ dialect: Dialect) async throws
    {
        for (technique, body) in [(Technique.unlink, "null"), (.link, "2"), (.binding, "2")] {
            for pulls in [true, false] {
                let shop = try await Shop(dialect)
                try await shop.perform(technique.intent)
                let others = shop.transport.direct(
                    "PATCH", "/v4/Orders(1)", #"{"CustomerID":\#(body)}"#, headers: ["If-Match": "*"])
                #expect(others.isSuccess)
                if pulls { try await shop.pull() }
                let report = try await push(shop)
                #expect(report.conflicts.isEmpty)
                #expect(report.remaining == 0, "\(technique) \(pulls) \(report.rejected)")
                try await expect(technique.mine, shop)
            }
        }
    }

    @Test(arguments: Dialect.allCases)
    func `a link moved by another client and a property changed locally are both kept`(_ dialect: Dialect) async throws
    {
        let shop = try await Shop(dialect)
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        moveElsewhere(shop)
        #expect(try await push(shop).remaining == 0)
        try await expect(Self.theirs, shop)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    // MARK: Detected by the response

    @Test(arguments: Dialect.allCases)
    func `a binding rejected by its ETag becomes a conflict with three targets`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(Technique.bindingAndMore.intent)
        moveElsewhere(shop)
        let report = try await push(shop)
        #expect(report.rejected.isEmpty)
        let link = try #require(report.conflicts.first?.links.first)
        #expect(try await name(shop, link.theirs) == Self.theirs)
        try await shop.store.conflicts.resolve(try #require(report.conflicts.first), with: .mine)
        #expect(try await push(shop).remaining == 0)
        try await expect(["Customers(2)"], shop)
    }

    @Test(arguments: Dialect.allCases, [409, 412])
    func `a link rejected because of its state is read and becomes a conflict with three targets`(
        _ dialect: Dialect, _ status: Int
    ) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(Technique.link.intent)
        moveElsewhere(shop)
        shop.transport.add(Fault(.refuse(status: status), urlPart: "Customer", part: .any))
        let report = try await push(shop)
        #expect(report.rejected.isEmpty)
        let link = try #require(report.conflicts.first?.links.first)
        #expect(try await name(shop, link.theirs) == Self.theirs)
        try await shop.store.conflicts.resolve(try #require(report.conflicts.first), with: .mine)
        #expect(try await push(shop).remaining == 0)
        try await expect(["Customers(2)"], shop)
    }

    @Test(arguments: Dialect.allCases)
    func `the target of a link without a dependent property is read from the service`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        // Persons have no dependent property for their card.
        try await shop.perform(.updateLink(from: .link("Persons(2)"), navigation: "IDCard", to: .link("IDCards(2)")))
        let card = shop.transport.direct("POST", "/v4/IDCards", #"{"Number":"X-1003"}"#)
        let moved = shop.transport.direct("PATCH", "/v4/IDCards(3)", #"{"PersonID":2}"#, headers: ["If-Match": "*"])
        #expect(card.isSuccess && moved.isSuccess)
        shop.transport.add(Fault(.refuse(status: 409), urlPart: "IDCard", part: .any))
        let report = try await push(shop)
        let link = try #require(report.conflicts.first?.links.first)
        #expect(link.base == nil)
        #expect(link.theirs != nil)
        try await shop.store.conflicts.resolve(try #require(report.conflicts.first), with: .theirs)
        #expect(try await push(shop).remaining == 0)
        #expect(try await shop.targets("Persons(2)", "IDCard") == ["IDCards(3)"])
        try await shop.pull()
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    // MARK: Collections

    @Test(arguments: Dialect.allCases)
    func `adding or removing the same link of a collection on both sides is no conflict`(_ dialect: Dialect)
        async throws
    {
        for pulls in [true, false] {
            let shop = try await Shop(dialect)
            try await shop.perform(
                .createLink(from: .link("Suppliers(2)"), navigation: "Products", to: .link("Products(2)")),
                .deleteLink(from: .link("Suppliers(1)"), navigation: "Products", to: .link("Products(1)")))
            let added = shop.transport.direct(
                "POST", "/v4/Suppliers(2)/Products/$ref", #"{"@odata.id":"http://shop.test/v4/Products(2)"}"#)
            let removed = shop.transport.direct("DELETE", "/v4/Suppliers(1)/Products(1)/$ref")
            #expect(added.isSuccess && removed.isSuccess)
            if pulls { try await shop.pull() }
            let report = try await push(shop)
            #expect(report.conflicts.isEmpty)
            #expect(report.remaining == 0, "\(report.rejected)")
            #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        }
    }

    @Test(arguments: Dialect.allCases)
    func `different links added to a collection on both sides are all kept`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(
            .createLink(from: .link("Suppliers(2)"), navigation: "Products", to: .link("Products(2)")))
        let added = shop.transport.direct(
            "POST", "/v4/Suppliers(2)/Products/$ref", #"{"@odata.id":"http://shop.test/v4/Products(3)"}"#)
        #expect(added.isSuccess)
        try await shop.pull()
        #expect(try await push(shop, ConflictHandling(policy: .ask)).remaining == 0)
        #expect(
            try await Set(shop.targets("Suppliers(2)", "Products")) == [
                "Products(1)", "Products(2)", "Products(3)",
            ])
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }
}
