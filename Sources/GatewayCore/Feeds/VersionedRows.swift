/// The rows of a feed in all generations that are kept, in memory. It defines the meaning of the storages.
package struct VersionedRows: Sendable {
    private struct Version {
        let since: Int64
        var until: Int64
        let change: FeedChange
    }

    private var versions: [String: [Version]] = [:]

    package init() {}

    /// Adds a generation. `generation` is greater than all before.
    package mutating func publish(_ changes: [FeedChange], generation: Int64) {
        for change in changes {
            var list = versions[change.key] ?? []
            if let last = list.indices.last, list[last].until == .max { list[last].until = generation }
            list.append(Version(since: generation, until: .max, change: change))
            versions[change.key] = list
        }
    }

    /// Returns the rows of a generation whose keys follow `after`, sorted by key.
    package func rows(at generation: Int64, after: String?, limit: Int) -> [FeedItem] {
        let found = versions.filter { after.map { [key = $0.key] in bytes($0, precede: key) } ?? true }
            .compactMap { key, list -> FeedItem? in
                guard let version = list.last(where: { $0.since <= generation }), version.until > generation,
                    case .row = version.change
                else { return nil }
                return FeedItem(since: version.since, change: version.change)
            }
        return Array(found.sorted { bytes($0.key, precede: $1.key) }.prefix(limit))
    }

    /// Returns the changes between two generations, each row at most once, sorted by generation and key.
    package func changes(
        from start: Int64, to end: Int64, after: FeedPosition?, limit: Int
    ) -> [FeedItem] {
        let found = versions.values.compactMap { list -> FeedItem? in
            guard let version = list.last(where: { $0.since <= end }), version.since > start, version.until > end else {
                return nil
            }
            if let after, !after.precedes(version.since, version.change.key) { return nil }
            return FeedItem(since: version.since, change: version.change)
        }
        return Array(
            found.sorted { $0.since != $1.since ? $0.since < $1.since : bytes($0.key, precede: $1.key) }.prefix(limit))
    }

    package var digests: [String: RowDigest] {
        versions.compactMapValues { list in
            guard let last = list.last, last.until == .max, case .row(let row) = last.change else { return nil }
            return row.digest
        }
    }

    /// Deletes versions that no reader of `oldest` or of a later generation needs.
    package mutating func forget(before oldest: Int64) {
        versions = versions.compactMapValues { list in
            let kept = list.filter { version in
                if case .removed = version.change { return version.until > oldest && version.since > oldest }
                return version.until > oldest
            }
            return kept.isEmpty ? nil : kept
        }
    }
}

/// The order of keys in all storages: by bytes.
private func bytes(_ a: String, precede b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

/// A place in the changes between two generations.
package struct FeedPosition: Sendable, Hashable {
    package let since: Int64
    package let key: String

    package init(since: Int64, key: String) {
        self.since = since
        self.key = key
    }

    func precedes(_ since: Int64, _ key: String) -> Bool {
        self.since != since ? self.since < since : bytes(self.key, precede: key)
    }
}

/// The generations whose changes are still computed, and the feeds that are kept.
package enum FeedRetention {
    /// The shortest time for which a feed is kept that is not configured any more, in milliseconds.
    package static let idleMilliseconds: Int64 = 30 * 24 * 3_600_000

    /// Returns the time of the last reading up to which a feed that is not configured is removed.
    ///
    /// The lifetime of the delta links of a removed feed is not stored. The longest one of the configured feeds stands
    /// for it.
    ///
    /// - Parameter lifetimes: The lifetimes of the delta links of the configured feeds, in milliseconds.
    package static func idleSince(now: Int64, lifetimes: some Sequence<Int64>) -> Int64 {
        let time = lifetimes.reduce(idleMilliseconds, max)
        let (since, overflows) = now.subtractingReportingOverflow(time)
        return overflows ? .min : since
    }

    /// Returns the oldest generation that a client may still have.
    ///
    /// A client may have received a generation until the next one was made. After it, it may return within the
    /// lifetime of a delta link.
    ///
    /// - Parameters:
    ///   - made: The generations that are known and the times at which they were made, in their order.
    ///   - cutoff: The current time less the lifetime.
    package static func oldest(_ made: [(generation: Int64, time: Int64)], cutoff: Int64) -> Int64 {
        for (index, entry) in made.enumerated() {
            let isLast = index == made.count - 1
            if isLast || made[index + 1].time >= cutoff { return entry.generation }
        }
        return 0
    }
}
