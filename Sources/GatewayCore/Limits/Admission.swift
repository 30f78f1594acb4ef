/// Counts the requests in progress, and decides whether another one may begin.
package struct Admission: Sendable {
    package enum Verdict: Sendable, Hashable {
        case admitted
        /// The user has too many requests in progress: 429.
        case tooManyOfUser
        /// The gateway or the endpoint has: 503.
        case busy
    }

    private let limits: GatewayLimits
    /// The number of requests in progress.
    package private(set) var total = 0
    private var users: [[UInt8]: Int] = [:]
    private var endpoints: [String: Int] = [:]

    package init(_ limits: GatewayLimits) { self.limits = limits }

    /// Counts the request if it may begin.
    ///
    /// - Parameter endpoint: The service that receives the request, or `nil` for a response from a feed: requests that
    ///   wait for a slow refresh must not stop others.
    package mutating func enter(user: [UInt8], endpoint: String?) -> Verdict {
        guard users[user, default: 0] < limits.requestsPerUser else { return .tooManyOfUser }
        let isBusy = endpoint.map { endpoints[$0, default: 0] >= limits.requestsPerEndpoint } ?? false
        guard total < limits.requests, !isBusy else { return .busy }
        total += 1
        users[user, default: 0] += 1
        if let endpoint { endpoints[endpoint, default: 0] += 1 }
        return .admitted
    }

    /// Ends a request that was admitted.
    package mutating func leave(user: [UInt8], endpoint: String?) {
        total -= 1
        Self.decrease(&users, user)
        if let endpoint { Self.decrease(&endpoints, endpoint) }
    }

    private static func decrease<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
        let count = counts[key, default: 1] - 1
        counts[key] = count > 0 ? count : nil
    }
}
