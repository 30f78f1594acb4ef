import EDM
public import Operations

/// The bookkeeping, with updates of the digest.
extension WorkingSet {
    public func undoneOperations() throws(StateError) -> [UndoneOperation] { try bookkeeping.undoneOperations() }
    public func undoneOperation(_ sequence: SequenceNumber) throws(StateError) -> UndoneOperation? {
        try bookkeeping.undoneOperation(sequence)
    }
    public func putUndone(_ operation: UndoneOperation) throws(StateError) {
        try requireBacking()
        touched?.undone.insert(operation.sequence)
        if tally.isKept { tally.replace(try undoneOperation(operation.sequence), by: operation) }
        try bookkeeping.putUndone(operation)
    }
    public func removeUndone(_ sequence: SequenceNumber) throws(StateError) {
        try requireBacking()
        touched?.undone.insert(sequence)
        if tally.isKept { tally.replace(try undoneOperation(sequence), by: nil as UndoneOperation?) }
        try bookkeeping.removeUndone(sequence)
    }

    public func openBatches() throws(StateError) -> [OpenBatch] { try bookkeeping.openBatches() }
    public func openBatch(_ batch: BatchID) throws(StateError) -> OpenBatch? { try bookkeeping.openBatch(batch) }
    public func putOpenBatch(_ batch: OpenBatch) throws(StateError) {
        try requireBacking()
        touched?.batches.insert(batch.batch)
        if tally.isKept {
            let old = try openBatch(batch.batch)
            tally.replace(old.map(SnapshotItem.openBatch), by: .openBatch(batch))
        }
        try bookkeeping.putOpenBatch(batch)
    }
    public func removeOpenBatch(_ batch: BatchID) throws(StateError) {
        try requireBacking()
        touched?.batches.insert(batch)
        if tally.isKept {
            let old = try openBatch(batch)
            tally.replace(old.map(SnapshotItem.openBatch), by: nil)
        }
        try bookkeeping.removeOpenBatch(batch)
    }

    public func mergeBase(_ id: EntityID) throws(StateError) -> MergeBase? { try bookkeeping.mergeBase(id) }
    public func mergeBases() throws(StateError) -> [EntityID] { try bookkeeping.mergeBases() }
    public func hasMergeBases() throws(StateError) -> Bool {
        if let knownHasAncestors { return knownHasAncestors }
        let found = try bookkeeping.hasMergeBases()
        knownHasAncestors = found
        return found
    }
    public func putMergeBase(_ mergeBase: MergeBase) throws(StateError) {
        try requireBacking()
        touched?.mergeBases.insert(mergeBase.id)
        knownHasAncestors = true
        if tally.isKept {
            let old = try self.mergeBase(mergeBase.id)
            tally.replace(old.map(SnapshotItem.ancestor), by: .ancestor(mergeBase))
        }
        try bookkeeping.putMergeBase(mergeBase)
    }
    public func removeMergeBase(_ id: EntityID) throws(StateError) {
        try requireBacking()
        touched?.mergeBases.insert(id)
        knownHasAncestors = nil
        if tally.isKept {
            let old = try mergeBase(id)
            tally.replace(old.map(SnapshotItem.ancestor), by: nil)
        }
        try bookkeeping.removeMergeBase(id)
    }

    public func streams(of id: EntityID) throws(StateError) -> [StreamImage] { try bookkeeping.streams(of: id) }
    public func putStreams(_ streams: [StreamImage], of id: EntityID) throws(StateError) {
        try requireBacking()
        touched?.streams.insert(id)
        if tally.isKept {
            let old = try self.streams(of: id)
            tally.replace(
                old.isEmpty ? nil : .streams(id, old), by: streams.isEmpty ? nil : .streams(id, streams))
        }
        try bookkeeping.putStreams(streams, of: id)
    }

    // MARK: Downloads and uploads

