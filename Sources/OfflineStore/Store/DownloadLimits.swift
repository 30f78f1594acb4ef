import Operations
import SyncCore

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

    /// The number of waiting links that are logged with each page of a delta, so that the download can be resumed there.
    package var linksOfPage = 1_000

    package init() {}

    /// Returns whether the links exceed the limits of one record.
    func areExceeded(by links: [OpenLink]) -> Bool {
        links.count > openLinks || links.reduce(0) { $0 + $1.byteCount } > openLinksSize
    }

    /// Returns whether the links are logged with a page: if the stored ones are outdated, or if links wait for entities
    /// of later pages and are few.
    func keepsWithPage(_ links: DanglingLinks) -> Bool {
        guard links.hasUnkept else { return links.hasLostKept }
        return links.count <= linksOfPage && !areExceeded(by: links.open)
    }
}
