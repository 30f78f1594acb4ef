import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Deletions in doubt that took effect, with earlier operations on the same entities in the same batch.
@Suite struct DeletionLookupTests {
    static let faults: [Fault.Effect] = [.dropAnswer, .dropRequest]

    private static func link(_ source: String, _ navigation: String, _ target: String) -> Intent {
        .createLink(from: .link(source), navigation: navigation, to: .link(target))
    }

    private func expectCompletion(_ shop: Shop, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let report = try await shop.push()
        let left = try await shop.store.queue.pendingOperations().map { "\($0.sequence) \($0.status)" }
        #expect(report.remaining == 0, "\(report) \(left)", sourceLocation: sourceLocation)
        #expect(report.rejected.isEmpty, "\(report.rejected)", sourceLocation: sourceLocation)
        #expect(report.conflicts.isEmpty, sourceLocation: sourceLocation)
        #expect(
            try await Set(shop.localState()) == Set(shop.serviceState()), "the store differs from the service",
            sourceLocation: sourceLocation)
    }

    /// Performs operations in change sets of their own, and loses the request or the response of their upload.
    private func shop(
        _ dialect: Dialect, after intents: [Intent], _ fault: Fault.Effect, supportsBatch: Bool = true
    ) async throws -> Shop {
        let shop = try await Shop(dialect)
        await shop.store.use(ServiceOptions(supportsBatch: supportsBatch))
        _ = try await shop.store.perform(intents.map { ($0, IntentOptions()) }, asChangeSet: false)
        // The download has read everything, so the next requests are those of the upload.
        shop.transport.add(Fault(fault))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        return shop
    }

    @Test(arguments: Dialect.allCases, faults)
    func `an update and the deletion of its entity are completed after a lost request or response`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        for supportsBatch in [true, false] {
            let shop = try await shop(
                dialect,
                after: [update("Products(1)", ["Name": .string("last words")]), .delete(.link("Products(1)"))], fault,
                supportsBatch: supportsBatch)
            try await expectCompletion(shop)
            #expect(shop.transport.direct("GET", "/v4/Products(1)").status == 404)
        }
    }

    @Test(arguments: Dialect.allCases, faults)
    func `an update of an entity with an ETag and its deletion are completed after a lost request or response`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let shop = try await shop(
            dialect, after: [update("Orders(1)", ["Note": .string("last words")]), .delete(.link("Orders(1)"))], fault)
        try await expectCompletion(shop)
    }

    @Test(arguments: Dialect.allCases, faults)
    func `links of an entity and its deletion are completed after a lost request or response`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let added = Self.link("Suppliers(2)", "Products", "Products(3)")
        let removed = Intent.deleteLink(
            from: .link("Suppliers(1)"), navigation: "Products", to: .link("Products(1)"))
        for (intent, product) in [(added, "Products(3)"), (removed, "Products(1)")] {
            let shop = try await shop(dialect, after: [intent, .delete(.link(product))], fault)
            try await expectCompletion(shop)
        }
    }

    @Test(arguments: Dialect.allCases, faults)
    func `a link to an entity that is deleted afterwards is completed with the values of its update`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let shop = try await shop(
            dialect,
            after: [
                update("IDCards(2)", ["Number": .string("new")], bind: [bind("Person", "Persons(2)")]),
                .delete(.link("Persons(2)")),
            ], fault)
        try await expectCompletion(shop)
        #expect(try await shop.value("IDCards(2)", "Number") == .string("new"))
    }

    @Test(arguments: Dialect.allCases, faults)
    func `a change set with another entity is completed without the entity that is deleted afterwards`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let shop = try await Shop(dialect)
        let created = try await shop.draft(0, "Prices", ["Currency": .string("XXX"), "Day": .integer(1)])
        try await shop.perform(
            update("Products(1)", ["Name": .string("last words")]), .create(created, in: nil), asChangeSet: true)
        try await shop.perform(.delete(.link("Products(1)")))
        shop.transport.add(Fault(fault))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await expectCompletion(shop)
        #expect(try await shop.serviceState(["Prices"]).filter { $0.contains("XXX") }.count == 1)
    }

    @Test(arguments: Dialect.allCases, faults)
    func `an entity that replaces a deleted one under the same key is not deleted`(
        _ dialect: Dialect, _ fault: Fault.Effect
    ) async throws {
        let shop = try await Shop(dialect)
        let price = try #require(try await shop.store.query("Prices").entities.first)
        var values = price.values
        values["Amount"] = .decimal(try #require(DecimalValue("77.5")))
        try await shop.perform(.delete(.link(price.readLink)))
        try await shop.create("Prices", values)
        shop.transport.add(Fault(fault))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await expectCompletion(shop)
        #expect(try await shop.serviceState(["Prices"]).contains { $0.contains("77.5") })
    }

    @Test func `a deletion stays in doubt with the creation of another entity under its key until the user decides`()
        async throws
    {
        let shop = try await Shop(.v4)
        let price = try #require(try await shop.store.query("Prices").entities.first)
        var values = price.values
        values["Amount"] = .decimal(try #require(DecimalValue("77.5")))
        try await shop.perform(.delete(.link(price.readLink)))
        try await shop.create("Prices", values)
        shop.transport.add(Fault(.dropAnswer))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        // Another client changes the new entity, so that the store cannot recognize it.
        let changed = shop.transport.direct("PATCH", "/v4/\(price.readLink)", #"{"Amount":88}"#)
        #expect(changed.isSuccess)
        #expect(try await shop.push().remaining == 2)
        #expect(try await shop.serviceState(["Prices"]).contains { $0.contains("88") })
        let creation = try #require(try await shop.store.queue.pendingOperations(.inDoubt).last)
        #expect(try await shop.store.doubts.resolveInDoubt(creation.sequence, as: .tookEffect).count == 2)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.serviceState(["Prices"]).contains { $0.contains("88") })
        try await shop.pull()
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        #expect(try await shop.load(price.readLink).values["Amount"] != nil)
    }

    @Test func `a deletion in doubt after an update that was rejected meanwhile is completed`() async throws {
        let shop = try await shop(
            .v4, after: [update("Products(1)", ["Name": .string("last words")]), .delete(.link("Products(1)"))],
            .dropAnswer)
        // As earlier versions did: the update is sent again, rejected, and its entity is read.
        let update = try #require(try await shop.store.queue.pendingOperations(.inDoubt).first)
        let refusal = Refusal(status: 404, code: "", message: "Not found", method: "PATCH", url: "Products(1)")
        try await shop.store.record([
            .batchAnswered(
                BatchAnswered(
                    batch: update.status.batch ?? 0,
                    outcomes: [.init(operation: update.sequence, result: .rejected(refusal))]))
        ])
        try await shop.store.record([.entitiesMissing([update.operation.subject])])
        #expect(try await shop.store.queue.pendingOperations(.rejected).count == 1)
        try await expectCompletion(shop)
    }

    @Test func `a deletion in doubt whose entity cannot be read is sent again, and others are not affected`()
        async throws
    {
        let shop = try await shop(
            .v4, after: [update("Products(1)", ["Name": .string("last words")]), .delete(.link("Products(1)"))],
            .dropAnswer)
        shop.transport.add(Fault(.refuse(status: 403, body: Array("{\"error\":{}}".utf8)), method: "GET"))
        try await shop.create("Suppliers", ["Name": .string("other")])
        let report = try await shop.push()
        #expect(report.confirmed.count >= 1)
        try await expectCompletion(shop)
    }

    @Test func `a deletion in doubt whose entity still exists is not confirmed by an earlier operation`() async throws {
        let shop = try await shop(
            .v4, after: [update("Products(1)", ["Name": .string("last words")]), .delete(.link("Products(1)"))],
            .dropRequest)
        #expect(shop.transport.direct("GET", "/v4/Products(1)").status == 200)
        try await expectCompletion(shop)
        #expect(shop.transport.direct("GET", "/v4/Products(1)").status == 404)
    }

    /// In V2 the deletion is not in the same batch.
    @Test(arguments: faults)
    func `a deletion in doubt that has to wait for another operation in doubt is determined by reading`(
        _ fault: Fault.Effect
    ) async throws {
        let shop = try await Shop(.v4)
        await shop.store.use(ServiceOptions(doubts: .ask))
        let supplier = try await shop.draft(0, "Suppliers", ["Name": .string("new")])
        try await shop.perform(
            update("Customers(1)", ["Name": .string("changed")]), .create(supplier, in: nil), asChangeSet: true)
        try await shop.perform(.delete(.link("Orders(1)")))
        shop.transport.add(Fault(fault))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        // The creation and the update of its change set stay in doubt, and the order belongs to the updated customer.
        let isDeleted = shop.transport.direct("GET", "/v4/Orders(1)").status == 404
        #expect(isDeleted == (fault == .dropAnswer))
        #expect(try await shop.push().remaining == (isDeleted ? 2 : 3))
        let deletions = try await shop.store.queue.pendingOperations(.inDoubt).filter {
            if case .delete = $0.operation.action { true } else { false }
        }
        #expect(deletions.count == (isDeleted ? 0 : 1))
    }

    @Test func `the views after the confirmation are the fold of the log`() async throws {
        let shop = try await shop(
            .v4, after: [update("Products(1)", ["Name": .string("last words")]), .delete(.link("Products(1)"))],
            .dropAnswer)
        try await expectCompletion(shop)
        let digest = try await shop.store.digest()
        await shop.store.close()
        shop.store.files.removeViews()
        let again = try await LocalStore(shop.store.files)
        #expect(try await again.digest() == digest)
    }
}
