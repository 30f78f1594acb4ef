internal import EDM
internal import HTTPTypes
internal import OfflineStore
internal import OperationLog
internal import Operations
internal import SyncEngine
internal import Synchronization
internal import Transport

/// The upload of a queue by the real engine to the sandbox on loopback. The baseline is the same batches, byte for
/// byte, sent by the transport alone to a sandbox with the same data. The difference is the cost of the engine.
enum EndToEnd {
    static func cases(operations: Int, in directory: Directory) async throws -> [Case] {
        let recorder = RecordingTransport(defaultTransport())
        let sandbox = try SandboxProcess()
        let store = try await LocalStore(StoreFiles(directory: directory.fresh("store")))
        let engine = SyncEngine(
            store: store, session: ServiceSession(root: sandbox.root, transport: recorder))
        try await engine.prepare()
        let making = try await Stopwatch.seconds {
            for start in stride(from: 0, to: operations, by: 10) {
                _ = try await store.perform(
                    Array(round(start / 10).prefix(operations - start)).map { ($0, IntentOptions()) },
                    asChangeSet: false)
            }
        }
        recorder.begin()
        let idle = try await QueryLatency.idle(store, count: 200)
        var batches = 0
        let seconds = try await Stopwatch.seconds {
            let report = try await engine.upload()
            batches = report.batches
            guard report.remaining == 0, report.rejected.isEmpty else {
                throw Failure("\(report.remaining) operations were not uploaded: \(report.rejected.prefix(1)).")
            }
        }
        let baseline = try await repeated(recorder.requests, from: sandbox.root)
        guard recorder.requests.count >= batches else { throw Failure("Not every batch was recorded.") }
        let work = try await recorded(operations, in: directory)
        let limit = Case.Baseline(
            name: "the transport, the records and the rows alone",
            value: Double(operations) / (try await repeated(recorder.requests, from: sandbox.root, writing: work)))
        let title = "end to end: \(operations) operations to the sandbox on loopback"
        let transport = Case.Baseline(
            name: "the same batches with the transport alone", value: Double(operations) / baseline)
        let rate = Double(operations) / seconds
        return [
            Case(
                "create operations, ten per durable commit", Double(operations) / making, .operationsPerSecond),
            Case(title, rate, .operationsPerSecond, against: transport),
            Case(title, rate, .operationsPerSecond, against: limit),
            .limit(of: title, limit, .operationsPerSecond, against: transport),
        ] + (try await queries(whileUploading: operations, from: store, engine, idle))
    }

    /// Uploads the operations of a further store, to write the records and rows of an upload without the engine.
    private static func recorded(_ operations: Int, in directory: Directory) async throws -> StoredWork {
        let sandbox = try SandboxProcess()
        let files = StoreFiles(directory: try directory.fresh("recorded"))
        let session = ServiceSession(root: sandbox.root, transport: defaultTransport())
        var store = try await LocalStore(files)
        try await SyncEngine(store: store, session: session).prepare()
        for start in stride(from: 0, to: operations, by: 10) {
            _ = try await store.perform(
                Array(round(start / 10).prefix(operations - start)).map { ($0, IntentOptions()) }, asChangeSet: false)
        }
        await store.close()
        let start = try StoredWork.Start(files, in: directory)
        store = try await LocalStore(files)
        _ = try await SyncEngine(store: store, session: session).upload()
        await store.close()
        return try StoredWork(from: start, to: files, in: directory)
    }

    /// Makes the operations again, and queries the store while they are uploaded in batches of 500 requests.
    private static func queries(
        whileUploading operations: Int, from store: LocalStore, _ engine: SyncEngine, _ idle: QueryLatency.Times
    ) async throws -> [Case] {
        for start in stride(from: 0, to: operations, by: 10) {
            _ = try await store.perform(round(start / 10).map { ($0, IntentOptions()) }, asChangeSet: false)
        }
        let busy = try await QueryLatency.measured(store) {
            guard try await engine.upload().remaining == 0 else { throw Failure("Operations were not uploaded.") }
        }
        return [
            Case(
                "a query during an upload in batches of 500, median of \(busy.count)", busy.median, .milliseconds,
                against: .init(name: "the idle store", value: idle.median)),
            Case(
                "the longest of them", busy.longest, .milliseconds,
                against: .init(name: "the idle store", value: idle.longest)),
        ]
    }

