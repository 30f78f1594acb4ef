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
    let logger = Logger(label: "tidelog-gateway")
    private let origins: [String: OriginClient]
    private let secret: [UInt8]
    private let admission: Mutex<Admission>

    /// - Parameter secret: The key of the digests of credentials.
    package init(
        _ configuration: GatewayConfiguration, storage: any LedgerStorage, secret: [UInt8],
        environment: GatewayEnvironment = GatewayEnvironment()
    ) {
        self.configuration = configuration
        self.storage = storage
        self.secret = secret
        self.environment = environment
        admission = Mutex(Admission(configuration.limits))
        origins = Dictionary(
            uniqueKeysWithValues: configuration.endpoints.map { ($0.name, OriginClient($0, configuration.limits)) })
    }

    /// Whether no request is in progress.
    package var isIdle: Bool { admission.withLock { $0.isIdle } }

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
        do throws(RequestRefusal) {
            let length = try RequestFraming.check(
                method: request.method, target: request.target, minor: request.minorVersion, headers: request.headers,
                limits: configuration.limits)
            let kind = try RequestClass(
                method: request.method, target: request.target, headers: request.headers, configuration: configuration)
            let user = limitedUser(request, kind)
            try await enter(user, kind.endpoint.name)
            let leave: @Sendable () -> Void = { [self] in
                admission.withLock { $0.leave(user: user, endpoint: kind.endpoint.name) }
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
        case .read, .metadata: return try await passThrough(request, kind, length)
        case .multipartBatch, .jsonBatch: return try await batch(request, kind)
        case .modification:
            let isRepeatable = try RepeatabilityIdentifier(request.headers) != nil
            return isRepeatable ? try await upload(request, kind) : try await passThrough(request, kind, length)
        }
    }

    private func limitedUser(_ request: IncomingRequest, _ kind: RequestClass) -> [UInt8] {
        var headers = request.headers
        if headers["Authorization"] == nil { headers["Authorization"] = "peer \(request.peer)" }
        return principal(headers, endpoint: kind.endpoint.name)
    }

    /// Waits for a free place, for two seconds at most.
    private func enter(_ user: [UInt8], _ endpoint: String) async throws(RequestRefusal) {
        for attempt in 0..<40 {
            switch admission.withLock({ $0.enter(user: user, endpoint: endpoint) }) {
            case .admitted: return
            case .tooManyOfUser where attempt >= 39:
                throw RequestRefusal(
                    429, "There are too many requests of one user in progress.", headers: ["Retry-After": "1"])
            case .busy where attempt >= 39:
                throw RequestRefusal(503, "The gateway is busy.", headers: ["Retry-After": "\(Int.random(in: 2...6))"])
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

/// The time that the service uses.
package struct GatewayEnvironment: Sendable {
    /// Waits for milliseconds. Returns early if the task is cancelled.
    package var sleep: @Sendable (Int64) async -> Void = { try? await Task.sleep(for: .milliseconds($0)) }
    /// How long a repetition waits for the end of the first attempt, in milliseconds.
    package var patience: Int64 = 25_000

    package init() {}
}
