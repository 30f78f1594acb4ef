import EDM
import ODataWire
import OfflineStore
import Operations
import SyncEngine
import TestSupport
import Testing

@testable import LogInspection

/// Requests that were sent for an operation.
@Suite struct BuiltRequestTests {
    @Test(arguments: ["v2", "v4"])
    func `an operation has the requests of its batches`(dialect: String) async throws {
        let shop = try await ReplayedShop(dialect)
        try await shop.session()
        let store = shop.inspected
        let sent = shop.transport.requests.filter { $0.url.hasSuffix("$batch") }
            .map { String(decoding: $0.body, as: UTF8.self) }
        var methods: [String] = []
        let items = store.history.items()
        while let item = try items.next() {
            guard case .entry(let entry) = item, entry.operation != nil else { continue }
            let detail = await store.buildingRequests(of: try store.detail(of: entry.sequence))
            for exchange in detail.exchanges {
                let built = try #require(exchange.built)
                #expect(built.comparison == .identical)
                let request = try #require(built.requests.first)
                #expect(built.requests.count == 1)
                methods.append(request.method)
                let batch = sent[Int(exchange.batch) - 1]
                #expect(batch.contains("\(request.method) \(request.url) HTTP/1.1"))
                #expect(batch.contains(String(decoding: request.body, as: UTF8.self)))
                for header in request.headers { #expect(batch.contains("\(header.name): \(header.value)")) }
            }
        }
        let update = dialect == "v2" ? "MERGE" : "PATCH"
        #expect(methods == ["POST", update, update, update])
    }

    @Test func `coalesced operations have one request`() async throws {
        let shop = try await ReplayedShop()
        try await shop.update("Customers(1)", ["Name": .string("Ada")])
        try await shop.update("Customers(1)", ["Name": .string("Eve")])
        _ = try await shop.engine.upload(UploadOptions(coalesces: true))
        let store = shop.inspected
        var requests: [BuiltRequests?] = []
        let items = store.history.items()
        while let item = try items.next() {
            guard case .entry(let entry) = item, entry.operation != nil else { continue }
            let detail = await store.buildingRequests(of: try store.detail(of: entry.sequence))
            requests.append(detail.exchanges.first?.built)
        }
        try #require(requests.count == 2)
        #expect(requests[0] == requests[1] && requests[0]?.requests.count == 1)
    }

    @Test func `a request that cannot be built is reported with the reason, and the record is still shown`()
        async throws
    {
        let log = try SampleLog()
        try log.append(create(1, "Orders"), prepared(1, 1), answered(1, (1, .confirmed(images: []))))
        let store = InspectedStore(directory: log.directory.path)
        let detail = await store.buildingRequests(of: try store.detail(of: 1))
        let built = try #require(detail.exchanges.first?.built)
        guard case .unbuildable(let reason) = built.comparison else {
            Issue.record("\(built)")
            return
        }
        #expect(!reason.isEmpty && built.requests.isEmpty)
        #expect(detail.json.contains(#""built":{"comparison":"unbuildable","reason":""#))
    }
}
