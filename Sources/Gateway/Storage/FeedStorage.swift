package import GatewayCore

/// The identity of a feed in the storage.
package struct FeedIdentity: Sendable, Hashable {
    /// The name of the endpoint.
    package var endpoint: String
    /// The normal form of the query.
    package var query: String
    /// The root of the service and the shape of the rows. A feed whose shape changes begins anew: its delta links are
    /// no longer valid.
    package var shape: String

    package init(endpoint: String, query: String, shape: String) {
        self.endpoint = endpoint
        self.query = query
        self.shape = shape
    }
}

/// The right to publish a generation of a feed.
package struct FeedLease: Sendable, Hashable {
    package let feed: Int64
    /// The fence: only the newest lease may publish.
    package let fence: Int64
    /// The time of the storage's clock at which the reading begins.
    package let began: Int64

    /// The time for which a lease is valid after it was granted or renewed.
    package static let milliseconds: Int64 = 9_000

    package init(feed: Int64, fence: Int64, began: Int64) {
        (self.feed, self.fence, self.began) = (feed, fence, began)
    }
}

/// The result of the request to read a feed.
package enum FeedClaim: Sendable, Hashable {
    case granted(FeedLease)
    /// Another node is reading the feed.
    case busy
    /// The feed does not exist any more.
    case missing

    /// The right to publish, if it was granted.
    package var lease: FeedLease? { if case .granted(let lease) = self { lease } else { nil } }
}

/// The rows of the shared feeds. `FeedStorageTests` is the contract of all implementations.
///
/// A storage may lose everything: clients then read everything again. It compares only its own clock.
package protocol FeedStorage: Sendable {
    /// Returns the feed. Creates it, or begins it anew, if it does not exist with this shape.
    func feed(_ identity: FeedIdentity) async throws(LedgerStorageError) -> FeedHead

    /// Returns a feed, or `nil` if it does not exist.
    func head(_ feed: Int64) async throws(LedgerStorageError) -> FeedHead?

    /// Whether other nodes use the same storage. Then nothing about it may be remembered for longer than a request,
    /// except heads, for which ``watch(_:)`` is called.
    var isShared: Bool { get }

    /// Begins a reading, unless another node is reading the feed. It fences earlier readings off.
    ///
    /// A node that has not renewed its lease for ``FeedLease/milliseconds`` is regarded as dead.
    func claim(_ feed: Int64, node: String) async throws(LedgerStorageError) -> FeedClaim

    /// Extends the time of a reading.
    ///
    /// - Returns: Whether the reading may still publish.
    func renew(_ lease: FeedLease) async throws(LedgerStorageError) -> Bool

    /// Ends a reading that will not be published, so that another node need not wait.
    func release(_ lease: FeedLease) async throws(LedgerStorageError)

    /// Calls `changed` when another node may have published a generation, until the task is cancelled.
    func watch(_ changed: @escaping @Sendable () async -> Void) async

    /// Returns the digests of the rows of the newest generation.
    func digests(_ feed: Int64) async throws(LedgerStorageError) -> [String: RowDigest]

    /// Publishes the changes of a complete reading as a new generation; without changes, only the time of the reading is
    /// recorded. The first reading always makes a generation.
    ///
    /// A generation is visible as a whole or not at all. If a publication is interrupted, the generation before remains,
    /// and the next publication succeeds.
    ///
    /// - Returns: The new head, or `nil` if another reading has begun: nothing is published then.
    func publish(
        _ lease: FeedLease, _ changes: [FeedChange], _ description: FeedDescription
    ) async throws(LedgerStorageError) -> FeedHead?

    /// Ends a reading that is not published, and records the reason.
    func refuse(_ lease: FeedLease, _ trouble: String) async throws(LedgerStorageError)

    /// Returns the rows of a generation whose keys follow `after`, sorted by the bytes of the keys.
    func rows(
        _ feed: Int64, at generation: Int64, after: String?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem]

    /// Returns the changes between two generations, each row at most once, sorted by generation and key.
    func changes(
        _ feed: Int64, from start: Int64, to end: Int64, after: FeedPosition?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem]

    /// Deletes versions that no delta link of the last `lifetime` milliseconds needs.
    func forget(_ feed: Int64, lifetime: Int64) async throws(LedgerStorageError)

    /// Removes a feed with its rows, unless a node is reading it or a reading that began after `time` was published. A
    /// feed that was never published is removed.
    ///
    /// - Returns: Whether it was removed.
    func remove(_ feed: Int64, notReadSince time: Int64) async throws(LedgerStorageError) -> Bool

    /// Records that a user may have changed data of an endpoint.
    func markWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError)

    /// Returns the time of the last change of a user, if it is known.
    func lastWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) -> Int64?

    /// Lets the next reading remove most rows.
    ///
    /// - Returns: Whether there is such a feed.
    func acceptRemovals(endpoint: String, query: String) async throws(LedgerStorageError) -> Bool

    /// Returns all feeds for the operator.
    func list() async throws(LedgerStorageError) -> [(identity: FeedIdentity, head: FeedHead)]

    /// The time of the storage's clock, in milliseconds since 1970.
    func time() async -> Int64

    /// The use of the connections, if the storage is a server.
    var poolUse: PoolUse? { get }
}

extension FeedStorage {
    /// A storage of one node.
    package var isShared: Bool { false }

    package var poolUse: PoolUse? { nil }

    package func watch(_ changed: @escaping @Sendable () async -> Void) async {}
}

/// The leases of a storage of one node. They end with its process.
struct FeedLeases {
    private var leases: [Int64: (node: String, fence: Int64, end: Int64)] = [:]

    /// Whether another node than `node` is reading the feed.
    func isBusy(_ feed: Int64, node: String, now: Int64) -> Bool {
        leases[feed].map { $0.node != node && now < $0.end } ?? false
    }

    /// Whether a node is reading the feed.
    func isHeld(_ feed: Int64, now: Int64) -> Bool { leases[feed].map { now < $0.end } ?? false }

    mutating func grant(_ lease: FeedLease, node: String, now: Int64) {
        leases[lease.feed] = (node, lease.fence, now + FeedLease.milliseconds)
    }

    /// - Returns: Whether the lease is the newest one.
    mutating func renew(_ lease: FeedLease, now: Int64) -> Bool {
        guard leases[lease.feed]?.fence == lease.fence else { return false }
        leases[lease.feed]?.end = now + FeedLease.milliseconds
        return true
    }

    mutating func end(_ lease: FeedLease) {
        if leases[lease.feed]?.fence == lease.fence { leases[lease.feed] = nil }
    }
}
