internal import GatewayCore
internal import Logging

/// A feed in this process: its newest generation, and at most one reading at a time for all users.
actor SharedFeed {
    nonisolated let settings: FeedSettings
    private let endpoint: GatewayConfiguration.Endpoint
    private let storage: any FeedStorage
    private let environment: GatewayEnvironment
    private let reader: FeedRefresh
    private let model: OriginModel
    private let logger: Logger
    private let count: @Sendable (String) -> Void

    /// How long a node waits before it asks again whether a different node is still reading, in milliseconds.
    private static let busyPause: Int64 = 300

    private(set) var head: FeedHead?
    private var isLoaded = false
    private var reading: Task<Void, Never>?
    private var isStopped = false
    /// The uptime at which another node was found reading. A pause follows.
    private var foundBusy: Int64?
    private var lastStart: Int64?
    private var backoff = FeedBackoff()

    /// - Parameter count: Called with the end of each reading.
    init(
        _ reader: FeedRefresh, _ model: OriginModel, environment: GatewayEnvironment, logger: Logger,
        count: @escaping @Sendable (String) -> Void
    ) {
        settings = reader.settings
        endpoint = reader.endpoint
        storage = reader.storage
        self.reader = reader
        self.model = model
        self.environment = environment
        self.logger = logger
        self.count = count
    }

    /// Returns the newest generation, after a reading if it is due.
    ///
    /// - Parameter written: The time of the last change of the user, which the generation must contain.
    /// - Returns: `nil` if there is no generation that may answer.
    func current(written: Int64?) async -> FeedHead? {
        await load()
        let arrival = await storage.time()
        var waited: Int64 = 0
        while true {
            let now = await storage.time()
            let freshness = FeedFreshness(
                head ?? FeedHead(id: 0, salt: []), refreshMilliseconds: settings.refreshMilliseconds, written: written,
                now: now)
            let isStale = freshness == .stale
            let isReadSince = head?.readBegan.map { $0 >= arrival && $0 <= now } ?? false
            if freshness == .fresh || isStale && isReadSince { return head }
            let state = start(now)
            let isOver = waited >= (isStale ? environment.stalePatience : environment.feedPatience)
            if isOver || state == .refused || state == .paused && isStale { return isStale ? head : nil }
            let pause: Int64 = waited < 100 ? 5 : 50
            if let reading, let sleepDuring = environment.sleepDuring {
                await sleepDuring(reading, pause)
            } else {
                await environment.sleep(pause)
            }
            waited += pause
        }
    }

    /// Returns the newest known generation, without a reading.
    func known() async -> FeedHead? {
        await load()
        return head
    }

    private func load() async {
        if isLoaded { return }
        // After an error of the storage, the next request tries it again.
        guard let all = try? await storage.list(), !isLoaded else { return }
        isLoaded = true
        head = own(all)
    }

    private func own(_ all: [(identity: FeedIdentity, head: FeedHead)]) -> FeedHead? {
        all.first { identity, head in
            identity.endpoint == endpoint.name && identity.query == settings.query.description
                && identity.shape.hasPrefix("\(endpoint.root)\n") && head.generation > 0
        }?.head
    }

    // MARK: Other nodes

    /// Adopts a generation that another node has published.
    ///
    /// - Returns: Whether it is newer than the known one.
    @discardableResult
    func adopt(_ all: [(identity: FeedIdentity, head: FeedHead)]) -> Bool {
        guard let found = own(all) else { return false }
        guard let head else {
            self.head = found
            return true
        }
        // A feed that was begun anew has a greater number.
        let isNewer =
            found.id != head.id
            ? found.id > head.id
            : (found.generation, found.readBegan ?? 0) > (head.generation, head.readBegan ?? 0)
        if isNewer || found.id == head.id && found.generation == head.generation { self.head = found }
        return isNewer
    }

    /// Returns the newest generation of the storage.
    func reloaded() async -> FeedHead? {
        if let all = try? await storage.list() { adopt(all) }
        return head
    }

    /// Ends the reading, and starts no other one.
    func stop() async {
        refuseReadings()
        await reading?.value
    }

    /// Cancels the reading, and starts no other one.
    func refuseReadings() {
        isStopped = true
        reading?.cancel()
    }

    // MARK: Readings

    private enum Start {
        /// A reading is running.
        case running
        /// The last reading began a moment ago.
        case paused
        /// The last reading has failed.
        case refused
    }

    /// Starts a reading, unless one is running.
    private func start(_ now: Int64) -> Start {
        if reading != nil { return .running }
        if isStopped { return .refused }
        if let foundBusy, environment.uptime() - foundBusy < Self.busyPause { return .running }
        guard backoff.mayRead(now: now) else { return .refused }
        // The last reading may be another node's.
        if storage.isShared, let began = head?.readBegan, now >= began, now - began < environment.feedPause {
            return .paused
        }
        if let lastStart, now - lastStart < environment.feedPause, now >= lastStart { return .paused }
        lastStart = now
        reading = Task(executorPreference: environment.executor) { await self.performReading() }
        return .running
    }

    private func performReading() async {
        defer { reading = nil }
        foundBusy = nil
        // Notifications can replace the head before the end of the reading.
        let before = head
        do throws(FeedError) {
            switch try await reader.run(try await model.model(), known: before) {
            case .published(let published):
                let isUnchanged = published.generation == before?.generation && published.id == before?.id
                count(isUnchanged ? "unchanged" : "published")
                head = published
                backoff.succeeded()
            case .adopted(let published):
                count("adopted")
                head = published
                lastStart = nil
            case .fenced:
                count("fenced")
                isLoaded = false
                await load()
            case .busy:
                count("busy")
                lastStart = nil
                foundBusy = environment.uptime()
            }
        } catch {
            count(isStopped ? "cancelled" : error.cause.rawValue)
            logger.warning("The feed \(settings.name) was not refreshed: \(error)")
            backoff.failed(now: await storage.time(), retryAfter: error.retryAfter)
        }
    }
}
