import EDM
import ODataSandbox
import ODataWire
import OfflineStore
import Operations
import SyncCore
import TestSupport
import Testing

@testable import SyncEngine

/// The reads of an upload for keys that no response contained.
struct MissingKeyReadTests {
    @Test func `a key that the read for one new entity reveals is not read again for another`() async throws {
        let shop = try await Shop(.v4)
        let products = try await [shop.load("Products(1)"), shop.load("Products(2)")].compactMap(\.entityID)
        #expect(products.count == 2)
        let bindings = [BindingDraft(navigation: "Products", targets: [.link("Products(1)"), .link("Products(2)")])]
        let supplier = try await shop.create("Suppliers", ["Name": .string("Quick blue fox")], bind: bindings)
        for distortion in [Fault.PayloadCorruption.withoutLocation, .withoutBody] {
            shop.transport.add(Fault(.distort(distortion), urlPart: "$batch"))
        }
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.load(supplier).readLink == supplier)
        let missing = try await shop.store.references.navigationsToKeylessEntities(of: products)
        #expect(missing == [products[0]: ["Suppliers"], products[1]: ["Suppliers"]])
        // A batch that creates both products as deep inserts, after its outcomes were recorded.
        let requests = products.enumerated().map { place, id in
            UploadedRequest(
                contentID: "\(place + 1)", operation: SequenceNumber(place + 1), effect: .create,
                creates: NewEntity(id, below: []))
        }
        let batch = UploadedBatch(number: 1, changeSets: requests.map { UploadedChangeSet(requests: [$0]) })
        let outcomes = requests.map {
            BatchAnswered.Outcome(operation: $0.operation, result: .confirmed(images: []))
        }
        shop.transport.forgetRequests()
        try await UploadReading(store: shop.store, session: shop.engine.session).readMissingValues(batch, outcomes)
        let reads = shop.transport.requests.filter { $0.method == "GET" }.map(\.url)
        #expect(reads.count == 1 && reads.first?.contains("Products(1)") == true, "\(reads)")
        #expect(try await shop.load(supplier).readLink == "Suppliers(3)")
    }
}
