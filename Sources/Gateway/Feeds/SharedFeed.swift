internal import GatewayCore
internal import Logging

/// A feed in this process: its newest generation, and at most one reading at a time for all users.
actor SharedFeed {
    nonisolated let settings: FeedSettings
    private let endpoint: GatewayConfiguration.Endpoint
    private let storage: any FeedStorage
    private let environment: GatewayEnvironment
    private let reading: FeedReading
    private let model: OriginModel
    private let logger: Logger
    private let count: @Sendable (String) -> Void

    private(set) var head: FeedHead?
    private var isLoaded = false
    private var isReading = false
    private var lastStart: Int64?
    private var backoff = FeedBackoff()

    /// - Parameter count: Called with the end of each reading.
    init(
        _ reading: FeedReading, _ model: OriginModel, environment: GatewayEnvironment, logger: Logger,
        count: @escaping @Sendable (String) -> Void
    ) {
        settings = reading.settings
        endpoint = reading.endpoint
        storage = reading.storage
        self.reading = reading
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
            if freshness == .fresh || isStale && head?.readBegan ?? .min >= arrival { return head }
            let state = start(now)
            let isOver = waited >= (isStale ? environment.stalePatience : environment.feedPatience)
            if isOver || state == .refused || state == .paused && isStale { return isStale ? head : nil }
            await environment.sleep(waited < 100 ? 5 : 50)
            waited += waited < 100 ? 5 : 50
        }
    }

    /// Returns the newest known generation, without a reading.
    func known() async -> FeedHead? {
        await load()
        return head
    }

    private func load() async {
        if isLoaded { return }
        let all = (try? await storage.list()) ?? []
        if isLoaded { return }
        isLoaded = true
        head =
            all.first { identity, head in
                identity.endpoint == endpoint.name && identity.query == settings.query.description
                    && identity.shape.hasPrefix("\(endpoint.root)\n") && head.generation > 0
            }?.head
    }

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
        if isReading { return .running }
        guard backoff.mayRead(now: now) else { return .refused }
        if let lastStart, now - lastStart < environment.feedPause, now >= lastStart { return .paused }
        isReading = true
        lastStart = now
        Task { await self.read() }
        return .running
    }

    private func read() async {
        do throws(FeedError) {
            switch try await reading.run(try await model.model()) {
            case .published(let published):
                count(published.generation == head?.generation && published.id == head?.id ? "unchanged" : "published")
                head = published
                backoff.succeeded()
            case .fenced:
                count("fenced")
                isLoaded = false
                await load()
            }
        } catch {
            count("refused")
            logger.warning("The feed \(settings.name) was not refreshed: \(error)")
            backoff.failed(now: await storage.time(), retryAfter: error.retryAfter)
        }
        isReading = false
    }
}
