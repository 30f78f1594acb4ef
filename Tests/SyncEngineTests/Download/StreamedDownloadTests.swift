import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing
import Transport

@testable import OfflineStore
@testable import SyncEngine

/// Downloads whose pages arrive in chunks.
struct StreamedDownloadTests {
    /// The sandbox, with responses in chunks of the given size.
    private struct Chunked: HTTPTransport {
        let service: SandboxTransport
        let size: Int

        func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            try await service.send(request, body: body)
        }

        func stream(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
            let (response, body) = try await service.send(request, body: body)
            let rest = Mutex(body[...])
            let size = size
            return (
                response,
                ResponseBody {
                    .success(
                        rest.withLock {
                            let chunk = Array($0.prefix(size))
                            $0 = $0.dropFirst(size)
                            return chunk.isEmpty ? nil : chunk
                        })
                }
            )
        }
    }

    /// A page of customers that is generated while it is read, 100 customers for each chunk.
    private final class LongPage: HTTPTransport {
        struct State {
            var requests = 0
            var chunks = 0
        }

        static let chunkSize = 100
        let rows: Int
        let state = Mutex(State())
        /// Called before each chunk of each response, with the numbers of both, counted from 1. A returned error
        /// replaces the chunk.
        private let hook: @Sendable (_ request: Int, _ chunk: Int) async -> TransportError?

        init(rows: Int, hook: @escaping @Sendable (_ request: Int, _ chunk: Int) async -> TransportError?) {
            self.rows = rows
            self.hook = hook
        }

        func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            throw TransportError(.other, "It should be streamed.", mayHaveBeenSent: false)
        }

        func stream(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
            let number = state.withLock { state in
                state.requests += 1
                state.chunks = 0
                return state.requests
            }
            return (HTTPResponse(status: .ok), ResponseBody { [self] in await next(number) })
        }

        static func item(_ number: Int) -> String {
            #"{"CustomerID":\#(number + 10),"Name":"N\#(number)","Tags":[]}"#
        }

        private func next(_ request: Int) async -> Result<[UInt8]?, TransportError> {
            let chunk = state.withLock { state in
                state.chunks += 1
                return state.chunks
            }
            if let error = await hook(request, chunk) { return .failure(error) }
            let first = (chunk - 1) * Self.chunkSize
            guard first < rows else { return .success(first == rows ? Array("]}".utf8) : nil) }
            let items = (first..<first + Self.chunkSize).map(Self.item)
            let start = first == 0 ? #"{"@odata.context":"$metadata#Customers","value":["# : ","
            return .success(Array((start + items.joined(separator: ",")).utf8))
        }
    }

    /// Returns a store with a query for customers that was not downloaded yet.
    private func store(
        _ time: VirtualTime, _ settings: DefiningQuerySettings = DefiningQuerySettings()
    ) async throws -> Shop {
        var options = LocalStoreOptions(environment: time.environment)
        options.querySettings = ["Customers": settings]
        let shop = try await Shop(.v4, options: options, queries: [])
        try await shop.store.definingQueries.add(DefiningQuery(name: "Customers", query: "Customers"))
        return shop
    }

    private func engine(_ shop: Shop, _ transport: any HTTPTransport) -> SyncEngine {
        SyncEngine(
            store: shop.store,
            session: ServiceSession(root: "http://shop.test/\(shop.dialect.rawValue)/", transport: transport))
    }

    private func count(_ shop: Shop) async throws -> Int { try await shop.store.query("Customers").entities.count }

    private let broken = TransportError(.truncated, "The response ended early.", mayHaveBeenSent: true)
    private let patient = DownloadOptions(retry: RetryPolicy(patience: .seconds(1_000), waitsForConnection: true))

    @Test(arguments: Dialect.allCases, [1, 61, 4_096])
    func `a download returns the same entities for any size of chunks`(
        _ dialect: Dialect, _ size: Int
    ) async throws {
        let shop = try await Shop(dialect, pageSize: 2)
        shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"Augusta Ada"}"#)
        shop.transport.direct("DELETE", "/v4/Orders(4)", headers: ["If-Match": "*"])
        _ = try await engine(shop, Chunked(service: shop.transport, size: size)).download()
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test(arguments: [4 << 20, 1, 10_000])
    func `no entity of a long page is logged before the page is complete`(
        _ memory: Int
    ) async throws {
        var options = LocalStoreOptions(environment: VirtualTime().environment)
        options.downloadLimits.memory = memory
        let shop = try await Shop(.v4, options: options, queries: [])
        try await shop.store.definingQueries.add(DefiningQuery(name: "Customers", query: "Customers"))
        let logged = Mutex(0)
        let loggedBeforeTheEnd = Mutex(-1)
        let transport = LongPage(rows: 5_000) { _, chunk in
            if chunk == 51 { loggedBeforeTheEnd.withLock { $0 = logged.withLock { $0 } } }
            return nil
        }
        let engine = engine(shop, transport)
        let progress = Mutex(SyncProgress())
        let bytes = Mutex<[Int]>([])
        let observer = engine.session.activity.add { event in
            if case .recorded(_, let record) = event, case .downloadPage(let page) = record.body {
                logged.withLock { $0 += page.entities.count }
            }
            let received = progress.withLock { progress in
                progress.apply(event)
                return progress.bytesReceived
            }
            bytes.withLock { $0.append(received) }
        }
        defer { engine.session.activity.remove(observer) }
        let report = try await engine.download()
        #expect(report.entities == 5_000)
        #expect(try await count(shop) == 5_000)
        #expect(loggedBeforeTheEnd.withLock { $0 } == 0)
        #expect(try await shop.value("Customers(3010)", "Name") == .string("N3000"))
        // Received bytes are reported as they arrive, each byte once.
        let reported = bytes.withLock { $0 }
        #expect(Set(reported).count > 50)
        #expect(reported == reported.sorted())
        let all = (0..<5_000).reduce(0) { $0 + LongPage.item($1).utf8.count + 1 }
        #expect(reported.last == all + #"{"@odata.context":"$metadata#Customers","value":["#.utf8.count + 1)
    }

    @Test func `a download ends when the store refuses a part of a page, and stores no later part`()
        async throws
    {
        let shop = try await store(VirtualTime())
        let store = shop.store
        let transport = LongPage(rows: 5_000) { _, chunk in
            // The query is removed while the second part is read.
            if chunk == 16 { try? await store.definingQueries.remove("Customers") }
            return nil
        }
        let error = await #expect(throws: TidelogError.self) { try await engine(shop, transport).download() }
        #expect(error?.code == .invalidRequest)
        #expect(try await count(shop) == 0)
    }

    @Test(arguments: [DefiningQuerySettings.DeltaTracking.auto, .never])
    func `an interrupted page is requested again, and its first records do no harm`(
        _ trackDeltas: DefiningQuerySettings.DeltaTracking
    ) async throws {
        let time = VirtualTime()
        let shop = try await store(time, DefiningQuerySettings(trackDeltas: trackDeltas))
        let broken = broken
        let transport = LongPage(rows: 3_000) { request, chunk in request < 3 && chunk == 26 ? broken : nil }
        let report = try await engine(shop, transport).download(nil, patient)
        #expect(transport.state.withLock { $0.requests } == 3)
        #expect(time.slept.count == 2)
        #expect(report.pages == 1)
        #expect(try await count(shop) == 3_000)
        #expect(try await shop.value("Customers(2509)", "Name") == .string("N2499"))
    }

    @Test func `without patience, an interrupted page ends the download, and nothing of it is stored`() async throws {
        let shop = try await store(VirtualTime())
        let broken = broken
        let transport = LongPage(rows: 3_000) { request, chunk in request == 1 && chunk == 26 ? broken : nil }
        let engine = engine(shop, transport)
        let error = await #expect(throws: TidelogError.self) { try await engine.download() }
        #expect(error?.code == .unreachable)
        #expect(try await count(shop) == 0)
        // The download cannot be resumed: the page was incomplete.
        #expect(try await shop.store.downloads.queryStates().first?.next == nil)
        let report = try await engine.download()
        #expect(report.queries.first?.mode == .full)
        #expect(report.queries.first?.tally.unchanged == 0)
        #expect(try await count(shop) == 3_000)
    }

    @Test func `a download that is cancelled within a page can be repeated`()
        async throws
    {
        let shop = try await store(VirtualTime())
        let download = Mutex<Task<DownloadReport, any Error>?>(nil)
        let transport = LongPage(rows: 3_000) { request, chunk in
            if request == 1, chunk == 26 { download.withLock { $0?.cancel() } }
            return nil
        }
        let engine = engine(shop, transport)
        let task = Task {
            // Waits until the task can be cancelled.
            while download.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(1)) }
            return try await engine.download()
        }
        download.withLock { $0 = task }
        let error = await #expect(throws: TidelogError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await count(shop) == 0)
        #expect(try await shop.store.downloads.queryStates().first?.next == nil)
        _ = try await engine.download()
        #expect(try await count(shop) == 3_000)
    }
}
