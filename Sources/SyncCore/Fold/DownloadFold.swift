import Operations

/// The effects of one record of a download, and the entities that it removes.
struct DownloadFold {
    let sequence: SequenceNumber
    let time: Timestamp
    /// The number of entities that the record removed, including those kept for pending operations.
    private(set) var removed = 0

    init(_ sequence: SequenceNumber, _ time: Timestamp) {
        self.sequence = sequence
        self.time = time
    }

    mutating func apply(_ page: DownloadPage, to layers: inout LayeredState) throws(StateError) {
        try layers.beginRebase()
        try layers.recordShownEffects(page)
        try layers.apply(page.entities, of: sequence)
        let query = try layers.storage.bookkeeping.queries().first { $0.query.name == page.query }
        if let query {
            for place in page.entities.indices {
                try layers.storage.bookkeeping.cover(page.entities[place].entity, query: page.query, run: query.run)
            }
            for id in page.unchanged { try layers.storage.bookkeeping.cover(id, query: page.query, run: query.run) }
        }
        for id in page.removed { try layers.storage.bookkeeping.uncover(id, query: nil) }
        try removeUncovered(page.removed, byOthers: true, &layers)
        for id in page.left { try layers.storage.bookkeeping.uncover(id, query: page.query) }
        try removeUncovered(page.left, byOthers: true, &layers)
        if !page.links.isEmpty {
            try layers.editForOthers { e throws(StateError) in
                e.download = sequence
                for link in page.links { try e.apply(link) }
            }
        }
        // Without a query or a run the download cannot be resumed: a record was lost, or the query was replaced.
        if var query, query.run != 0, let next = page.next {
            query.next = QueryState.ServiceLink(url: next, time: time)
            try layers.storage.bookkeeping.putQuery(query)
        }
    }

    mutating func finish(_ finished: DownloadFinished, in layers: inout LayeredState) throws(StateError) {
        let name = finished.query
        guard var state = try layers.storage.bookkeeping.queries().first(where: { $0.query.name == name }),
            state.run != 0
        else { return }
        try layers.beginRebase()
        let quarantine = try QuarantineFold(storage: layers.storage).keep(
            of: name, since: try layers.storage.quarantineStart(of: state))
        // A delta reports removals. Entities that were created here are only assumed to belong to the query: if the
        // delta does not contain them, they do not.
        let run = state.isDelta ? 1 : state.run
        // An entity that could not be identified may be any of those that were not delivered.
        if !quarantine.contains(where: \.entity.hidesOthers) {
            try removeUncovered(
                try layers.storage.bookkeeping.drainUncovered(query: name, before: run), byOthers: true, &layers)
        }
        state.isComplete = true
        state.next = nil
        state.deltaLink = finished.deltaLink.map { QueryState.ServiceLink(url: $0, time: time) }
        state.downloaded = time
        try layers.storage.bookkeeping.putQuery(state)
        try StoreEventFold(storage: layers.storage).addDownload(of: name, sequence, time)
    }

    mutating func removeQuery(_ name: String, from layers: inout LayeredState) throws(StateError) {
        try layers.beginRebase()
        try removeUncovered(
            try layers.storage.bookkeeping.drainUncovered(query: name, before: .max), byOthers: false, &layers)
        try layers.storage.bookkeeping.removeQuery(name)
        try QueryBookkeeping(storage: layers.storage).forgetOpenLinks(of: name)
        _ = try QuarantineFold(storage: layers.storage).keep(of: name, since: .max)
    }

    /// - Parameter byOthers: Whether the data of the service changed, and not the queries.
    private mutating func removeUncovered(_ ids: [EntityID], byOthers: Bool, _ layers: inout LayeredState)
        throws(StateError)
    {
        for id in ids where try !layers.storage.bookkeeping.isCovered(id) {
            removed += 1
            let hasPending = try !layers.storage.pendingOperations(naming: id).isEmpty
            let removal: (inout StateEditor) throws(StateError) -> Void = { e throws(StateError) in
                try e.removeFromBase(id, hasPending: hasPending)
            }
            if byOthers { try layers.editForOthers(removal) } else { try layers.edit(.base, removal) }
        }
    }
}
