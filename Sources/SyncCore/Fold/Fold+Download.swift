import Operations

/// Downloaded pages, and the entities that downloads remove.
extension Fold {
    mutating func apply(_ images: [EntityImage], of download: SequenceNumber? = nil) throws(StateError) {
        try keepNextEntity(above: images)
        try editForOthers { e throws(StateError) in
            e.download = download
            try e.apply(images, isAnswer: false)
        }
    }

    func keepNextEntity(above images: [EntityImage]) throws(StateError) {
        try keepNextEntity(above: images.lazy.map(\.entity))
    }

    func keepNextEntity(above entities: some Sequence<EntityID>) throws(StateError) {
        var next = try storage.header().nextEntity
        for id in entities where id >= next { next = EntityID(rawValue: id.rawValue &+ 1) }
        try storage.changeHeader { $0.nextEntity = next }
    }

    /// Starts, restarts or resumes the downloads of queries.
    ///
    /// The state of a query contains everything that is known about its download, which may run while the app works and
    /// may have started before the store was last opened.
    func startDownload(_ starts: [QueryStart], run: SequenceNumber) throws(StateError) {
        // A restart continues the same download.
        if starts.contains(where: { $0.mode != .restarted }) {
            var header = try storage.header()
            header.lastDownload = run
            try storage.setHeader(header)
        }
        let modes = Dictionary(starts.map { ($0.query, $0.mode) }, uniquingKeysWith: { _, last in last })
        for var state in try storage.bookkeeping.queries() {
            guard let mode = modes[state.query.name] else { continue }
            state.isComplete = false
            switch mode {
            case .full, .restarted:
                state.run = run
                state.isDelta = false
                state.deltaLink = nil
                state.next = nil
            case .delta:
                state.isDelta = true
                state.next = nil
            case .resumed: try keepCreated(of: state)
            }
            try storage.bookkeeping.putQuery(state)
            // A full download reports every link again.
            if mode == .full || mode == .restarted { try forgetOpenLinks(of: state.query.name) }
        }
    }

    private func forgetOpenLinks(of query: String) throws(StateError) {
        let links = try storage.bookkeeping.openLinks()
        let others = links.filter { $0.query != query }
        if others.count != links.count { try storage.bookkeeping.putOpenLinks(others) }
    }

    /// Covers the entities that were created here since a download was interrupted. The pages that were already read do
    /// not contain them, and the remaining ones need not. They stay until a full download does not deliver them.
    private func keepCreated(of state: QueryState) throws(StateError) {
        guard state.run != 0 else { return }
        for id in try storage.bookkeeping.drainUncovered(query: state.query.name, before: 1) {
            try storage.bookkeeping.cover(id, query: state.query.name, run: state.run)
        }
    }

    mutating func apply(_ page: DownloadPage, _ sequence: SequenceNumber, _ time: Timestamp) throws(StateError) {
        try beginRebase()
        try apply(page.entities, of: sequence)
        removedByDownload = 0
        let query = try storage.bookkeeping.queries().first { $0.query.name == page.query }
        if let query {
            for image in page.entities {
                try storage.bookkeeping.cover(image.entity, query: page.query, run: query.run)
            }
            for id in page.unchanged { try storage.bookkeeping.cover(id, query: page.query, run: query.run) }
        }
        for id in page.removed { try storage.bookkeeping.uncover(id, query: nil) }
        try removeUncovered(page.removed, byOthers: true)
        for id in page.left { try storage.bookkeeping.uncover(id, query: page.query) }
        try removeUncovered(page.left, byOthers: true)
        if !page.links.isEmpty {
            try editForOthers { e throws(StateError) in
                e.download = sequence
                for link in page.links { try e.apply(link) }
            }
        }
        // Without a query or a run the download cannot be resumed: a record was lost, or the query was replaced.
        if var query, query.run != 0, let next = page.next {
            query.next = QueryState.ServiceLink(url: next, time: time)
            try storage.bookkeeping.putQuery(query)
        }
    }

    mutating func finishDownload(
        _ finished: DownloadFinished, _ sequence: SequenceNumber, _ time: Timestamp
    ) throws(StateError) {
        let name = finished.query
        removedByDownload = 0
        guard var state = try storage.bookkeeping.queries().first(where: { $0.query.name == name }), state.run != 0
        else { return }
        try beginRebase()
        let quarantine = try keepQuarantine(of: name, since: try storage.quarantineStart(of: state))
        // A delta reports removals. Entities that were created here are only assumed to belong to the query: if the
        // delta does not contain them, they do not.
        let run = state.isDelta ? 1 : state.run
        // An entity that could not be identified may be any of those that were not delivered.
        if !quarantine.contains(where: \.entity.hidesOthers) {
            try removeUncovered(try storage.bookkeeping.drainUncovered(query: name, before: run), byOthers: true)
        }
        state.isComplete = true
        state.next = nil
        state.deltaLink = finished.deltaLink.map { QueryState.ServiceLink(url: $0, time: time) }
        state.downloaded = time
        try storage.bookkeeping.putQuery(state)
        try noteDownload(of: name, sequence, time)
    }

    mutating func removeQuery(_ name: String) throws(StateError) {
        try beginRebase()
        try removeUncovered(try storage.bookkeeping.drainUncovered(query: name, before: .max), byOthers: false)
        try storage.bookkeeping.removeQuery(name)
        try forgetOpenLinks(of: name)
        _ = try keepQuarantine(of: name, since: .max)
    }

    /// - Parameter byOthers: Whether the data of the service changed, and not the queries.
    private mutating func removeUncovered(_ ids: [EntityID], byOthers: Bool) throws(StateError) {
        for id in ids where try !storage.bookkeeping.isCovered(id) {
            removedByDownload += 1
            let hasPending = try !storage.pendingOperations(naming: id).isEmpty
            let removal: (inout StateEditor) throws(StateError) -> Void = { e throws(StateError) in
                try e.removeFromBase(id, hasPending: hasPending)
            }
            if byOthers { try editForOthers(removal) } else { try edit(.base, removal) }
        }
    }

    /// Discards the links for deltas and further pages, because earlier responses may be incomplete now. All queries
    /// have to be downloaded again.
    func forgetServiceLinks() throws(StateError) {
        for var query in try storage.bookkeeping.queries() {
            query.deltaLink = nil
            query.next = nil
            query.downloaded = nil
            try storage.bookkeeping.putQuery(query)
        }
    }
}
