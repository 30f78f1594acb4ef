import Operations

/// The downloads of the defining queries: their runs, links and remaining work.
struct QueryBookkeeping {
    let storage: WorkingSet

    /// Starts, restarts or resumes the downloads of queries.
    ///
    /// The state of a query contains everything that is known about its download, which may run while the app works and
    /// may have started before the store was last opened.
    func start(_ starts: [QueryStart], run: SequenceNumber) throws(StateError) {
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

    /// Removes the links of a query whose targets the store does not have.
    func forgetOpenLinks(of query: String) throws(StateError) {
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

    /// Requires all queries to be downloaded in full. No delta reports new properties of entities that the store
    /// already has.
    func forgetDownloads() throws(StateError) {
        for var query in try storage.bookkeeping.queries() where query.run != 0 || query.isComplete {
            query.run = 0
            query.isComplete = false
            try storage.bookkeeping.putQuery(query)
        }
    }
}
