internal import Crypto
internal import GatewayCore
internal import Logging
internal import ODataWire
internal import Synchronization
internal import Transport

/// All feeds of a gateway, the permissions of users, and the times of their changes.
final class SharedFeeds: Sendable {
    private struct Key: Hashable {
        let endpoint: String
        let query: CanonicalQuery
    }

    private struct UserKey: Hashable {
        let user: [UInt8]
        let scope: String
    }

    private static let maximumUsers = 100_000

    let storage: any FeedStorage
    let seal: TokenSeal
    private let secret: [UInt8]
    private let logger: Logger
    private let feeds: [Key: SharedFeed]
    private let endpoints: Set<String>
    /// The endpoints with a feed that requires no permission.
    private let openEndpoints: Set<String>
    private let permissions = Mutex<[UserKey: FeedPermission]>([:])
    /// The times of changes that were looked up or made in this process; nil for users without one.
    private let writes = Mutex<[UserKey: Int64?]>([:])

    init(
        _ configuration: GatewayConfiguration, storage: any FeedStorage, secret: [UInt8],
        origins: [String: OriginClient], credentials: [String: String], environment: GatewayEnvironment, logger: Logger,
        count: @escaping @Sendable (String, String) -> Void
    ) {
        self.storage = storage
        self.secret = secret
        self.logger = logger
        seal = TokenSeal(secret: secret, randomBytes: environment.randomBytes)
        var feeds: [Key: SharedFeed] = [:]
        let node = environment.randomBytes(8).map { String($0, radix: 16) }.joined(separator: ".")
        for endpoint in configuration.endpoints {
            guard let origin = origins[endpoint.name], !endpoint.feeds.isEmpty else { continue }
            let model = OriginModel(
                origin, endpoint.root, credentials: credentials[endpoint.name],
                maximumBytes: configuration.limits.bodyBytes, executor: environment.executor)
            for settings in endpoint.feeds {
                let reading = FeedRefresh(
                    origin: origin, endpoint: endpoint, settings: settings, storage: storage,
                    credentials: credentials[endpoint.name],
                    limits: ReadingLimits(
                        feed: settings.name, rows: configuration.limits.feedRows, bytes: configuration.limits.feedBytes),
                    node: node)
                feeds[Key(endpoint: endpoint.name, query: settings.query)] = SharedFeed(
                    reading, model, environment: environment, logger: logger, count: { count(settings.name, $0) })
            }
        }
        self.feeds = feeds
        endpoints = Set(feeds.keys.map(\.endpoint))
        openEndpoints = Set(
            configuration.endpoints.filter { $0.feeds.contains { $0.authorization == .any } }.map(\.name))
    }

    func feed(_ endpoint: String, _ query: CanonicalQuery) -> SharedFeed? {
        feeds[Key(endpoint: endpoint, query: query)]
    }

