public import SyncCore

/// Options of one download.
public struct DownloadOptions: Sendable {
    /// The retry policy for a busy service. A retry requests the current page again.
    public var retry: RetryPolicy
    /// A Boolean value that indicates whether the download starts at once although the service asked the client to
    /// wait. Use it for a download that the user requests explicitly.
    public var ignoresPostponement: Bool
    /// The preferred number of entities on a page (`odata.maxpagesize`), or nil to leave it to the service. V2 has no
    /// such preference.
    public var pageSize: Int?
    /// The maximum number of defining queries that are requested at the same time.
    ///
    /// The responses are stored in the order of the queries, whatever the order in which they arrive: the first page of
    /// each following query is received while the current query is read. Each such page uses at most 4 MiB of memory,
    /// and otherwise a temporary file. A page that was requested early does not contain later changes of the service,
    /// which the next download delivers.
    public var maximumConcurrentQueries: Int
    /// Groups of defining queries, by name, whose first pages are requested in one `$batch`. The response is held in
    /// memory. Without support of `$batch`, the queries are requested individually.
    public var groups: [[String]]

    /// Creates options; by default the queries are requested one after the other, with the service's page size.
    public init(
        retry: RetryPolicy = RetryPolicy(), ignoresPostponement: Bool = false, pageSize: Int? = nil,
        maximumConcurrentQueries: Int = 1, groups: [[String]] = []
    ) {
        self.retry = retry
        self.pageSize = pageSize
        self.ignoresPostponement = ignoresPostponement
        self.maximumConcurrentQueries = maximumConcurrentQueries
        self.groups = groups
    }
}
