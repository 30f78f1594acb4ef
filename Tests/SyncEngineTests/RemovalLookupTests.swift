import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// HX-05: change sets that remove links or entities, in doubt.
@Suite struct RemovalLookupTests {
    static let faults: [Fault.Effect] = [.dropAnswer, .dropRequest]

    private static func unlink(_ source: String, _ navigation: String, _ target: String) -> Intent {
        .deleteLink(from: .link(source), navigation: navigation, to: .link(target))
    }

    private static func link(_ source: String, _ navigation: String, _ target: String) -> Intent {
        .createLink(from: .link(source), navigation: navigation, to: .link(target))
    }

    private func shop(_ dialect: Dialect, after intents: [Intent], _ fault: Fault.Effect) async throws -> Shop {
        let shop = try await Shop(dialect)
        _ = try await shop.store.perform(intents.map { ($0, IntentOptions()) }, asChangeSet: true)
        shop.transport.add(Fault(fault, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        return shop
    }

    private func expectCompletion(_ shop: Shop, _ source: String, _ navigation: String, _ targets: [String])
        async throws
    {
        let report = try await shop.push()
        #expect(report.remaining == 0, "\(report)")
        #expect(try await shop.targets(source, navigation) == targets)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: Dialect.allCases, faults)
    func `HX-05 replaced links of a collection are completed after a lost request or response`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let shop = try await shop(
            dialect,
            after: [
                Self.unlink("Suppliers(1)", "Products", "Products(1)"),
                Self.link("Suppliers(1)", "Products", "Products(3)"),
            ], fault)
        try await expectCompletion(shop, "Suppliers(1)", "Products", ["Products(2)", "Products(3)"])
    }

    @Test(arguments: Dialect.allCases, faults)
    func `HX-05 a removed link to a single entity is completed together with the rest of its change set`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let shop = try await shop(
            dialect,
            after: [
                Self.unlink("IDCards(1)", "Person", "Persons(1)"), Self.link("Suppliers(1)", "Products", "Products(3)"),
            ], fault)
        try await expectCompletion(shop, "IDCards(1)", "Person", [])
    }

    @Test(arguments: Dialect.allCases)
    func `HX-05 a link that another client has removed does not keep the other links from being replaced`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await shop(
            dialect,
            after: [
                Self.unlink("Suppliers(1)", "Products", "Products(1)"),
                Self.link("Suppliers(1)", "Products", "Products(3)"),
            ], .dropRequest)
        #expect(shop.transport.direct("DELETE", "/v4/Suppliers(1)/Products(1)/$ref").isSuccess)
        try await expectCompletion(shop, "Suppliers(1)", "Products", ["Products(2)", "Products(3)"])
    }

    @Test(arguments: Dialect.allCases, faults)
    func `HX-05 a link that the same change set creates and removes does not remain`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let shop = try await shop(
            dialect,
            after: [
                Self.link("Suppliers(2)", "Products", "Products(3)"),
                Self.unlink("Suppliers(2)", "Products", "Products(3)"),
                Self.link("Suppliers(1)", "Products", "Products(3)"),
            ], fault)
        try await expectCompletion(shop, "Suppliers(2)", "Products", ["Products(1)"])
    }

    @Test(arguments: Dialect.allCases, faults)
    func `a link that an earlier operation in doubt creates does not remain`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(Self.link("Suppliers(2)", "Products", "Products(3)"))
        try await shop.perform(
            Self.unlink("Suppliers(2)", "Products", "Products(3)"),
            update("Products(1)", ["Name": .string("changed")]), asChangeSet: true)
        shop.transport.add(Fault(fault, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await expectCompletion(shop, "Suppliers(2)", "Products", ["Products(1)"])
    }

    @Test func `a removal in doubt is executed again after the link that it removes, whose repetition was lost`()
        async throws
    {
        let shop = try await Shop(.v4)
        shop.transport.change { $0.options.repeatability = Repeatability(.oasis) }
        await shop.store.use(ServiceOptions(repeatability: .oasis))
        try await shop.perform(Self.link("Suppliers(2)", "Products", "Products(3)"))
        try await shop.perform(Self.unlink("Suppliers(2)", "Products", "Products(3)"))
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        // The repetition reveals nothing, so the link is sent again with a new identifier.
        shop.transport.add(Fault(.truncate(after: 10), urlPart: "$batch"))
        shop.transport.add(Fault(.dropAnswer, skipping: 1, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await expectCompletion(shop, "Suppliers(2)", "Products", ["Products(1)"])
    }

    @Test(arguments: Dialect.allCases, faults)
    func `a change set that changes and deletes an entity is completed after a lost request or response`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let shop = try await shop(
            dialect,
            after: [
                update("Orders(1)", ["Note": .string("last words")]), .delete(.link("Orders(1)")),
                Self.link("Suppliers(1)", "Products", "Products(3)"),
            ], fault)
        try await expectCompletion(shop, "Customers(1)", "Orders", ["Orders(2)"])
    }
}
