public import SyncCore

/// How one download goes about its work.
public struct DownloadOptions: Sendable {
    /// How it goes on where the service is busy: it asks again for the page that it was at.
    public var retry: RetryPolicy
    /// Whether it begins at once although the service has asked to be left alone: for a person who does not want to wait.
    public var ignoresPostponement: Bool
    /// How many entities a page is wanted to have (`odata.maxpagesize`); nil leaves it to the service. V2 knows no such wish.
    public var pageSize: Int?

    public init(
        retry: RetryPolicy = RetryPolicy(), ignoresPostponement: Bool = false, pageSize: Int? = nil
    ) {
        self.retry = retry
        self.pageSize = pageSize
        self.ignoresPostponement = ignoresPostponement
    }
}
