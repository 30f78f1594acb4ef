internal import Crypto
package import GatewayCore
package import Logging
internal import ODataWire
internal import Synchronization
internal import Transport

/// Answers requests: passes them through to the origin, or lets the ledger decide.
package final class GatewayService: Sendable {
    let configuration: GatewayConfiguration
    let storage: any LedgerStorage
    let environment: GatewayEnvironment
    let logger: Logger
    private let origins: [String: OriginClient]
    /// Nil if no feed is configured.
    let feeds: SharedFeeds?
    private let secret: [UInt8]
    private let admission: Mutex<Admission>
    let metrics: MetricsBox
    private let stopping = Atomic(false)

    /// - Parameters:
    ///   - feedStorage: The storage of shared feeds. Without it, all queries pass through.
    ///   - secret: The key of the digests of credentials.
    ///   - credentials: The values of `Authorization` with which feeds are read, by the name of the endpoint.
    ///   - transports: The transports to the services, by the name of the endpoint. By default libcurl.
    package init(
        _ configuration: GatewayConfiguration, storage: any LedgerStorage, feedStorage: (any FeedStorage)? = nil,
        secret: [UInt8], credentials: [String: String] = [:], transports: [String: any OriginTransport] = [:],
        environment: GatewayEnvironment = GatewayEnvironment()
    ) {
        self.configuration = configuration
        self.storage = storage
        self.secret = secret
        self.environment = environment
        logger = environment.logger
        admission = Mutex(Admission(configuration.limits))
        let origins = Dictionary(
            uniqueKeysWithValues: configuration.endpoints.map { endpoint in
                let client = transports[endpoint.name].map { OriginClient(endpoint, $0) }
                return (endpoint.name, client ?? OriginClient(endpoint, configuration.limits))
            })
        self.origins = origins
        let metrics = MetricsBox()
        self.metrics = metrics
        let logger = environment.logger
        feeds = feedStorage.map { storage in
            SharedFeeds(
                configuration, storage: storage, secret: secret, origins: origins, credentials: credentials,
                environment: environment, logger: logger,
                count: { metrics.add(.feedRefreshes, $0, $1) })
        }
    }

    /// Whether no request is in progress.
    package var isIdle: Bool { requestsInProgress == 0 }

    var requestsInProgress: Int { admission.withLock { $0.total } }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Declares the gateway not ready. Requests are answered as before.
    package func stop() { stopping.store(true, ordering: .relaxed) }

    /// Follows the generations of shared feeds that other nodes publish, until the task is cancelled.
    package func watch() async { await feeds?.watch() }

    /// Removes feeds that are not configured any more, at once and then every hour, until the task is cancelled.
    package func sweep() async {
        guard let feeds else { return }
        while !Task.isCancelled {
            await feeds.sweep()
            await environment.sleep(3_600_000)
        }
    }

    /// Ends what the gateway does by itself. Call it after the last request.
    package func end() async { await feeds?.stop() }

    /// Counts the bytes of an answer.
    func sent(_ count: Int, _ kind: String) {
        metrics.change { $0.add(Int64(count), to: .responseBytes, kind) }
    }

    func origin(_ endpoint: GatewayConfiguration.Endpoint) -> OriginClient? { origins[endpoint.name] }

    func rules(_ endpoint: GatewayConfiguration.Endpoint) -> LedgerRules {
        LedgerRules(
            days: configuration.ledgerDays,
            leaseMilliseconds: endpoint.timeoutMilliseconds + endpoint.marginMilliseconds)
    }

    /// Returns the digest that stands for the credentials of a request.
    func principal(_ headers: HTTPHeaders, endpoint: String) -> [UInt8] {
        let text = "\(endpoint)\n\(headers.values("Authorization").joined(separator: "\n"))"
        return Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: secret)))
    }

    func fingerprint(_ unit: UploadUnit) -> [UInt8] { Array(SHA256.hash(data: unit.content)) }

    // MARK: Requests

    /// Answers a request. Never throws: a refusal is an answer.
    package func answer(_ request: IncomingRequest) async -> GatewayResponse {
        let start = ContinuousClock.now
        var kind: RequestClass?
        var request = request
        let trace = traced(&request)
        var response = await answer(request, &kind)
        response.kind = kind?.kind.label ?? "refused"
        if response.status >= 500 {
            logger.warning(
                "\(response.kind) was answered with \(response.status)",
                metadata: [
                    "trace": "\(trace?.trace ?? "none")", "endpoint": "\(kind?.endpoint.name ?? "none")",
                    "method": "\(request.method)",
                ])
        }
        observe(response.kind, status: response.status, since: start)
        return response
    }

    /// Returns the identification of the request for logs, which the service receives as well.
    private func traced(_ request: inout IncomingRequest) -> TraceContext? {
        if let known = TraceContext(request.headers) { return known }
        guard environment.makesTraces else { return nil }
        let made = TraceContext(
            .random(in: .min ... .max), .random(in: .min ... .max), span: .random(in: .min ... .max))
        request.headers[TraceContext.header] = made.value
        return made
    }

    private func answer(_ request: IncomingRequest, _ found: inout RequestClass?) async -> GatewayResponse {
        do throws(RequestRefusal) {
            let length = try RequestFraming.check(
                method: request.method, target: request.target, minor: request.minorVersion, headers: request.headers,
                limits: configuration.limits)
            let kind = try RequestClass(
                method: request.method, target: request.target, headers: request.headers, configuration: configuration)
            found = kind
            let user = limitedUser(request, kind)
            let endpoint = feedRequest(request, kind) == nil ? kind.endpoint.name : nil
            try await enter(user, endpoint)
            let leave: @Sendable () -> Void = { [self] in
                admission.withLock { $0.leave(user: user, endpoint: endpoint) }
            }
            do throws(RequestRefusal) {
                return try await answer(request, kind, length).ended(leave)
            } catch {
                leave()
                throw error
            }
        } catch {
            return GatewayResponse(error)
        }
    }

    private func answer(
        _ request: IncomingRequest, _ kind: RequestClass, _ length: RequestFraming.BodyLength
    ) async throws(RequestRefusal) -> GatewayResponse {
        switch kind.kind {
        case .read:
            if let answer = try await feedAnswer(request, kind) { return answer }
            return try await passThrough(request, kind, length)
        case .metadata: return try await passThrough(request, kind, length)
        case .multipartBatch, .jsonBatch:
            return try await batch(request, kind)
        case .modification:
            if try RepeatabilityIdentifier(request.headers) != nil { return try await upload(request, kind) }
            return try await modifying(request, kind) { () throws(RequestRefusal) in
                try await passThrough(request, kind, length)
            }
        }
    }

    private func limitedUser(_ request: IncomingRequest, _ kind: RequestClass) -> [UInt8] {
        var headers = request.headers
        if headers["Authorization"] == nil { headers["Authorization"] = "peer \(request.peer)" }
        return principal(headers, endpoint: kind.endpoint.name)
    }

    /// Waits for a free place, for two seconds at most.
    private func enter(_ user: [UInt8], _ endpoint: String?) async throws(RequestRefusal) {
        for attempt in 0..<40 {
            switch admission.withLock({ $0.enter(user: user, endpoint: endpoint) }) {
            case .admitted: return
            case .tooManyOfUser where attempt >= 39:
                throw RequestRefusal(
                    429, "There are too many requests of one user in progress.", headers: ["Retry-After": "1"])
            case .busy where attempt >= 39:
                throw RequestRefusal(503, "The gateway is busy.", headers: ["Retry-After": environment.retryAfter()])
            case .tooManyOfUser, .busy: await environment.sleep(50)
            }
        }
    }

    /// Reads a whole body.
    func whole(_ body: IncomingBody) async throws(RequestRefusal) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(IncomingBody.Failure) {
            while let chunk = try await body.next() {
                bytes += chunk
                if bytes.count > configuration.limits.bodyBytes {
                    break
                }
            }
        } catch {
            throw RequestRefusal(400, "The body of the request is incomplete.")
        }
        guard bytes.count <= configuration.limits.bodyBytes else {
            throw RequestRefusal(413, "The body has more than \(configuration.limits.bodyBytes) bytes.")
        }
        return bytes
    }
}

