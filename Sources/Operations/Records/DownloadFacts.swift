import EDM
/// The mode in which a defining query is downloaded.
public enum DownloadMode: UInt8, Sendable, Hashable, CaseIterable {
    /// A full download. Entities that the query covered before and does not return any more are removed when it
    /// finishes.
    case full = 0
    /// Changes only, by the delta link of the last download. Only entities that the service reports as removed are
    /// removed.
    case delta = 1
    /// An interrupted download continues after its last complete page, in its previous mode.
    case resumed = 2
    /// A full download, instead of the same download in another mode that the service could not continue.
    case restarted = 3
}

/// A query of a starting download.
package struct QueryStart: Sendable, Hashable {
    /// The query's name.
    package var query: String
    package var mode: DownloadMode

    package init(query: String, mode: DownloadMode = .full) {
        self.query = query
        self.mode = mode
    }
}

extension Record.Body {
    /// Returns the start of a full download of the queries.
    package static func downloadStarted(queries: [String]) -> Record.Body {
        .downloadStarted(queries.map { QueryStart(query: $0) })
    }

    /// Returns the end of a download without delta link.
    package static func downloadFinished(query: String) -> Record.Body {
        .downloadFinished(DownloadFinished(query: query))
    }
}

/// The content of a page of a defining query, or of a part of a long page.
///
/// Its members apply in the order of their declaration. Changes of an entity in another order are in several records.
package struct DownloadPage: Sendable, Hashable {
    package var query: String
    /// The entities of the page; if the page was compared with the store, only the new and changed ones.
    package var entities: [EntityImage]
    /// The unchanged entities, in the order of the page.
    package var unchanged: [EntityID]
    /// The entities that the service has deleted.
    package var removed: [EntityID]
    /// The entities that the query does not return any more. The service may still have them.
    package var left: [EntityID]
    /// Added and removed links, in this order.
    package var links: [ChangedLink]
    /// The URL of the next page. Only in the last record of a page that is not the last one: an interrupted download
    /// continues from here.
    package var next: String?

    /// The maximum number of entities in ``unchanged``.
    package static let unchangedLimit = 1 << 16

    /// A link that was added or removed. Without a target, any target of a single-valued property is removed.
    package struct ChangedLink: Sendable, Hashable {
        package var source: EntityID
        package var navigation: String
        package var target: EntityID?
        package var isAdded: Bool

        package init(source: EntityID, navigation: String, target: EntityID?, isAdded: Bool) {
            self.source = source
            self.navigation = navigation
            self.target = target
            self.isAdded = isAdded
        }
    }

    package init(
        query: String, entities: [EntityImage] = [], unchanged: [EntityID] = [], removed: [EntityID] = [],
        left: [EntityID] = [], links: [ChangedLink] = [], next: String? = nil
    ) {
        self.query = query
        self.entities = entities
        self.unchanged = unchanged
        self.removed = removed
        self.left = left
        self.links = links
        self.next = next
    }
}

/// A link of a delta with an end that is not in the store. An entity that has not been downloaded yet has no ID.
public struct OpenLink: Sendable, Hashable, CustomStringConvertible {
    /// The defining query whose delta contained it.
    public var query: String
    /// The entity set of the source.
    public var set: String
    /// The entity-id of the source as the service wrote it, like those below.
    public var source: String
    /// The name of the navigation property from the source to the target.
    public var navigation: String
    /// The entity-id of the target as the service wrote it.
    public var target: String

    /// The maximum number in a store.
    package static let limit = 10_000

    /// Creates an open link.
    public init(query: String, set: String, source: String, navigation: String, target: String) {
        self.query = query
        self.set = set
        self.source = source
        self.navigation = navigation
        self.target = target
    }

    public static func == (a: OpenLink, b: OpenLink) -> Bool {
        a.query == b.query && a.set == b.set && a.navigation == b.navigation && a.source.isExactly(b.source)
            && a.target.isExactly(b.target)
    }

    /// For people: `Orders(1)/Customer to Customers(7)`.
    public var description: String { "\(source)/\(navigation) to \(target)" }

    /// The total number of bytes of its texts.
    package var byteCount: Int {
        query.utf8.count + set.utf8.count + source.utf8.count + navigation.utf8.count + target.utf8.count
    }
}

/// The end of a defining query's download.
package struct DownloadFinished: Sendable, Hashable {
    package var query: String
    /// The delta link for subsequent changes, as the service wrote it, or `nil` if the service returned none.
    package var deltaLink: String?

    package init(query: String, deltaLink: String? = nil) {
        self.query = query
        self.deltaLink = deltaLink
    }
}
