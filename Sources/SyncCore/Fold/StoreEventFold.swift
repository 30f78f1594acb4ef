import Operations

/// Records the latest downloads and uploads.
struct StoreEventFold {
    let storage: WorkingSet

    /// Records the completed download of a query. The queries of one download are one event.
    func addDownload(of query: String, _ sequence: SequenceNumber, _ time: Timestamp) throws(StateError) {
        let began = try storage.header().lastDownload
        var events = try storage.bookkeeping.events()
        var event = StoreEvent(id: sequence, kind: .download, time: time, subset: [], mark: began)
        if let last = events.last, last.kind == .download, last.mark == began {
            event = last
            events.removeLast()
        }
        event.time = time
        if var subset = event.subset {
            if !subset.contains(query) { subset.append(query) }
            let all = try storage.bookkeeping.queries().map(\.query.name)
            event.subset = all.allSatisfy(subset.contains) ? nil : subset
        }
        try storeEvents(events + [event])
    }

    /// Records the response to a batch. A batch without an operation newer than the last response belongs to the same
    /// upload.
    func addUpload(
        _ answered: BatchAnswered, _ sequence: SequenceNumber, _ time: Timestamp
    ) throws(StateError) {
        guard answered.showsService else { return }
        var events = try storage.bookkeeping.events()
        var event = StoreEvent(id: sequence, kind: .upload, time: time, mark: sequence)
        if let last = events.last, last.kind == .upload,
            answered.outcomes.indices.allSatisfy({ answered.outcomes[$0].operation < last.mark })
        {
            event = last
            events.removeLast()
            (event.time, event.mark) = (time, sequence)
        }
        try storeEvents(events + [event])
    }

    private func storeEvents(_ events: [StoreEvent]) throws(StateError) {
        try storage.bookkeeping.putEvents(events.suffix(StoreEvent.limit))
    }
}