/// The time, the randomness and the log that the service uses.
package struct GatewayEnvironment: Sendable {
    package var logger = Logger(label: "tidelog-gateway")
    /// Waits for milliseconds. Returns early if the task is cancelled.
    package var sleep: @Sendable (Int64) async -> Void = { try? await Task.sleep(for: .milliseconds($0)) }
    /// Waits for the end of a reading for at most some milliseconds, which may return earlier than either. By default
    /// it sleeps for that time, because a request must be able to give up. A simulation waits for the reading instead, so
    /// that the order of events does not depend on the scheduler.
    package var sleepDuring: (@Sendable (_ reading: Task<Void, Never>, _ milliseconds: Int64) async -> Void)?
    /// Whether independent calls of storages are made one after the other, so that a simulation is repeatable.
    package var isSequential = false
    /// Milliseconds of a clock that is never set.
    package var uptime: @Sendable () -> Int64 = { Int64(Self.start.duration(to: .now) / .milliseconds(1)) }
    /// Returns random bytes. They must be unpredictable, except in a simulation.
    package var randomBytes: @Sendable (_ count: Int) -> [UInt8] = { count in
        var system = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &system) }
    }
    /// Whether requests without `traceparent` get one.
    package var makesTraces = false
    /// How long a repetition waits for the end of the first attempt, in milliseconds.
    package var patience: Int64 = 25_000
    /// How long a request waits for a reading of the service, if rows of an earlier one can answer, in milliseconds.
    package var stalePatience: Int64 = 10_000
    /// How long a request waits for a reading of the service that it needs.
    package var feedPatience: Int64 = 15_000
    /// The shortest time between the beginnings of two readings of a feed.
    package var feedPause: Int64 = 1_000

    private static let start = ContinuousClock.now

    package init() {}

    /// Makes two independent calls at the same time, or one after the other.
    func both<First: Sendable, Second: Sendable>(
        _ first: @escaping @Sendable () async -> First, _ second: @escaping @Sendable () async -> Second
    ) async -> (First, Second) {
        if isSequential {
            let value = await first()
            return (value, await second())
        }
        async let value = first()
        let other = await second()
        return (await value, other)
    }

    /// Returns a time for `Retry-After` in seconds, which spreads the repetitions of many clients.
    func retryAfter() -> String { String(2 + Int(randomBytes(1).first ?? 0) % 5) }
}
