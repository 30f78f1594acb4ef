import EDM
import ODataSandbox
import ODataWire
import Operations
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Change sets in doubt with several creates, of which one reveals the outcome of all.
struct ChangeSetEvidenceTests {
    @Test(arguments: Dialect.allCases)
    func `the other creates of a change set that a unique value has resolved are found by their content`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect, options: LocalStoreOptions(environment: VirtualTime().environment))
        await shop.store.use(ServiceOptions(correlationProperties: ["Suppliers": "Name"]))
        let supplier = try await shop.draft(0, "Suppliers", ["Name": .string("Quick blue fox")])
        let product = try await shop.draft(1, "Products", ["Name": .string("Slow green turtle")])
        // Is sent again, because only the new entities are proven.
        let link = Intent.createLink(from: .draft(1), navigation: "Suppliers", to: .draft(0))
        let intents = [Intent.create(supplier, in: nil), .create(product, in: nil), link]
        let results = try await shop.store.perform(intents.map { ($0, IntentOptions()) }, asChangeSet: true)
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await shop.push().remaining == 0)
        let created = try #require(results[1].entities[1]?.readLink)
        #expect(try await !shop.load(created).readLink.contains("~"))
        try await shop.pull()
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }
}
