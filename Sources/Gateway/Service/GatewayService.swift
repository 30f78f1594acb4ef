internal import Crypto
package import GatewayCore
internal import Logging
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
    let admission: Mutex<Admission>
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

    package var requestsInProgress: Int { admission.withLock { $0.total } }

    /// The bytes of request bodies in memory.
    package var bodyBytes: Int { admission.withLock { $0.bytes } }

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

    /// Counts the bytes of a response.
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
        digest("\(endpoint)\n\(headers.values("Authorization").joined(separator: "\n"))")
    }

    private func digest(_ text: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: secret)))
    }

    func fingerprint(_ unit: UploadUnit) -> [UInt8] { Array(SHA256.hash(data: unit.content)) }

    // MARK: Requests

    /// Answers a request. Never throws: a refusal is a response.
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
            let place = try await AdmittedRequest(self, user: limitedUser(request, kind))
            do throws(RequestRefusal) {
                let response = try await answer(request, kind, length, place)
                // A slow client reads a complete response without the service.
                if case .bytes = response.body { place.endExchange() }
                return response.ended { place.leave() }
            } catch {
                place.leave()
                throw error
            }
        } catch {
            return GatewayResponse(error)
        }
    }

    private func answer(
        _ request: IncomingRequest, _ kind: RequestClass, _ length: RequestFraming.BodyLength, _ place: AdmittedRequest
    ) async throws(RequestRefusal) -> GatewayResponse {
        if kind.kind == .read, let answer = try await feedAnswer(request, kind, place) { return answer }
        var isRepeatable = false
        if kind.kind == .modification { isRepeatable = try RepeatabilityIdentifier(request.headers) != nil }
        guard length != .none || kind.isBatch || isRepeatable else {
            try await place.begin(.service(kind.endpoint.name))
            return try await passing(request, kind, .bytes([]))
        }
        guard kind.isBatch || isRepeatable || kind.hasJSONBody else {
            try await place.begin(.transfer(kind.endpoint.name))
            return try await passing(request, kind, .arriving(length))
        }
        // Received before the request occupies a place of the service: the client may be slow.
        let body = try await place.body(of: request)
        try await place.begin(.service(kind.endpoint.name))
        if kind.isBatch { return try await batch(request, kind, body) }
        if isRepeatable { return try await upload(request, kind, body) }
        let rewritten = LinkRewriter.rewrite(body, kind.roots, .request, scope: kind.scope)
        return try await passing(request, kind, .bytes(rewritten))
    }

    /// Passes a request through, with the marks that a modification needs.
    private func passing(
        _ request: IncomingRequest, _ kind: RequestClass, _ body: RequestBody
    ) async throws(RequestRefusal) -> GatewayResponse {
        guard kind.kind == .modification else { return try await passThrough(request, kind, body) }
        return try await modifying(request, kind) { () throws(RequestRefusal) in
            try await passThrough(request, kind, body)
        }
    }

    private func limitedUser(_ request: IncomingRequest, _ kind: RequestClass) -> [UInt8] {
        let user = RequestCredentials.limited(
            request.headers, peer: request.peer, trustsForwarded: configuration.trustsForwarded)
        return digest("\(kind.endpoint.name)\n\(user)")
    }
}
