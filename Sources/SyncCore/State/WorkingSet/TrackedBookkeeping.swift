import EDM
package import Operations

/// The bookkeeping of a working set: a storage whose changes are tracked.
///
/// With a backing, the storage is that of the backing, because these items are few or change a page at a time.
package final class TrackedBookkeeping: BookkeepingStorage {
    private let storage: any BookkeepingStorage
    private let tracking: StateTracking
    /// Whether there are merge bases; nil if unknown.
    private var knownHasMergeBases: Bool?
    /// Whether there are undone operations; nil if unknown.
    private var knownHasUndone: Bool?

    init(_ storage: any BookkeepingStorage, _ tracking: StateTracking) {
        self.storage = storage
        self.tracking = tracking
    }

    /// Discards cached results of the storage after a rollback.
    func invalidateCaches() { (knownHasMergeBases, knownHasUndone) = (nil, nil) }

    /// Returns an independent copy. Only without a backing.
    func copy(_ tracking: StateTracking) -> TrackedBookkeeping {
        TrackedBookkeeping(memory?.copy() ?? MemoryBookkeeping(), tracking)
    }

    /// The storage, if there is no backing.
    var memory: MemoryBookkeeping? { storage as? MemoryBookkeeping }

    package func undoneOperations() throws(StateError) -> [UndoneOperation] { try storage.undoneOperations() }
    package func undoneOperation(_ sequence: SequenceNumber) throws(StateError) -> UndoneOperation? {
        try storage.undoneOperation(sequence)
    }
    package func hasUndone() throws(StateError) -> Bool {
        if let knownHasUndone { return knownHasUndone }
        let found = try storage.hasUndone()
        knownHasUndone = found
        return found
    }
    package func putUndone(_ operation: UndoneOperation) throws(StateError) {
        try tracking.requireBacking()
        knownHasUndone = true
        tracking.dirtyItems?.undone.insert(operation.sequence)
        if tracking.digest.isKept { tracking.digest.replace(try undoneOperation(operation.sequence), by: operation) }
        try storage.putUndone(operation)
    }
    package func removeUndone(_ sequence: SequenceNumber) throws(StateError) {
        try tracking.requireBacking()
        knownHasUndone = nil
        tracking.dirtyItems?.undone.insert(sequence)
        if tracking.digest.isKept {
            tracking.digest.replace(try undoneOperation(sequence), by: nil as UndoneOperation?)
        }
        try storage.removeUndone(sequence)
    }

    package func openBatches() throws(StateError) -> [OpenBatch] { try storage.openBatches() }
    package func openBatch(_ batch: BatchID) throws(StateError) -> OpenBatch? { try storage.openBatch(batch) }
    package func putOpenBatch(_ batch: OpenBatch) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.batches.insert(batch.batch)
        if tracking.digest.isKept {
            let old = try openBatch(batch.batch)
            tracking.digest.replace(old.map(SnapshotItem.openBatch), by: .openBatch(batch))
        }
        try storage.putOpenBatch(batch)
    }
    package func removeOpenBatch(_ batch: BatchID) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.batches.insert(batch)
        if tracking.digest.isKept {
            let old = try openBatch(batch)
            tracking.digest.replace(old.map(SnapshotItem.openBatch), by: nil)
        }
        try storage.removeOpenBatch(batch)
    }

    package func mergeBase(_ id: EntityID) throws(StateError) -> MergeBase? { try storage.mergeBase(id) }
    package func mergeBases() throws(StateError) -> [EntityID] { try storage.mergeBases() }
    package func hasMergeBases() throws(StateError) -> Bool {
        if let knownHasMergeBases { return knownHasMergeBases }
        let found = try storage.hasMergeBases()
        knownHasMergeBases = found
        return found
    }
    package func putMergeBase(_ mergeBase: MergeBase) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.mergeBases.insert(mergeBase.id)
        knownHasMergeBases = true
        if tracking.digest.isKept {
            let old = try self.mergeBase(mergeBase.id)
            tracking.digest.replace(old.map(SnapshotItem.ancestor), by: .ancestor(mergeBase))
        }
        try storage.putMergeBase(mergeBase)
    }
    package func removeMergeBase(_ id: EntityID) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.mergeBases.insert(id)
        knownHasMergeBases = nil
        if tracking.digest.isKept {
            let old = try mergeBase(id)
            tracking.digest.replace(old.map(SnapshotItem.ancestor), by: nil)
        }
        try storage.removeMergeBase(id)
    }

    package func streams(of id: EntityID) throws(StateError) -> [StreamImage] { try storage.streams(of: id) }
    package func putStreams(_ streams: [StreamImage], of id: EntityID) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.streams.insert(id)
        if tracking.digest.isKept {
            let old = try self.streams(of: id)
            tracking.digest.replace(
                old.isEmpty ? nil : .streams(id, old), by: streams.isEmpty ? nil : .streams(id, streams))
        }
        try storage.putStreams(streams, of: id)
    }

    // MARK: Downloads and uploads

    package func events() throws(StateError) -> [StoreEvent] { try storage.events() }
    package func putEvents(_ events: [StoreEvent]) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.hasEvents = true
        if tracking.digest.isKept { replace(try self.events(), by: events, SnapshotItem.events) }
        try storage.putEvents(events)
    }

    package func openLinks() throws(StateError) -> [OpenLink] { try storage.openLinks() }
    package func putOpenLinks(_ links: [OpenLink]) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.hasOpenLinks = true
        if tracking.digest.isKept { replace(try openLinks(), by: links, SnapshotItem.openLinks) }
        try storage.putOpenLinks(links)
    }

    package func quarantine() throws(StateError) -> [QuarantineEntry] { try storage.quarantine() }
    package func putQuarantine(_ entries: [QuarantineEntry]) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.hasQuarantine = true
        if tracking.digest.isKept { replace(try quarantine(), by: entries, SnapshotItem.quarantine) }
        try storage.putQuarantine(entries)
    }

    /// Replaces a list. An empty list is not an item.
    private func replace<T>(_ old: [T], by new: [T], _ item: ([T]) -> SnapshotItem) {
        tracking.digest.replace(old.isEmpty ? nil : item(old), by: new.isEmpty ? nil : item(new))
    }

    // MARK: Defining queries

    package func queries() throws(StateError) -> [QueryState] { try storage.queries() }
    package func putQuery(_ query: QueryState) throws(StateError) {
        try changeQueries { () throws(StateError) in try storage.putQuery(query) }
    }
    package func removeQuery(_ name: String) throws(StateError) {
        try changeQueries { () throws(StateError) in try storage.removeQuery(name) }
    }

    private func changeQueries(_ body: () throws(StateError) -> Void) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.hasQueries = true
        guard tracking.digest.isKept else { return try body() }
        let old = try queries()
        try body()
        tracking.digest.replace(old, by: try queries())
    }

    package func isCovered(_ id: EntityID) throws(StateError) -> Bool { try storage.isCovered(id) }
    package func isCovered(_ id: EntityID, by query: String) throws(StateError) -> Bool {
        try storage.isCovered(id, by: query)
    }
    package func awaitsDelivery(_ id: EntityID, by query: String) throws(StateError) -> Bool {
        try storage.awaitsDelivery(id, by: query)
    }

    package func cover(_ id: EntityID, query: String, run: SequenceNumber) throws(StateError) {
        try tracking.requireBacking()
        if tracking.isActive { tracking.dirtyItems?.coverage.insert(id) }
        if tracking.keepsDigest {
            let old = memory?.run(of: id, by: query)
            tracking.digest.replace(
                old.map { .coverage(query: query, id, run: $0) }, by: .coverage(query: query, id, run: run))
        }
        try storage.cover(id, query: query, run: run)
    }

    package func drainUncovered(query: String, before run: SequenceNumber) throws(StateError) -> [EntityID] {
        try tracking.requireBacking()
        guard tracking.digest.isKept else {
            let found = try storage.drainUncovered(query: query, before: run)
            for id in found { tracking.dirtyItems?.coverage.insert(id) }
            return found
        }
        let found = memory?.covered(by: query, before: run) ?? []
        for id in found { try uncover(id, query: query) }
        return found
    }

    package func uncover(_ id: EntityID, query: String?) throws(StateError) {
        try tracking.requireBacking()
        tracking.dirtyItems?.coverage.insert(id)
        if tracking.digest.isKept {
            for (name, runs) in memory?.coverage ?? [] where query == nil || name == query {
                guard let run = runs[id] else { continue }
                tracking.digest.replace(.coverage(query: name, id, run: run), by: nil)
            }
        }
        try storage.uncover(id, query: query)
    }

    // MARK: Passes over the whole bookkeeping

    package func forEachUndone(_ body: (UndoneOperation) throws -> Void) throws { try storage.forEachUndone(body) }

    package func forEachMergeBase(_ body: (MergeBase) throws -> Void) throws { try storage.forEachMergeBase(body) }

    package func forEachStreams(_ body: (EntityID, [StreamImage]) throws -> Void) throws {
        try storage.forEachStreams(body)
    }

    package func forEachCoverage(_ body: (String, EntityID, SequenceNumber) throws -> Void) throws {
        try storage.forEachCoverage(body)
    }
}
