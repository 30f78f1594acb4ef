import Gateway
import GatewayCore

extension GatewayNode {
    /// Performs a call of a storage, unless the process ends before it. The process may also end after it, and the
    /// storage may fail before or after it.
    fileprivate func perform<Result>(
        _ call: () async throws(LedgerStorageError) -> Result
    ) async throws(LedgerStorageError) -> Result {
        guard makesCall() else { throw Self.ended }
        let failure = takeStorageFailure()
        if failure == .refused { throw LedgerStorageError("The storage refuses the call.") }
        let result = try await call()
        if failure == .answerLost { throw LedgerStorageError("The connection to the storage is lost.") }
        guard makesCall() else { throw Self.ended }
        return result
    }

    fileprivate static let ended = LedgerStorageError("The process has ended.")
}

/// The ledger as a node uses it.
struct NodeLedger: LedgerStorage {
    let node: GatewayNode
    let durable: MemoryLedgerStorage
    /// A storage whose content is lost, which acknowledges the claims that the durable one would refuse; nil without the
    /// seeded bug.
    let lossy: (@Sendable () -> MemoryLedgerStorage)?

    func claim(_ claims: [LedgerClaim], _ rules: LedgerRules) async throws(LedgerStorageError) -> [LedgerVerdict] {
        if let lossy, node.takeStorageFailure() == .refused { return try await lossy().claim(claims, rules) }
        return try await node.perform { () throws(LedgerStorageError) in
            let verdicts = try await durable.claim(claims, rules)
            node.count(verdicts)
            return verdicts
        }
    }

    func complete(
        _ completions: [LedgerCompletion], _ rules: LedgerRules
    ) async throws(LedgerStorageError) -> [Bool] {
        try await node.perform { () throws(LedgerStorageError) in try await durable.complete(completions, rules) }
    }

    func forget(_ rules: LedgerRules, limit: Int) async throws(LedgerStorageError) -> Int {
        try await durable.forget(rules, limit: limit)
    }

    func rows(in state: LedgerRow.UnitState?, limit: Int) async throws(LedgerStorageError) -> [LedgerRow] {
        try await durable.rows(in: state, limit: limit)
    }

    func openRows() async throws(LedgerStorageError) -> [LedgerRow.UnitState: Int] { try await durable.openRows() }

    func secret() async throws(LedgerStorageError) -> [UInt8] { try await durable.secret() }
}

/// The shared feeds as a node uses them.
struct NodeFeedStorage: FeedStorage {
    let node: GatewayNode
    let durable: MemoryFeedStorage
    /// Whether the changes of users are recorded.
    let marksWrites: Bool

    var isShared: Bool { durable.isShared }

    func feed(_ identity: FeedIdentity) async throws(LedgerStorageError) -> FeedHead {
        try await node.perform { () throws(LedgerStorageError) in try await durable.feed(identity) }
    }

    func head(_ feed: Int64) async throws(LedgerStorageError) -> FeedHead? {
        try await node.perform { () throws(LedgerStorageError) in try await durable.head(feed) }
    }

    func claim(_ feed: Int64, node name: String) async throws(LedgerStorageError) -> FeedClaim {
        try await node.perform { () throws(LedgerStorageError) in try await durable.claim(feed, node: name) }
    }

    /// Not counted: it is called at times that the scheduler determines.
    func renew(_ lease: FeedLease) async throws(LedgerStorageError) -> Bool { try await durable.renew(lease) }

    func release(_ lease: FeedLease) async throws(LedgerStorageError) {
        try await node.perform { () throws(LedgerStorageError) in try await durable.release(lease) }
    }

    func digests(_ feed: Int64) async throws(LedgerStorageError) -> [String: RowDigest] {
        try await node.perform { () throws(LedgerStorageError) in try await durable.digests(feed) }
    }

    func publish(
        _ lease: FeedLease, _ changes: [FeedChange], _ description: FeedDescription
    ) async throws(LedgerStorageError) -> FeedHead? {
        try await node.perform { () throws(LedgerStorageError) in
            try await durable.publish(lease, changes, description)
        }
    }

    func refuse(_ lease: FeedLease, _ trouble: String) async throws(LedgerStorageError) {
        try await node.perform { () throws(LedgerStorageError) in try await durable.refuse(lease, trouble) }
    }

    func rows(
        _ feed: Int64, at generation: Int64, after: String?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        try await node.perform { () throws(LedgerStorageError) in
            try await durable.rows(feed, at: generation, after: after, limit: limit)
        }
    }

    func changes(
        _ feed: Int64, from start: Int64, to end: Int64, after: FeedPosition?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        try await node.perform { () throws(LedgerStorageError) in
            try await durable.changes(feed, from: start, to: end, after: after, limit: limit)
        }
    }

    func forget(_ feed: Int64, lifetime: Int64) async throws(LedgerStorageError) {
        try await node.perform { () throws(LedgerStorageError) in try await durable.forget(feed, lifetime: lifetime) }
    }

    func remove(_ feed: Int64, notReadSince time: Int64) async throws(LedgerStorageError) -> Bool {
        try await node.perform { () throws(LedgerStorageError) in
            try await durable.remove(feed, notReadSince: time)
        }
    }

    func markWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) {
        guard marksWrites else { return }
        try await node.perform { () throws(LedgerStorageError) in
            try await durable.markWrite(endpoint: endpoint, user: user)
        }
    }

    func lastWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) -> Int64? {
        try await node.perform { () throws(LedgerStorageError) in
            try await durable.lastWrite(endpoint: endpoint, user: user)
        }
    }

    func acceptRemovals(endpoint: String, query: String) async throws(LedgerStorageError) -> Bool {
        try await durable.acceptRemovals(endpoint: endpoint, query: query)
    }

    func list() async throws(LedgerStorageError) -> [(identity: FeedIdentity, head: FeedHead)] {
        try await node.perform { () throws(LedgerStorageError) in try await durable.list() }
    }

    func time() async -> Int64 { await durable.time() }
}
