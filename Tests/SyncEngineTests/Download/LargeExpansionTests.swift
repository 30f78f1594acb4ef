import EDM
import HTTPTypes
import ODataSandbox
import Operations
import SyncCore
@testable import SyncEngine
import Synchronization
import TestSupport
import Testing
@testable import OfflineStore

/// An entity that expands to more entities than a record may name.
struct LargeExpansionTests {
    private static let query = DefiningQuery(name: "Customers", query: "Customers?$expand=Orders")
    private static let count = 70
    /// Maximum number of entities that a record names.
    private static let limit = 30

    /// Sets the response to the next download.
    private func customers(_ shop: Shop, _ value: String) {
        let body = ##"{"@odata.context":"http://shop.test/v4/$metadata#Customers(Orders())","value":[\##(value)]}"##
        shop.transport.add(
            Fault(.replace(contentType: "application/json", body: Array(body.utf8)), urlPart: "Customers?"))
    }

    @Test func `a removal covers any number of unchanged expanded entities, in records that can be read`()
        async throws
    {
        var options = LocalStoreOptions()
        options.downloadLimits.named = Self.limit
        let shop = try await Shop(.v4, options: options, queries: [])
        try await shop.store.definingQueries.add(Self.query)
        let orders = (1...Self.count).map { #"{"OrderID":\#($0),"CustomerID":1}"# }.joined(separator: ",")
        let customer = #"{"CustomerID":1,"Name":"Ada","Orders":[\#(orders)]}"#
        customers(shop, customer)
        #expect(try await shop.engine.download().queries[0].tally.inserted == Self.count + 1)
        customers(shop, customer)
        let named = Mutex<[Int]>([])
        let observer = shop.engine.session.activity.add { event in
            guard case .recorded(_, let record) = event, case .downloadPage(let page) = record.body else { return }
            named.withLock { $0.append(page.unchanged.count) }
        }
        #expect(try await shop.engine.download().queries[0].tally.unchanged == Self.count + 1)
        shop.engine.session.activity.remove(observer)
        #expect(named.withLock { $0 } == [30, 30, 11])
        customers(shop, "")
        #expect(try await shop.engine.download().queries[0].tally.removed == Self.count + 1)
        #expect(try await shop.store.query("Orders/$count").count == 0)
        let digest = try await shop.store.digest()
        await shop.store.close()
        for file in StoreFiles(directory: shop.directory.path).viewFiles { TemporaryDirectory.remove(file: file) }
        let again = try await LocalStore(StoreFiles(directory: shop.directory.path), creating: false)
        #expect(try await again.digest() == digest)
        await again.close()
    }
}
