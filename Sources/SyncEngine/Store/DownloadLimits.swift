import Operations

/// The limits of one download record. Tests lower them.
package struct DownloadLimits: Sendable {
    /// The number of unchanged or leaving entities.
    package var named = DownloadPage.unchangedLimit
    /// The number of dangling links.
    package var openLinks = OpenLink.limit
    /// The size of the texts of dangling links, in bytes.
    package var openLinksSize = 4 << 20

    /// The size of an entity with its expanded entities, which have to be in one record, in bytes. It leaves room for
    /// the rest of the record.
    package var entity = 15 << 20
    /// The number of bytes of an incomplete page that are held in memory. The rest is held on disk.
    package var memory = 4 << 20

    package init() {}
}