    /// Sends the requests to another sandbox, and writes a part of the work after each. Returns the time in seconds.
    private static func repeated(
        _ requests: [RecordingTransport.Sent], from root: String, writing work: StoredWork? = nil
    ) async throws -> Double {
        let sandbox = try SandboxProcess()
        let transport = defaultTransport()
        // The engine, too, has a connection before its first batch.
        _ = try await send(
            RecordingTransport.Sent(method: .get, url: root, headers: [:], body: []), from: root, to: sandbox.root,
            transport)
        try work?.prepare(.everyCommit)
        return try await Stopwatch.seconds {
            for (index, request) in requests.enumerated() {
                let (status, body) = try await send(request, from: root, to: sandbox.root, transport)
                guard status.kind == .successful else {
                    throw Failure(
                        "The service responded with \(status): \(String(decoding: body.prefix(200), as: UTF8.self))")
                }
                try work?.write(.each, part: index, of: requests.count)
            }
        }
    }

    private static func send(
        _ sent: RecordingTransport.Sent, from: String, to root: String, _ transport: any HTTPTransport
    ) async throws -> (HTTPResponse.Status, [UInt8]) {
        guard let request = HTTPRequest(method: sent.method, url: root + sent.url.dropFirst(from.count)) else {
            throw Failure("\(sent.url) is not a URL.")
        }
        var whole = request
        whole.headerFields = sent.headers
        let (response, body) = try await transport.send(whole, body: sent.body)
        return (response.status, body)
    }

    /// Returns a customer with orders, one of which is changed at once, an order of an existing customer, and suppliers
    /// with their products.
    private static func round(_ number: Int) -> [Intent] {
        func create(_ draft: Int, _ set: String, _ values: PropertyValues, _ customer: EntityAddress? = nil) -> Intent {
            let bindings = customer.map { [BindingDraft(navigation: "Customer", targets: [$0])] } ?? []
            return .create(
                EntityDraft(
                    number: draft, set: set, type: "Shop.\(set.dropLast())", values: values, bindings: bindings),
                in: nil)
        }
        let order: PropertyValues = [
            "Note": .string("deliver before noon"), "Amount": .decimal(DecimalValue(Int64(number))),
        ]
        return [
            create(1, "Customers", ["Name": .string("New \(number)")]),
            create(2, "Orders", order, .draft(1)),
            create(3, "Orders", order, .draft(1)),
            create(4, "Orders", order),
            .update(.draft(2), changes: ["Note": .string("call first")], bindings: [], inline: []),
            create(5, "Suppliers", ["Name": .string("Supplier \(number)")]),
            create(6, "Products", ["Name": .string("Product \(number)")]),
            .createLink(from: .draft(5), navigation: "Products", to: .draft(6)),
            create(7, "Products", ["Name": .string("Another \(number)")]),
            .createLink(from: .draft(5), navigation: "Products", to: .draft(7)),
        ]
    }
}

/// A transport that records the batches, to send them again.
private final class RecordingTransport: HTTPTransport {
    struct Sent: Sendable {
        let method: HTTPRequest.Method
        let url: String
        let headers: HTTPFields
        let body: [UInt8]
    }

    private let transport: any HTTPTransport
    /// The recorded requests, or nil while nothing is recorded.
    private let sent = Mutex<[Sent]?>(nil)

    init(_ transport: any HTTPTransport) { self.transport = transport }

    func begin() { sent.withLock { $0 = [] } }

    var requests: [Sent] { sent.withLock { $0 ?? [] } }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        sent.withLock {
            $0?.append(Sent(method: request.method, url: url, headers: request.headerFields, body: body))
        }
        return try await transport.send(request, body: body)
    }
}
