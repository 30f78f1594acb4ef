public import Operations

/// How a defining query is downloaded, where it is not as usual: what the seeds' configuration file says of it.
public struct DefiningQuerySettings: Sendable, Hashable {
    /// Who finds out what has changed since the last download.
    public enum DeltaTracking: String, Sendable, Hashable, CaseIterable {
        /// The service where it gives delta links; otherwise what it sends is compared here.
        case auto = "AUTO"
        /// What the service sends is compared here, although it may give delta links.
        case always = "ALWAYS"
        /// The service where it gives delta links; otherwise nothing is compared, and every download replaces what was there.
        case never = "NEVER"
    }

    /// Whether the data are the same for all users of the service.
    public var isSharedData: Bool
    /// Shared data are not asked for again before so much time has passed since the last download. Minutes.
    public var refreshInterval: Int
    public var trackDeltas: DeltaTracking
    /// A delta link that is older is not used: everything is downloaded again. Minutes.
    public var deltaTokenLifetime: Int
    /// Whether the query may be removed, with the entities that no other query brings, once it was downloaded.
    public var allowsRemoval: Bool

    /// Whether data that were downloaded then are good for a while yet, so that nobody need ask for them again.
    ///
    /// - Parameter state: of the query that brings them.
    public func isFresh(_ state: QueryState, now: Timestamp) -> Bool {
        guard isSharedData, state.isComplete, let downloaded = state.downloaded else { return false }
        let (age, isOver) = now.subtractingReportingOverflow(downloaded)
        let (interval, isLong) = Int64(clamping: refreshInterval).multipliedReportingOverflow(by: 60_000)
        // A clock that was put back says nothing of the age, and must not keep data from being read for years.
        return !isOver && age >= 0 && (isLong || age < interval)
    }

    public init(
        isSharedData: Bool = false, refreshInterval: Int = 15, trackDeltas: DeltaTracking = .auto,
        deltaTokenLifetime: Int = 72_000, allowsRemoval: Bool = true
    ) {
        self.isSharedData = isSharedData
        self.refreshInterval = refreshInterval
        self.trackDeltas = trackDeltas
        self.deltaTokenLifetime = deltaTokenLifetime
        self.allowsRemoval = allowsRemoval
    }
}
