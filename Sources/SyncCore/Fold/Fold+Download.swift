import Operations

/// What a download brings, and what it takes away.
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

    /// A download goes on while the app works, and may be one that began before it was last opened: what is in a query's
    /// state is all that is known of it.
    func startDownload(_ starts: [QueryStart], run: SequenceNumber) throws(StateError) {
        // Not by what is only another way to go on with it.
        if starts.contains(where: { $0.mode != .restarted }) {
            var header = try storage.header()
            header.lastDownload = run
            try storage.setHeader(header)
        }
        let modes = Dictionary(starts.map { ($0.query, $0.mode) }, uniquingKeysWith: { _, last in last })
        for var state in try storage.queries() {
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
            try storage.putQuery(state)
            // Everything says of every link that it tells.
            if mode == .full || mode == .restarted { try forgetOpenLinks(of: state.query.name) }
        }
    }

    private func forgetOpenLinks(of query: String) throws(StateError) {
        let links = try storage.openLinks()
        let others = links.filter { $0.query != query }
        if others.count != links.count { try storage.putOpenLinks(others) }
    }

    /// What was created here since a download was interrupted is on none of the pages that were read before, and need be on
    /// none of the others: it stays until a download of everything does not bring it.
    private func keepCreated(of state: QueryState) throws(StateError) {
        guard state.run != 0 else { return }
        for id in try storage.takeUncovered(query: state.query.name, before: 1) {
            try storage.cover(id, query: state.query.name, run: state.run)
        }
    }

    mutating func apply(_ page: DownloadPage, _ sequence: SequenceNumber, _ time: Timestamp) throws(StateError) {
        try unwind()
        try apply(page.entities, of: sequence)
        removedByDownload = 0
        let query = try storage.queries().first { $0.query.name == page.query }
        if let query {
            for image in page.entities { try storage.cover(image.entity, query: page.query, run: query.run) }
            for id in page.unchanged { try storage.cover(id, query: page.query, run: query.run) }
        }
        for id in page.removed { try storage.uncover(id, query: nil) }
        try removeUncovered(page.removed, byOthers: true)
        for id in page.left { try storage.uncover(id, query: page.query) }
        try removeUncovered(page.left, byOthers: true)
        if !page.links.isEmpty {
            try editForOthers { e throws(StateError) in
                e.download = sequence
                for link in page.links { try e.apply(link) }
            }
        }
        // Where a record was lost, or the query became another one, there is nothing that could be gone on with.
        if var query, query.run != 0, let next = page.next {
            query.next = QueryState.ServiceLink(url: next, time: time)
            try storage.putQuery(query)
        }
    }

    mutating func finishDownload(
        _ finished: DownloadFinished, _ sequence: SequenceNumber, _ time: Timestamp
    ) throws(StateError) {
        let name = finished.query
        removedByDownload = 0
        guard var state = try storage.queries().first(where: { $0.query.name == name }), state.run != 0 else { return }
        try unwind()
        let quarantine = try keepQuarantine(of: name, since: try storage.quarantineStart(of: state))
        // Changes tell what was removed. Only what was created here belongs to the query by our guess: where the service's
        // changes do not show it, it does not.
        let run = state.isDelta ? 1 : state.run
        // What could not be identified may be any of those that did not come.
        if !quarantine.contains(where: \.entity.hidesOthers) {
            try removeUncovered(try storage.takeUncovered(query: name, before: run), byOthers: true)
        }
        state.isComplete = true
        state.next = nil
        state.deltaLink = finished.deltaLink.map { QueryState.ServiceLink(url: $0, time: time) }
        state.downloaded = time
        try storage.putQuery(state)
        try noteDownload(of: name, sequence, time)
    }

    mutating func removeQuery(_ name: String) throws(StateError) {
        try unwind()
        try removeUncovered(try storage.takeUncovered(query: name, before: .max), byOthers: false)
        try storage.removeQuery(name)
        try forgetOpenLinks(of: name)
        _ = try keepQuarantine(of: name, since: .max)
    }

    /// - Parameter byOthers: whether it is the service's data that changed, and not the queries.
    private mutating func removeUncovered(_ ids: [EntityID], byOthers: Bool) throws(StateError) {
        for id in ids where try !storage.isCovered(id) {
            removedByDownload += 1
            let hasPending = try !storage.pendingOperations(naming: id).isEmpty
            let removal: (inout StateEditor) throws(StateError) -> Void = { e throws(StateError) in
                try e.removeFromBase(id, hasPending: hasPending)
            }
            if byOthers { try editForOthers(removal) } else { try edit(.base, removal) }
        }
    }

    /// What the service said may not be all any more: everything has to be downloaded again.
    func forgetServiceLinks() throws(StateError) {
        for var query in try storage.queries() {
            query.deltaLink = nil
            query.next = nil
            query.downloaded = nil
            try storage.putQuery(query)
        }
    }
}
