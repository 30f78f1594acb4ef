internal import GatewayCore
internal import ODataWire
internal import Synchronization

/// A request that its user's limit permits, with its use of a service and its reserved memory until ``leave()``.
final class AdmittedRequest: Sendable {
    private struct Holding {
        var use: Admission.CapacityUse?
        var bytes = 0
        var hasLeft = false
    }

    private let service: GatewayService
    private let user: [UInt8]
    private let holding = Mutex(Holding())

    /// Waits until the user has a free place, for two seconds at most.
    init(_ service: GatewayService, user: [UInt8]) async throws(RequestRefusal) {
        self.service = service
        self.user = user
        let isAdmitted = await Self.wait(service) { service.admission.withLock { $0.enter(user: user) } }
        guard isAdmitted else {
            throw RequestRefusal(
                429, "There are too many requests of one user in progress.", headers: ["Retry-After": "1"])
        }
    }

    /// Repeats an attempt until it succeeds, for two seconds at most. Returns whether it has succeeded.
    private static func wait(_ service: GatewayService, _ attempt: () -> Bool) async -> Bool {
        for _ in 0..<39 {
            if attempt() { return true }
            await service.environment.sleep(50)
        }
        return attempt()
    }

    private static func busy(_ service: GatewayService) -> RequestRefusal {
        RequestRefusal(503, "The gateway is busy.", headers: ["Retry-After": service.environment.retryAfter()])
    }

    /// Occupies a place of a service instead of the former one. Waits for a free one for two seconds at most.
    func begin(_ use: Admission.CapacityUse) async throws(RequestRefusal) {
        endUse()
        guard await Self.wait(service, { service.admission.withLock { $0.begin(use) } }) else {
            throw Self.busy(service)
        }
        holding.withLock { $0.use = use }
    }

    /// Ends the use of the service and releases the body, because the response is complete. The user keeps the place
    /// until the response is sent.
    func endExchange() {
        endUse()
        let bytes = holding.withLock { holding in
            defer { holding.bytes = 0 }
            return holding.bytes
        }
        service.admission.withLock { $0.release(bytes) }
    }

    private func endUse() {
        let former = holding.withLock { holding in
            defer { holding.use = nil }
            return holding.use
        }
        if let former { service.admission.withLock { $0.end(former) } }
    }

    /// Receives a whole body. Its memory stays reserved.
    func body(of request: IncomingRequest) async throws(RequestRefusal) -> [UInt8] {
        let limit = service.configuration.limits.bodyBytes
        var bytes: [UInt8] = []
        while let chunk = try await Self.chunk(of: request.body) {
            guard bytes.count + chunk.count <= limit else {
                throw RequestRefusal(413, "The body has more than \(limit) bytes.")
            }
            guard reserve(chunk.count) else { throw Self.busy(service) }
            bytes += chunk
        }
        return bytes
    }

    private static func chunk(of body: IncomingBody) async throws(RequestRefusal) -> [UInt8]? {
        do throws(IncomingBody.Failure) { return try await body.next() } catch { throw error.refusal }
    }

    private func reserve(_ count: Int) -> Bool {
        guard service.admission.withLock({ $0.reserve(count) }) else { return false }
        holding.withLock { $0.bytes += count }
        return true
    }

    /// Ends the request. Later calls have no effect.
    func leave() {
        endExchange()
        let isFirst = holding.withLock { holding in
            defer { holding.hasLeft = true }
            return !holding.hasLeft
        }
        if isFirst { service.admission.withLock { $0.leave(user: user) } }
    }
}

/// The body of a request to a service.
enum RequestBody: Sendable {
    /// A complete body, in the form that the service receives.
    case bytes([UInt8])
    /// A body that is forwarded while it arrives.
    case arriving(RequestFraming.BodyLength)
}

extension IncomingBody.Failure {
    /// The response to a request whose body has failed.
    var refusal: RequestRefusal {
        self == .tooSlow
            ? RequestRefusal(408, "The request arrived too slowly.")
            : RequestRefusal(400, "The body of the request is incomplete.")
    }
}
