package import GatewayCore

/// The identity of a feed in the storage.
package struct FeedIdentity: Sendable, Hashable {
    /// The name of the endpoint.
    package var endpoint: String
    /// The normal form of the query.
    package var query: String
    /// The root of the service and the shape of the rows. A feed whose shape changes begins anew: its delta links are no
    /// longer valid.
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

    package init(feed: Int64, fence: Int64, began: Int64) {
        (self.feed, self.fence, self.began) = (feed, fence, began)
    }
}

/// The rows of the shared feeds. `FeedStorageTests` is the contract of all implementations.
///
/// A storage may lose everything: clients then read everything again. It compares only its own clock.
package protocol FeedStorage: Sendable {
    /// Returns the feed. Creates it, or begins it anew, if it does not exist with this shape.
    func feed(_ identity: FeedIdentity) async throws(LedgerStorageError) -> FeedHead

    /// Returns a feed, or `nil` if it does not exist.
    func head(_ feed: Int64) async throws(LedgerStorageError) -> FeedHead?

    /// Begins a reading. It fences earlier readings off.
    func claim(_ feed: Int64) async throws(LedgerStorageError) -> FeedLease?

    /// Returns the digests of the rows of the newest generation.
    func digests(_ feed: Int64) async throws(LedgerStorageError) -> [String: RowDigest]

    /// Publishes the changes of a complete reading as a new generation, in one transaction; without changes, only the
    /// time of the reading is recorded. The first reading always makes a generation.
    ///
    /// - Returns: The new head, or `nil` if another reading has begun: nothing is published then.
    func publish(
        _ lease: FeedLease, _ changes: [FeedChange], _ description: FeedDescription
    ) async throws(LedgerStorageError) -> FeedHead?

    /// Records that a reading was not published, and the reason.
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
}
