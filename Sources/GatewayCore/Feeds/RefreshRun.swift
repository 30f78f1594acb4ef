/// The comparison of one whole reading of a feed with the generation before it.
package struct RefreshRun: Sendable {
    private struct Entry {
        let digest: RowDigest
        var wasSeen = false
    }

    private var base: [String: Entry]
    private var changed: [String: FeedRow] = [:]
    /// The number of different rows that were read.
    package private(set) var rows = 0
    /// The approximate size in memory of the changed and the new rows, in bytes.
    package private(set) var bytes = 0

    /// - Parameter base: The digests of the rows of the generation before.
    package init(base: [String: RowDigest]) {
        self.base = base.mapValues { Entry(digest: $0) }
    }

    /// Adds a row that was read. If the same row is read twice, because it moved between two pages, the last one counts.
    package mutating func add(_ row: FeedRow) { add(row.key, row.digest, body: row.body) }

    /// Adds a row that was read. The body is made only if the row has changed.
    package mutating func add(_ key: String, _ digest: RowDigest, body: @autoclosure () -> [UInt8]) {
        guard let index = base.index(forKey: key) else {
            if hold(FeedRow(key: key, digest: digest, body: body())) { rows += 1 }
            return
        }
        if !base.values[index].wasSeen {
            base.values[index].wasSeen = true
            rows += 1
        }
        if base.values[index].digest != digest {
            _ = hold(FeedRow(key: key, digest: digest, body: body()))
        } else if !changed.isEmpty, let former = changed.removeValue(forKey: key) {
            bytes -= former.size
        }
    }

    /// - Returns: Whether no row with this key was held.
    private mutating func hold(_ row: FeedRow) -> Bool {
        bytes += row.size
        guard let former = changed.updateValue(row, forKey: row.key) else { return true }
        bytes -= former.size
        return false
    }

    /// The keys of the generation before that were not read, sorted.
    package var missing: [String] { base.filter { !$0.value.wasSeen }.map(\.key).sorted() }

    /// The changed and the new rows, sorted by key.
    package var changes: [FeedRow] { changed.values.sorted { $0.key < $1.key } }
}

/// The bounds on one reading of a feed.
package struct ReadingLimits: Sendable, Hashable {
    package let feed: String
    package let rows: Int
    package let bytes: Int

    /// - Parameters:
    ///   - feed: The name of the feed for errors.
    ///   - rows: The maximum number of rows.
    ///   - bytes: The maximum size in memory of the changed and the new rows.
    package init(feed: String, rows: Int, bytes: Int) {
        self.feed = feed
        self.rows = rows
        self.bytes = bytes
    }

    /// Throws an error that names the parameter to raise if a reading exceeds a bound.
    package func check(_ run: RefreshRun) throws(FeedError) {
        guard run.rows <= rows else {
            throw FeedError(
                "The feed \(feed) has more than \(rows) rows. Raise feed_rows in [gateway], or select fewer rows.",
                cause: .limit)
        }
        guard run.bytes <= bytes else {
            throw FeedError(
                "The changed rows of the feed \(feed) need more than \(bytes) bytes of memory. Raise feed_bytes in [gateway], or select fewer rows or properties.",
                cause: .limit)
        }
    }
}

/// The decision about rows that a whole reading did not contain.
///
/// A reading in pages is no snapshot: a row that moves between two pages can be missed. A missing row is therefore not
/// removed before it was checked.
package enum RemovalCheck: Sendable, Hashable {
    /// Nothing is missing.
    case nothing
    /// Each missing row is checked by a request.
    case check
    /// The feed is read a second time; a row that is missing again is removed.
    case readAgain
    /// So many rows are missing that the service or its permissions are probably faulty. Nothing is published until the
    /// operator accepts it.
    case refuse

    /// The largest number of rows that are checked one by one.
    package static let checks = 200
    /// The number of missing rows up to which a share of the rows means nothing.
    static let smallLoss = 20

    /// Decides about a complete reading. A reading that ended early removes nothing, and is not judged.
    ///
    /// - Parameters:
    ///   - canCheck: Whether a request for a single row shows whether it is in the result.
    ///   - isAccepted: Whether the operator has accepted the removals.
    package init(missing: Int, base: Int, canCheck: Bool, isAccepted: Bool) {
        if missing == 0 {
            self = .nothing
        } else if !isAccepted, missing > Self.smallLoss, missing * 2 > base {
            self = .refuse
        } else {
            self = canCheck && missing <= Self.checks ? .check : .readAgain
        }
    }

    /// The result of the check of one row.
    package enum Presence: Sendable, Hashable {
        case present
        case gone(RemovalReason)
        /// The response shows nothing: the refresh fails.
        case unknown
    }

    /// Interprets the response to a request for the row.
    ///
    /// - Parameters:
    ///   - isEntity: Whether the request was for the entity; otherwise for a collection with at most the row.
    ///   - count: The number of entities in the collection, or `nil` if it could not be read.
    package static func presence(status: Int, isEntity: Bool, count: Int?) -> Presence {
        switch status {
        case 404 where isEntity, 410 where isEntity: .gone(.deleted)
        case 200 where isEntity: .present
        case 200: count.map { $0 > 0 ? .present : .gone(.changed) } ?? .unknown
        default: .unknown
        }
    }
}

/// The order of the pages of a reading. It ends a reading whose links do not end.
package struct PageSequence: Sendable {
    private var seen: Set<String> = []
    private let limit: Int

    package init(limit: Int = 1_000_000) { self.limit = limit }

    /// Returns whether the link leads to a page that was not read.
    package mutating func follows(_ link: String) -> Bool {
        seen.count < limit && seen.insert(link).inserted
    }
}
