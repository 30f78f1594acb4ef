import Operations

/// How much of a download one record holds. Tests set what they would take long to reach.
package struct DownloadLimits: Sendable {
    /// Entities that are named as they were, or as having left the query.
    package var named = DownloadPage.unchangedLimit
    /// Links that wait for an end.
    package var openLinks = OpenLink.limit
    /// The texts of these, in bytes.
    package var openLinksSize = 4 << 20

    package init() {}
}