    public func events() throws(StateError) -> [StoreEvent] { try bookkeeping.events() }
    public func putEvents(_ events: [StoreEvent]) throws(StateError) {
        try requireBacking()
        touched?.hasEvents = true
        if tally.isKept { replace(try self.events(), by: events, SnapshotItem.events) }
        try bookkeeping.putEvents(events)
    }

    public func openLinks() throws(StateError) -> [OpenLink] { try bookkeeping.openLinks() }
    public func putOpenLinks(_ links: [OpenLink]) throws(StateError) {
        try requireBacking()
        touched?.hasOpenLinks = true
        if tally.isKept { replace(try openLinks(), by: links, SnapshotItem.openLinks) }
        try bookkeeping.putOpenLinks(links)
    }

    public func quarantine() throws(StateError) -> [QuarantineEntry] { try bookkeeping.quarantine() }
    public func putQuarantine(_ entries: [QuarantineEntry]) throws(StateError) {
        try requireBacking()
        touched?.hasQuarantine = true
        if tally.isKept { replace(try quarantine(), by: entries, SnapshotItem.quarantine) }
        try bookkeeping.putQuarantine(entries)
    }

    /// Replaces a list. An empty list is not an item.
    private func replace<T>(_ old: [T], by new: [T], _ item: ([T]) -> SnapshotItem) {
        tally.replace(old.isEmpty ? nil : item(old), by: new.isEmpty ? nil : item(new))
    }

    // MARK: Defining queries

    public func queries() throws(StateError) -> [QueryState] { try bookkeeping.queries() }
    public func putQuery(_ query: QueryState) throws(StateError) {
        try changeQueries { () throws(StateError) in try bookkeeping.putQuery(query) }
    }
    public func removeQuery(_ name: String) throws(StateError) {
        try changeQueries { () throws(StateError) in try bookkeeping.removeQuery(name) }
    }

    private func changeQueries(_ body: () throws(StateError) -> Void) throws(StateError) {
        try requireBacking()
        touched?.hasQueries = true
        guard tally.isKept else { return try body() }
        let old = try queries()
        try body()
        tally.replace(old, by: try queries())
    }

    public func isCovered(_ id: EntityID) throws(StateError) -> Bool { try bookkeeping.isCovered(id) }
    public func isCovered(_ id: EntityID, by query: String) throws(StateError) -> Bool {
        try bookkeeping.isCovered(id, by: query)
    }

    public func cover(_ id: EntityID, query: String, run: SequenceNumber) throws(StateError) {
        try requireBacking()
        touched?.coverage.insert(id)
        if tally.isKept {
            let old = coverage(of: id)[query]
            tally.replace(
                old.map { .coverage(query: query, id, run: $0) }, by: .coverage(query: query, id, run: run))
        }
        try bookkeeping.cover(id, query: query, run: run)
    }

    public func drainUncovered(query: String, before run: SequenceNumber) throws(StateError) -> [EntityID] {
        try requireBacking()
        guard tally.isKept else {
            let found = try bookkeeping.drainUncovered(query: query, before: run)
            touched?.coverage.formUnion(found)
            return found
        }
        let covered = (bookkeeping as? MemoryBookkeeping)?.covered.filter {
            coverage(of: $0)[query].map { $0 < run } ?? false
        }
        let found = (covered ?? []).sorted()
        for id in found { try uncover(id, query: query) }
        return found
    }

    public func uncover(_ id: EntityID, query: String?) throws(StateError) {
        try requireBacking()
        touched?.coverage.insert(id)
        if tally.isKept {
            for (name, run) in coverage(of: id) where query == nil || name == query {
                tally.replace(.coverage(query: name, id, run: run), by: nil)
            }
        }
        try bookkeeping.uncover(id, query: query)
    }

    /// Returns the runs that delivered the entity, by query. Only without a backing.
    func coverage(of id: EntityID) -> [String: SequenceNumber] {
        (bookkeeping as? MemoryBookkeeping)?.coverage(of: id) ?? [:]
    }
}
