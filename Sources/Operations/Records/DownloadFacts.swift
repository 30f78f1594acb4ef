import EDM
/// How a defining query is downloaded.
public enum DownloadMode: UInt8, Sendable, Hashable, CaseIterable {
    /// Everything. What the query brought before and does not bring any more is removed when it finishes.
    case full = 0
    /// What has changed, by the delta link that the last download ended with. Only what is said to be gone is removed.
    case delta = 1
    /// A download that was interrupted goes on behind the last page that came whole, in the mode that it had.
    case resumed = 2
    /// Everything, in place of what the same download began in another way and the service could not go on with.
    case restarted = 3
}

/// One query of a download that begins.
public struct QueryStart: Sendable, Hashable {
    /// The query's name.
    public var query: String
    public var mode: DownloadMode

    public init(query: String, mode: DownloadMode = .full) {
        self.query = query
        self.mode = mode
    }
}

extension Record.Body {
    /// A full download of these queries begins.
    public static func downloadStarted(queries: [String]) -> Record.Body {
        .downloadStarted(queries.map { QueryStart(query: $0) })
    }

    /// The query was downloaded, and the service gave no delta link.
    public static func downloadFinished(query: String) -> Record.Body {
        .downloadFinished(DownloadFinished(query: query))
    }
}

/// What a page of a defining query's answer says, or a part of a long page.
///
/// Its members hold in the order of their declaration: what happens to an entity in another order is in several records.
public struct DownloadPage: Sendable, Hashable {
    public var query: String
    /// The entities that the page shows; where it was compared, those that are new or not as they were.
    public var entities: [EntityImage]
    /// Entities that are as they were, in the order of the page.
    public var unchanged: [EntityID]
    /// Entities that the service has no more.
    public var removed: [EntityID]
    /// Entities that the query does not bring any more; whether the service still has them is not said.
    public var left: [EntityID]
    /// Links that were added or removed, in this order.
    public var links: [ChangedLink]
    /// Where the page behind this one is. Only in the last record of a page that is not the last one: from here on an
    /// interrupted download goes on.
    public var next: String?

    /// The most entities that ``unchanged`` may name.
    public static let unchangedLimit = 1 << 16

    /// A link that was added or removed. Without a target: whatever a single-valued property led to is removed.
    public struct ChangedLink: Sendable, Hashable {
        public var source: EntityID
        public var navigation: String
        public var target: EntityID?
        public var isAdded: Bool

        public init(source: EntityID, navigation: String, target: EntityID?, isAdded: Bool) {
            self.source = source
            self.navigation = navigation
            self.target = target
            self.isAdded = isAdded
        }
    }

    public init(
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

    /// Whether it says no more than which entities the page shows.
    var isPlain: Bool {
        unchanged.isEmpty && removed.isEmpty && left.isEmpty && links.isEmpty && next == nil
    }
}

/// A link that a delta told of and of which an end is not in the store: what has to come yet has no ID.
public struct OpenLink: Sendable, Hashable, CustomStringConvertible {
    /// The defining query whose delta told of it.
    public var query: String
    /// The entity set of the source.
    public var set: String
    /// The entity-id of the source, as the service wrote it, as are the others.
    public var source: String
    public var navigation: String
    public var target: String

    /// The most of them that a store keeps.
    public static let limit = 10_000

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

    /// How many bytes its texts have.
    public var byteCount: Int {
        query.utf8.count + set.utf8.count + source.utf8.count + navigation.utf8.count + target.utf8.count
    }
}

/// A defining query was downloaded to its end.
public struct DownloadFinished: Sendable, Hashable {
    public var query: String
    /// Where the changes since are to be had, as the service wrote it; nil where it said nothing.
    public var deltaLink: String?

    public init(query: String, deltaLink: String? = nil) {
        self.query = query
        self.deltaLink = deltaLink
    }
}
