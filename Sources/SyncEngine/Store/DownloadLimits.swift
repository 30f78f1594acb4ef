import Operations

/// How much of a download one record holds. Tests set what they would take long to reach.
package struct DownloadLimits: Sendable {
    /// Entities that are named as they were, or as having left the query.
    package var named = DownloadPage.unchangedLimit
    /// Links that wait for an end.
    package var openLinks = OpenLink.limit
    /// The texts of these, in bytes.
    package var openLinksSize = 4 << 20

    /// An entity with what is expanded below it, which belong into one record, in bytes: below what a record takes by the rest
    /// that may be in it.
    package var entity = 15 << 20
    /// Bytes of a page that are held in memory until it has come whole; what follows is held on disk.
    package var memory = 4 << 20

    package init() {}
}
