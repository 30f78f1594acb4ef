package import Operations

/// Download settings of a defining query, as in a configuration file; see `DefiningQueryFile`.
public struct DefiningQuerySettings: Sendable, Hashable {
    /// The way in which changes since the last download are determined.
    public enum DeltaTracking: String, Sendable, Hashable, CaseIterable {
        /// The service reports changes if it returns delta links. Otherwise the downloaded entities are compared with
        /// the stored ones.
        case auto = "AUTO"
        /// The downloaded entities are always compared with the stored ones, even if the service returns delta links.
        case always = "ALWAYS"
        /// The service reports changes if it returns delta links. Otherwise nothing is compared, and every download
        /// replaces the stored entities.
        case never = "NEVER"
    }

    /// A Boolean value that indicates whether the data are the same for all users of the service.
    public var isSharedData: Bool
    /// The minimum time between two downloads of shared data, in minutes.
    public var refreshInterval: Int
    /// The way in which changes since the last download are determined.
    public var trackDeltas: DeltaTracking
    /// The maximum age of a delta link, in minutes. After it, everything is downloaded again.
    public var deltaTokenLifetime: Int
    /// A Boolean value that indicates whether the query may be removed after a download, together with the entities
    /// that no other query contains.
    public var allowsRemoval: Bool

    /// Returns whether downloaded data are still fresh, so that no download is necessary.
    ///
    /// - Parameter state: The state of the query.
    package func isFresh(_ state: QueryState, now: Timestamp) -> Bool {
        guard isSharedData, state.isComplete, let downloaded = state.downloaded else { return false }
        let (age, isOver) = now.subtractingReportingOverflow(downloaded)
        let (interval, isLong) = Int64(clamping: refreshInterval).multipliedReportingOverflow(by: 60_000)
        // A clock that was set back does not measure the age, and must not prevent downloads for years.
        return !isOver && age >= 0 && (isLong || age < interval)
    }

    /// Creates settings; by default for data of one user, with automatic deltas, 15 minutes and 50 days.
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
