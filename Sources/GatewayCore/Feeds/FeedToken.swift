/// The content of a delta link or of a link to the next page. Clients receive it in encrypted form only.
package struct FeedToken: Sendable, Hashable {
    package enum ReadingPosition: Sendable, Hashable {
        /// The client has all rows of this generation.
        case delta
        /// The client has the rows of the generation up to this key.
        case rows(after: String)
        /// The client has all rows of generation `start`, and the changes up to this position.
        case changes(start: Int64, after: FeedPosition)
    }

    package var feed: Int64
    /// The random bytes of the feed. They prevent a new feed with the same number from accepting tokens of an earlier
    /// one.
    package var salt: [UInt8]
    package var generation: Int64
    /// A digest of the user, if the rows are only for this user; empty for a shared feed. The permission to read a
    /// shared feed is checked for each request, independently of the token.
    package var audience: [UInt8]
    package var place: ReadingPosition
    /// For a page, the start time of the reading of the service that the pages contain. A user who has changed data
    /// since then must read from the first page again.
    package var began: Int64

    package init(
        feed: Int64, salt: [UInt8], generation: Int64, audience: [UInt8] = [], place: ReadingPosition, began: Int64 = 0
    ) {
        self.began = began
        self.feed = feed
        self.salt = salt
        self.generation = generation
        self.audience = audience
        self.place = place
    }

    // MARK: Encoding

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.number(1)
        writer.wide(feed)
        writer.string(salt)
        writer.wide(generation)
        writer.string(audience)
        writer.wide(began)
        switch place {
        case .delta: writer.number(0)
        case .rows(let key):
            writer.number(1)
            writer.string(Array(key.utf8))
        case .changes(let start, let position):
            writer.number(2)
            writer.wide(start)
            writer.wide(position.since)
            writer.string(Array(position.key.utf8))
        }
        return writer.bytes
    }

    /// Decodes a token. Returns `nil` for any other bytes.
    package init?(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.number() == 1, let feed = reader.wide(), let salt = reader.string(),
            let generation = reader.wide(),
            let audience = reader.string(), let began = reader.wide(), let form = reader.number()
        else { return nil }
        switch form {
        case 0: place = .delta
        case 1:
            guard let key = reader.text() else { return nil }
            place = .rows(after: key)
        case 2:
            guard let start = reader.wide(), let since = reader.wide(), let key = reader.text() else { return nil }
            place = .changes(start: start, after: FeedPosition(since: since, key: key))
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
        (self.feed, self.generation, self.began) = (feed, generation, began)
        (self.salt, self.audience) = (Array(salt), Array(audience))
    }

    /// Returns whether a client can continue from the token. If not, the response is 410, and the client reads
    /// everything.
    package func isValid(for head: FeedHead, audience: [UInt8] = []) -> Bool {
        let oldest = if case .changes(let start, _) = place { start } else { generation }
        return feed == head.id && salt == head.salt && self.audience == audience && oldest >= head.tokensFrom
            && oldest >= 1 && oldest <= generation && generation <= head.generation
    }
}
