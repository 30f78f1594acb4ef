/// A row of a feed as the service returned it.
package struct FeedRow: Sendable, Hashable {
    /// The key predicate of the entity with its parentheses, percent-encoded.
    package let key: String
    package let digest: RowDigest
    /// The entity in JSON.
    package let body: [UInt8]

    package init(key: String, digest: RowDigest, body: [UInt8]) {
        self.key = key
        self.digest = digest
        self.body = body
    }

    /// The approximate size of the row in memory and in a storage, in bytes.
    package var size: Int { 64 + key.utf8.count + body.count }
}

/// The reason why a row is no longer in a feed.
package enum RemovalReason: Int64, Sendable, Hashable {
    /// The entity does not exist any more.
    case deleted = 1
    /// The entity may exist, but it is not in the result of the query.
    case changed = 2

    /// The name in V4.
    package var name: String { self == .deleted ? "deleted" : "changed" }
}

/// A change of a feed between two generations.
package enum FeedChange: Sendable, Hashable {
    /// The row is new, or has another content than before.
    case row(FeedRow)
    case removed(key: String, RemovalReason)

    package var key: String {
        switch self {
        case .row(let row): row.key
        case .removed(let key, _): key
        }
    }
}

/// A version of a row in the storage: it is valid from generation ``since`` until the one that replaced it.
package struct FeedItem: Sendable, Hashable {
    package let key: String
    package let since: Int64
    package let change: FeedChange

    package init(since: Int64, change: FeedChange) {
        key = change.key
        self.since = since
        self.change = change
    }
}

/// A feed and its newest generation.
package struct FeedHead: Sendable, Hashable {
    /// The number of the feed in the storage.
    package var id: Int64
    /// Random bytes of this feed: a feed that was created anew has different ones.
    package var salt: [UInt8]
    /// The newest complete generation; 0 if the feed was never read.
    package var generation: Int64 = 0
    /// The time at which the reading began that made the newest generation, or confirmed it. Milliseconds since 1970.
    package var readBegan: Int64?
    /// The oldest generation from which changes can still be computed.
    package var tokensFrom: Int64 = 0
    /// The number of rows.
    package var rows: Int64 = 0
    package var description = FeedDescription()
    /// The reason why the last reading was not published, as a sentence.
    package var trouble: String?
    /// Whether the operator has accepted the removal of most rows.
    package var acceptsRemovals = false

    package init(id: Int64, salt: [UInt8]) {
        self.id = id
        self.salt = salt
    }
}

/// The facts about a feed that its responses repeat.
package struct FeedDescription: Sendable, Hashable {
    /// The context URL of V4, as the service wrote it.
    package var context: String?
    /// The value of `OData-Version`.
    package var version: String?
    package var isLegacy = false

    package init(context: String? = nil, version: String? = nil, isLegacy: Bool = false) {
        self.context = context
        self.version = version
        self.isLegacy = isLegacy
    }
}
