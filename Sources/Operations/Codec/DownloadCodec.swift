package import EDM

extension ByteWriter {
    package mutating func definingQuery(_ query: DefiningQuery) {
        string(query.name)
        string(query.query)
        field(DefiningQueryField.automaticallyRetrievesStreams, query.automaticallyRetrievesStreams)
        end()
    }

    mutating func queryStart(_ start: QueryStart) {
        string(start.query)
        field(QueryStartField.mode, start.mode == .full ? nil : UInt64(start.mode.rawValue))
        end()
    }

    /// Writes a page, with the unchanged entities if there are any; see ``RecordCodec/RecordKind/comparedPage``.
    mutating func page(_ page: DownloadPage) {
        string(page.query)
        if !page.unchanged.isEmpty { runs(page.unchanged) }
        list(page.entities) { $0.image($1) }
        field(PageField.removed, list: page.removed) { $0.entity($1) }
        field(PageField.left, list: page.left) { $0.entity($1) }
        field(PageField.links, list: page.links) {
            $0.entity($1.source)
            $0.string($1.navigation)
            $0.optional($1.target) { $0.entity($1) }
            $0.bool($1.isAdded)
        }
        field(PageField.next, page.next)
        end()
    }

    mutating func finished(_ finished: DownloadFinished) {
        string(finished.query)
        field(DownloadFinishedField.deltaLink, finished.deltaLink)
        end()
    }

    package mutating func openLinks(_ links: [OpenLink]) {
        list(links) {
            for text in [$1.query, $1.set, $1.source, $1.navigation, $1.target] { $0.string(text) }
        }
    }

    /// Writes IDs as runs of consecutive numbers: for each run, its length and its distance from the end of the
    /// previous run.
    private mutating func runs(_ ids: [EntityID]) {
        precondition(ids.count <= DownloadPage.unchangedLimit, "A record that no version can read.")
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
    package mutating func definingQuery() throws(CodecError) -> DefiningQuery {
        var query = DefiningQuery(name: try string(), query: try string())
        try fields { r, tag throws(CodecError) in
            guard DefiningQueryField(rawValue: tag) == .automaticallyRetrievesStreams else { return false }
            query.automaticallyRetrievesStreams = try r.flag()
            return true
        }
        return query
    }

    mutating func queryStart() throws(CodecError) -> QueryStart {
        var start = QueryStart(query: try string())
        try fields { r, tag throws(CodecError) in
            guard QueryStartField(rawValue: tag) == .mode else { return false }
            guard let mode = DownloadMode(rawValue: try r.byte()), mode != .full else {
                throw r.fail(.invalid("download mode"))
            }
            start.mode = mode
            return true
        }
        return start
    }

    mutating func page(isCompared: Bool) throws(CodecError) -> DownloadPage {
        var page = DownloadPage(query: try string())
        if isCompared { page.unchanged = try runs() }
        page.entities = try images()
        try fields { r, tag throws(CodecError) in
            switch PageField(rawValue: tag) {
            case .removed: page.removed = try r.items { r throws(CodecError) in try r.entity() }
            case .left: page.left = try r.items { r throws(CodecError) in try r.entity() }
            case .links: page.links = try r.items { r throws(CodecError) in try r.changedLink() }
            case .next: page.next = try r.string()
            case nil: return false
            }
            return true
        }
        return page
    }

    private mutating func changedLink() throws(CodecError) -> DownloadPage.ChangedLink {
        DownloadPage.ChangedLink(
            source: try entity(), navigation: try name(),
            target: try optional { r throws(CodecError) in try r.entity() }, isAdded: try bool())
    }

    mutating func finished() throws(CodecError) -> DownloadFinished {
        var finished = DownloadFinished(query: try string())
        try fields { r, tag throws(CodecError) in
            guard DownloadFinishedField(rawValue: tag) == .deltaLink else { return false }
            finished.deltaLink = try r.string()
            return true
        }
        return finished
    }

    package mutating func openLinks() throws(CodecError) -> [OpenLink] {
        try list { r throws(CodecError) in
            OpenLink(
                query: try r.string(), set: try r.string(), source: try r.string(), navigation: try r.string(),
                target: try r.string())
        }
    }

    /// Reads at least one run. Adjacent runs are refused, because they are written as one.
    private mutating func runs() throws(CodecError) -> [EntityID] {
        var ids: [EntityID] = []
        var end: UInt64 = 0
        for _ in 0..<(try count()) {
            let distance = try signed()
            let first = end &+ UInt64(bitPattern: distance)
            let length = try unsigned()
            // A few bytes must not cause an unbounded allocation.
            guard length <= UInt64(DownloadPage.unchangedLimit - ids.count) else { throw fail(.overflow) }
            guard length > 0, distance != 0 || ids.isEmpty else { throw fail(.invalid("run of entities")) }
            for offset in 0..<length { ids.append(EntityID(rawValue: first &+ offset)) }
            end = first &+ length
        }
        guard !ids.isEmpty else { throw fail(.invalid("run of entities")) }
        return ids
    }
}
