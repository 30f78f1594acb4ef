import Operations
import SyncCore

/// The bookkeeping of a ``CountingBacking``.
final class CountingBookkeeping: BookkeepingStorage {
    private let stored: TrackedBookkeeping
    private let accesses: AccessCounter

    init(_ stored: TrackedBookkeeping, _ accesses: AccessCounter) {
        self.stored = stored
        self.accesses = accesses
    }

    func undoneOperations() throws(StateError) -> [UndoneOperation] {
        try accesses.step()
        return try stored.undoneOperations()
    }
    func undoneOperation(_ sequence: SequenceNumber) throws(StateError) -> UndoneOperation? {
        try accesses.step()
        return try stored.undoneOperation(sequence)
    }
    func hasUndone() throws(StateError) -> Bool {
        try accesses.step()
        return try stored.hasUndone()
    }
    func putUndone(_ operation: UndoneOperation) throws(StateError) {
        try accesses.step()
        try stored.putUndone(operation)
    }
    func removeUndone(_ sequence: SequenceNumber) throws(StateError) {
        try accesses.step()
        try stored.removeUndone(sequence)
    }
    func openBatches() throws(StateError) -> [OpenBatch] {
        try accesses.step()
        return try stored.openBatches()
    }
    func openBatch(_ batch: BatchID) throws(StateError) -> OpenBatch? {
        try accesses.step()
        return try stored.openBatch(batch)
    }
    func putOpenBatch(_ batch: OpenBatch) throws(StateError) {
        try accesses.step()
        try stored.putOpenBatch(batch)
    }
    func removeOpenBatch(_ batch: BatchID) throws(StateError) {
        try accesses.step()
        try stored.removeOpenBatch(batch)
    }
    func mergeBase(_ id: EntityID) throws(StateError) -> MergeBase? {
        try accesses.step()
        return try stored.mergeBase(id)
    }
    func mergeBases() throws(StateError) -> [EntityID] {
        try accesses.step()
        return try stored.mergeBases()
    }
    func hasMergeBases() throws(StateError) -> Bool {
        try accesses.step()
        return try stored.hasMergeBases()
    }
    func putMergeBase(_ mergeBase: MergeBase) throws(StateError) {
        try accesses.step()
        try stored.putMergeBase(mergeBase)
    }
    func removeMergeBase(_ id: EntityID) throws(StateError) {
        try accesses.step()
        try stored.removeMergeBase(id)
    }
    func streams(of id: EntityID) throws(StateError) -> [StreamImage] {
        try accesses.step()
        return try stored.streams(of: id)
    }
    func putStreams(_ streams: [StreamImage], of id: EntityID) throws(StateError) {
        try accesses.step()
        try stored.putStreams(streams, of: id)
    }
    func queries() throws(StateError) -> [QueryState] {
        try accesses.step()
        return try stored.queries()
    }
    func putQuery(_ query: QueryState) throws(StateError) {
        try accesses.step()
        try stored.putQuery(query)
    }
    func removeQuery(_ name: String) throws(StateError) {
        try accesses.step()
        try stored.removeQuery(name)
    }
    func isCovered(_ id: EntityID) throws(StateError) -> Bool {
        try accesses.step()
        return try stored.isCovered(id)
    }
    func isCovered(_ id: EntityID, by query: String) throws(StateError) -> Bool {
        try accesses.step()
        return try stored.isCovered(id, by: query)
    }
    func awaitsDelivery(_ id: EntityID, by query: String) throws(StateError) -> Bool {
        try accesses.step()
        return try stored.awaitsDelivery(id, by: query)
    }
    func cover(_ id: EntityID, query: String, run: SequenceNumber) throws(StateError) {
        try accesses.step()
        try stored.cover(id, query: query, run: run)
    }
    func drainUncovered(query: String, before run: SequenceNumber) throws(StateError) -> [EntityID] {
        try accesses.step()
        return try stored.drainUncovered(query: query, before: run)
    }
    func uncover(_ id: EntityID, query: String?) throws(StateError) {
        try accesses.step()
        try stored.uncover(id, query: query)
    }
    func openLinks() throws(StateError) -> [OpenLink] {
        try accesses.step()
        return try stored.openLinks()
    }
    func putOpenLinks(_ links: [OpenLink]) throws(StateError) {
        try accesses.step()
        try stored.putOpenLinks(links)
    }
    func quarantine() throws(StateError) -> [QuarantineEntry] {
        try accesses.step()
        return try stored.quarantine()
    }
    func putQuarantine(_ entries: [QuarantineEntry]) throws(StateError) {
        try accesses.step()
        try stored.putQuarantine(entries)
    }
    func events() throws(StateError) -> [StoreEvent] {
        try accesses.step()
        return try stored.events()
    }
    func putEvents(_ events: [StoreEvent]) throws(StateError) {
        try accesses.step()
        try stored.putEvents(events)
    }

    func forEachUndone(_ body: (UndoneOperation) throws -> Void) throws {
        try accesses.step()
        try stored.forEachUndone(body)
    }
    func forEachMergeBase(_ body: (MergeBase) throws -> Void) throws {
        try accesses.step()
        try stored.forEachMergeBase(body)
    }
    func forEachStreams(_ body: (EntityID, [StreamImage]) throws -> Void) throws {
        try accesses.step()
        try stored.forEachStreams(body)
    }
    func forEachCoverage(_ body: (String, EntityID, SequenceNumber) throws -> Void) throws {
        try accesses.step()
        try stored.forEachCoverage(body)
    }
}