    /// Returns the digest of everything in a request that may identify its user.
    func user(_ headers: HTTPHeaders) -> [UInt8] {
        let text = Array("feeds\n\(RequestCredentials.text(headers))".utf8)
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: secret)))
    }

    /// Adopts the generations that other nodes publish, until the task is cancelled.
    func watch() async {
        await storage.watch { [self] in
            guard let all = try? await storage.list() else { return }
            for feed in feeds.values { await feed.adopt(all) }
        }
    }

    // MARK: Feeds that are not configured any more

    /// Removes the feeds that no endpoint has, and that were not read for a month or for the longest lifetime of a delta
    /// link.
    func sweep() async {
        let lifetimes = feeds.values.map(\.settings.tokenMilliseconds)
        let time = FeedRetention.idleSince(now: await storage.time(), lifetimes: lifetimes)
        guard let all = try? await storage.list() else { return }
        for (identity, head) in all where !isConfigured(identity) && head.readBegan ?? .min <= time {
            if Task.isCancelled { return }
            let metadata: Logger.Metadata = ["endpoint": "\(identity.endpoint)", "query": "\(identity.query)"]
            do throws(LedgerStorageError) {
                guard try await storage.remove(head.id, notReadSince: time) else { continue }
                logger.notice("A feed that is not configured was removed", metadata: metadata)
            } catch {
                logger.warning("A feed that is not configured was not removed: \(error)", metadata: metadata)
            }
        }
    }

    private func isConfigured(_ identity: FeedIdentity) -> Bool {
        feeds.keys.contains { $0.endpoint == identity.endpoint && $0.query.description == identity.query }
    }

    /// Ends all readings.
    func stop() async {
        for feed in feeds.values { await feed.refuseReadings() }
        for feed in feeds.values { await feed.stop() }
    }

    /// Returns the ages of the newest generations that this process has used.
    func ages() async -> [GatewayMetrics.Gauge] {
        var heads: [(feed: String, readBegan: Int64)] = []
        for feed in feeds.values {
            if let began = await feed.head?.readBegan { heads.append((feed.settings.name, began)) }
        }
        return heads.isEmpty ? [] : FeedAge.gauges(heads, now: await storage.time())
    }

    // MARK: Permissions

    func permission(_ user: [UInt8], _ endpoint: String, _ feed: FeedSettings) -> FeedPermission? {
        permissions.withLock { $0[UserKey(user: user, scope: "\(endpoint)\n\(feed.query)")] }
    }

    func remember(_ permission: FeedPermission, _ user: [UInt8], _ endpoint: String, _ feed: FeedSettings) {
        permissions.withLock { known in
            if known.count >= Self.maximumUsers { known = [:] }
            known[UserKey(user: user, scope: "\(endpoint)\n\(feed.query)")] = permission
        }
    }

    // MARK: Changes of users

    /// Returns the digest of a user for changes. Two users may have the same one: then a feed is read more often.
    private func digest(_ writer: String) -> [UInt8] {
        let text = Array("writer\n\(writer)".utf8)
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: secret)))
    }

    /// Records that the user may have changed data.
    ///
    /// - Parameter isAccepted: Whether the service has accepted the credentials. Only then feeds are read for other
    ///   users as well, of whom one may be this user with a renewed token.
    /// - Throws: If it cannot be recorded.
    func wrote(_ headers: HTTPHeaders, _ endpoint: String, isAccepted: Bool) async throws(LedgerStorageError) {
        guard endpoints.contains(endpoint) else { return }
        let exact = RequestCredentials.exactWriter(headers)
        try await wrote(digest(exact), endpoint)
        guard isAccepted else { return }
        let user = RequestCredentials.writer(headers)
        if user != exact { try await wrote(digest(user), endpoint) }
        // A client may read without credentials, and send them with changes only.
        if openEndpoints.contains(endpoint), user != "" { try await wrote(digest(""), endpoint) }
    }

    private func wrote(_ user: [UInt8], _ endpoint: String) async throws(LedgerStorageError) {
        if storage.isShared { return try await storage.markWrite(endpoint: endpoint, user: user) }
        let time = await storage.time()
        writes.withLock { known in
            if known.count >= Self.maximumUsers { known = [:] }
            known[UserKey(user: user, scope: endpoint)] = time
        }
        try await storage.markWrite(endpoint: endpoint, user: user)
    }

    /// The time of the last change of the user.
    ///
    /// - Parameter isExact: Whether only changes with the same credentials count.
    func lastWrite(
        _ headers: HTTPHeaders, _ endpoint: String, isExact: Bool
    ) async throws(LedgerStorageError) -> Int64? {
        let user = digest(isExact ? RequestCredentials.exactWriter(headers) : RequestCredentials.writer(headers))
        // The user may have changed data through another node.
        if storage.isShared { return try await storage.lastWrite(endpoint: endpoint, user: user) }
        let key = UserKey(user: user, scope: endpoint)
        if let known = writes.withLock({ $0[key] }) { return known }
        let found = try await storage.lastWrite(endpoint: endpoint, user: user)
        writes.withLock { known in
            if known.count >= Self.maximumUsers { known = [:] }
            // A change that was made meanwhile is newer.
            if known[key] == nil { known[key] = .some(found) }
        }
        return found
    }
}
