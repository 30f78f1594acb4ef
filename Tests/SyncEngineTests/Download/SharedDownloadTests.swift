import EDM
import Operations
import SyncCore
import SyncEngine
import TestSupport
import Testing
@testable import OfflineStore

/// Shared data, which are not requested by every download.
struct SharedDownloadTests {
    private func shop(_ time: VirtualTime) async throws -> Shop {
        var options = LocalStoreOptions(environment: time.environment)
        options.querySettings["Customers"] = DefiningQuerySettings(isSharedData: true, refreshInterval: 15)
        return try await Shop(
            .v4, options: options,
            queries: [
                DefiningQuery(name: "Customers", query: "Customers"), DefiningQuery(name: "Orders", query: "Orders"),
            ])
    }

    @Test func `shared data are not downloaded before their refresh interval has passed, and the report states it`()
        async throws
    {
        let time = VirtualTime()
        let shop = try await shop(time)
        shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"other"}"#)
        time.pass(15 * 60 - 1)
        let second = try await shop.engine.download()
        #expect(second.fresh == ["Customers"])
        #expect(second.queries.map(\.name) == ["Orders"])
        #expect(try await shop.value("Customers(1)", "Name") != .string("other"))
        time.pass(1)
        let third = try await shop.engine.download()
        #expect(third.fresh.isEmpty)
        #expect(try await shop.value("Customers(1)", "Name") == .string("other"))
    }

    @Test func `shared data are downloaded when the query is requested by name`() async throws {
        let shop = try await shop(VirtualTime())
        let report = try await shop.engine.download(["Customers"])
        #expect(report.queries.map(\.name) == ["Customers"])
        #expect(report.fresh.isEmpty)
    }

    @Test func `shared data of a replaced query are downloaded`() async throws {
        let shop = try await shop(VirtualTime())
        try await shop.store.definingQueries.add(
            DefiningQuery(name: "Customers", query: "Customers?$filter=CustomerID eq 1"))
        #expect(try await shop.engine.download().queries.map(\.name) == ["Customers", "Orders"])
    }
}
