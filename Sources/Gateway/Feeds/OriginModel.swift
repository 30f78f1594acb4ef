internal import GatewayCore
internal import ODataWire
internal import Transport

/// The metadata of one service, read with the credentials of the gateway at most once an hour.
actor OriginModel {
    private static let lifetime: Duration = .seconds(3_600)

    private let origin: OriginClient
    private let root: ServiceRoot
    private let credentials: String?
    private let maximumBytes: Int
    private let executor: (any TaskExecutor)?
    private var known: (model: FeedModel, read: ContinuousClock.Instant)?
    private var running: Task<Result<FeedModel, FeedError>, Never>?

    init(
        _ origin: OriginClient, _ root: ServiceRoot, credentials: String?, maximumBytes: Int,
        executor: (any TaskExecutor)?
    ) {
        self.origin = origin
        self.root = root
        self.credentials = credentials
        self.maximumBytes = maximumBytes
        self.executor = executor
    }

    func model() async throws(FeedError) -> FeedModel {
        if let known, known.read.duration(to: .now) < Self.lifetime { return known.model }
        let task = running ?? Task(executorPreference: executor) { await self.read() }
        running = task
        let result = await task.value
        running = nil
        let model = try result.get()
        known = (model, .now)
        return model
    }

    private func read() async -> Result<FeedModel, FeedError> {
        var headers: HTTPHeaders = ["Accept": "application/xml"]
        if let credentials { headers["Authorization"] = credentials }
        do throws(TransportError) {
            let (head, body) = try await origin.stream("GET", root.path + "$metadata", headers, .bytes([]))
            var bytes: [UInt8] = []
            for try await chunk in body {
                bytes += chunk
                if bytes.count > maximumBytes { break }
            }
            guard head.status == 200 else {
                return .failure(FeedError("The metadata cannot be read: status \(head.status).", cause: .origin))
            }
            guard bytes.count <= maximumBytes else {
                return .failure(FeedError("The metadata have more than \(maximumBytes) bytes."))
            }
            guard let model = FeedModel(metadata: bytes) else {
                return .failure(FeedError("The metadata cannot be read."))
            }
            return .success(model)
        } catch {
            return .failure(FeedError("The metadata cannot be read: \(error.message)", cause: .origin))
        }
    }
}
