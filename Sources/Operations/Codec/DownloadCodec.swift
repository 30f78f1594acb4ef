package import EDM

/// Encodes the records of a download, each in the oldest record kind that can represent it.
extension ByteWriter {
    mutating func started(_ queries: [QueryStart]) -> RecordCodec.Kind {
        guard queries.contains(where: { $0.mode != .full }) else {
            list(queries) { $0.string($1.query) }
            return .downloadStarted
        }
        list(queries) {
            $0.string($1.query)
            $0.byte($1.mode.rawValue)
        }
        return .downloadStartedByMode
    }

    mutating func page(_ page: DownloadPage) -> RecordCodec.Kind {
        string(page.query)
        list(page.entities) { $0.image($1) }
        guard !page.isPlain else { return .downloadPage }
        precondition(page.unchanged.count <= DownloadPage.unchangedLimit, "A record that no version can read.")
        runs(page.unchanged)
        list(page.removed) { $0.entity($1) }
        list(page.left) { $0.entity($1) }
        list(page.links) {
            $0.entity($1.source)
            $0.string($1.navigation)
            $0.optional($1.target) { $0.entity($1) }
            $0.bool($1.isAdded)
        }
        optional(page.next) { $0.string($1) }
        return .changesPage
    }

    mutating func finished(_ finished: DownloadFinished) -> RecordCodec.Kind {
        string(finished.query)
        guard let link = finished.deltaLink else { return .downloadFinished }
        string(link)
        return .downloadFinishedWithLink
    }

    package mutating func openLinks(_ links: [OpenLink]) {
        list(links) {
            for text in [$1.query, $1.set, $1.source, $1.navigation, $1.target] { $0.string(text) }
        }
    }

    /// Writes IDs as runs of consecutive numbers: for each run, its length and its distance from the end of the
    /// previous run.
    private mutating func runs(_ ids: [EntityID]) {
        var runs: [(first: UInt64, count: UInt64)] = []
        for id in ids {
            if let last = runs.last, id.rawValue == last.first &+ last.count {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((id.rawValue, 1))
            }
        }
        var end: UInt64 = 0
        count(runs.count)
        for run in runs {
            signed(Int64(bitPattern: run.first &- end))
            unsigned(run.count)
            end = run.first &+ run.count
        }
    }
}

extension ByteReader {
    mutating func queryStart() throws(CodecError) -> QueryStart {
        let query = try string()
        guard let mode = DownloadMode(rawValue: try byte()) else { throw fail(.invalid("download mode")) }
        return QueryStart(query: query, mode: mode)
    }

    mutating func changesPage() throws(CodecError) -> DownloadPage {
        DownloadPage(
            query: try string(), entities: try images(), unchanged: try runs(),
            removed: try list { r throws(CodecError) in try r.entity() },
            left: try list { r throws(CodecError) in try r.entity() },
            links: try list { r throws(CodecError) in
                DownloadPage.ChangedLink(
                    source: try r.entity(), navigation: try r.name(),
                    target: try r.optional { r throws(CodecError) in try r.entity() }, isAdded: try r.bool())
            }, next: try optional { r throws(CodecError) in try r.string() })
    }

    package mutating func openLinks() throws(CodecError) -> [OpenLink] {
        try list { r throws(CodecError) in
            OpenLink(
                query: try r.string(), set: try r.string(), source: try r.string(), navigation: try r.string(),
                target: try r.string())
        }
    }

    private mutating func runs() throws(CodecError) -> [EntityID] {
        var ids: [EntityID] = []
        var end: UInt64 = 0
        for _ in 0..<(try count()) {
            let first = end &+ UInt64(bitPattern: try signed())
            let length = try unsigned()
            // A few bytes must not cause an unbounded allocation.
            guard length <= UInt64(DownloadPage.unchangedLimit - ids.count) else { throw fail(.overflow) }
            for offset in 0..<length { ids.append(EntityID(rawValue: first &+ offset)) }
            end = first &+ length
        }
        return ids
    }
}
