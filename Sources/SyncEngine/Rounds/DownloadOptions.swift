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

    public init(
        retry: RetryPolicy = RetryPolicy(), ignoresPostponement: Bool = false, pageSize: Int? = nil
    ) {
        self.retry = retry
        self.pageSize = pageSize
        self.ignoresPostponement = ignoresPostponement
    }
}
