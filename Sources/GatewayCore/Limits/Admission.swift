/// Counts the requests in progress and the memory of their bodies, and decides whether another request may begin.
package struct Admission: Sendable {
    /// The use that a request makes of a service, by the name of its endpoint. A request that waits for a free place, or
    /// whose body arrives, uses nothing.
    package enum CapacityUse: Sendable, Hashable {
        /// A request to the service whose body, if any, was received completely.
        case service(String)
        /// A request to the service whose body is forwarded while it arrives. Its client determines how long it takes, so
        /// such requests occupy at most half of the places of a service.
        case transfer(String)
        /// A response from a shared feed, which may have to wait for the service. Requests of one service occupy at most
        /// half of the places of the gateway, so that a slow service does not stop the feeds of others.
        case feed(String)
    }

    private let limits: GatewayLimits
    /// The number of requests in progress, with those that wait.
    package private(set) var total = 0
    /// The number of uses.
    private var used = 0
    private var users: [[UInt8]: Int] = [:]
    private var uses: [CapacityUse: Int] = [:]
    /// The bytes of request bodies in memory.
    package private(set) var bytes = 0

    package init(_ limits: GatewayLimits) { self.limits = limits }

    /// Counts a request. Returns false if its user has too many in progress.
    package mutating func enter(user: [UInt8]) -> Bool {
        guard users[user, default: 0] < limits.requestsPerUser else { return false }
        total += 1
        users[user, default: 0] += 1
        return true
    }

    /// Ends a request that was admitted.
    package mutating func leave(user: [UInt8]) {
        total -= 1
        Self.decrease(&users, user)
    }

    /// Counts the use of a service by an admitted request. Returns whether it may begin.
    package mutating func begin(_ use: CapacityUse) -> Bool {
        guard used < limits.requests else { return false }
        let isFree =
            switch use {
            case .service(let name): count(.service(name)) + count(.transfer(name)) < limits.requestsPerEndpoint
            case .transfer(let name):
                count(use) < max(limits.requestsPerEndpoint / 2, 1)
                    && count(.service(name)) + count(use) < limits.requestsPerEndpoint
            case .feed: count(use) < max(limits.requests / 2, 1)
            }
        guard isFree else { return false }
        used += 1
        uses[use, default: 0] += 1
        return true
    }

    /// Ends the use of a service.
    package mutating func end(_ use: CapacityUse) {
        used -= 1
        Self.decrease(&uses, use)
    }

    /// Reserves memory for the body of a request. Returns whether it is available.
    package mutating func reserve(_ count: Int) -> Bool {
        guard count <= limits.bodyMemory - bytes else { return false }
        bytes += count
        return true
    }

    /// Releases memory that was reserved.
    package mutating func release(_ count: Int) { bytes -= count }

    private func count(_ use: CapacityUse) -> Int { uses[use, default: 0] }

    private static func decrease<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
        let count = counts[key, default: 1] - 1
        counts[key] = count > 0 ? count : nil
    }
}
