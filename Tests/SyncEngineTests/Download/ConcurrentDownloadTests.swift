import EDM
import ODataSandbox
import ODataWire
import OfflineStore
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

/// DQ-28: independent defining queries that are requested at the same time, and groups that are sent as one batch.
@Suite struct ConcurrentDownloadTests {
    private func shop(_ dialect: Dialect, pageSize: Int? = nil) async throws -> Shop {
        let shop = try await Shop(dialect, pageSize: pageSize)
        for number in 1...5 {
            shop.transport.direct("POST", "/\(dialect)/Customers", #"{"Name":"new \#(number)"}"#)
        }
        shop.transport.forgetRequests()
        return shop
    }

    @Test(arguments: Dialect.allCases, [nil, 2])
    func `the store has the same content for each number of concurrent queries`(
        _ dialect: Dialect, _ pageSize: Int?
    ) async throws {
        let shop = try await shop(dialect, pageSize: pageSize)
        _ = try await shop.engine.download(nil, DownloadOptions(maximumConcurrentQueries: 4))
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        let urls = shop.transport.requests.filter { $0.method == "GET" }.map(\.url)
        #expect(Set(urls).count == urls.count, "\(urls)")
    }

    @Test func `the records are those of a download of one query after the other`() async throws {
        var logs: [[String]] = []
        for width in [1, 3, 100] {
            let shop = try await shop(.v4)
            let recorded = Recorded()
            _ = shop.engine.observe { if case .recorded(_, let record) = $0 { recorded.add(record.body) } }
            _ = try await shop.engine.download(nil, DownloadOptions(maximumConcurrentQueries: width))
            logs.append(recorded.texts)
        }
        #expect(!logs[0].isEmpty)
        #expect(logs[1] == logs[0] && logs[2] == logs[0])
    }

    @Test(arguments: Dialect.allCases)
    func `a group is requested in one batch`(_ dialect: Dialect) async throws {
        let shop = try await shop(dialect)
        let names = try await shop.store.definingQueries.all().map(\.name)
        _ = try await shop.engine.download(
            nil, DownloadOptions(groups: [Array(names.prefix(3)), Array(names.suffix(2))]))
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        let requests = shop.transport.requests
        // In V2 the service rejects the first one without a token.
        #expect(requests.filter { $0.url.hasSuffix("$batch") }.count == (dialect == .v4 ? 2 : 3))
        #expect(requests.filter { $0.method == "GET" && !$0.url.hasSuffix("/") }.count <= names.count - 5 + 1)
    }

    @Test func `a query whose early request fails is requested again in its turn`() async throws {
        let shop = try await shop(.v4)
        shop.transport.add(Fault(.dropAnswer, urlPart: "Orders"))
        let report = try await shop.engine.download(nil, DownloadOptions(maximumConcurrentQueries: 4))
        #expect(report.failures.isEmpty)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `without support of batches, the queries of a group are requested individually`() async throws {
        let shop = try await shop(.v4)
        await shop.store.use(ServiceOptions(supportsBatch: false))
        let names = try await shop.store.definingQueries.all().map(\.name)
        _ = try await shop.engine.download(nil, DownloadOptions(groups: [names]))
        #expect(!shop.transport.requests.contains { $0.url.hasSuffix("$batch") })
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }
}

/// The records of a download, as text.
private final class Recorded: Sendable {
    private let bodies = Mutex<[String]>([])

    func add(_ body: Record.Body) { bodies.withLock { $0.append("\(body)") } }
    var texts: [String] { bodies.withLock { $0 } }
}
