import Operations

/// The bookkeeping of a state in memory.
final class MemoryBookkeeping: BookkeepingStorage {
    private var undone: [SequenceNumber: UndoneOperation] = [:]
    private var batches: [BatchID: OpenBatch] = [:]
    private var mergeBasesByID: [EntityID: MergeBase] = [:]
    private var streamsByID: [EntityID: [StreamImage]] = [:]
    private var queryList: [QueryState] = []
    private var eventList: [StoreEvent] = []
    private var openLinkList: [OpenLink] = []
    private var quarantineList: [QuarantineEntry] = []
    /// The run that delivered each entity, for each query that covers one, in the order of their first entities. There
    /// are few queries.
    ///
    /// A query without entities has no table: a later query with a canonically equal name has its own spelling.
    private(set) var coverage: [(query: String, runs: IDTable<SequenceNumber>)] = []

    func copy() -> MemoryBookkeeping {
        let copy = MemoryBookkeeping()
        copy.undone = undone
        copy.batches = batches
        copy.mergeBasesByID = mergeBasesByID
        copy.streamsByID = streamsByID
        copy.queryList = queryList
        copy.eventList = eventList
        copy.openLinkList = openLinkList
        copy.quarantineList = quarantineList
        copy.coverage = coverage
        return copy
    }

    func undoneOperations() -> [UndoneOperation] { undone.values.sorted { $0.sequence < $1.sequence } }
    func undoneOperation(_ sequence: SequenceNumber) -> UndoneOperation? { undone[sequence] }
    func hasUndone() -> Bool { !undone.isEmpty }
    func putUndone(_ operation: UndoneOperation) { undone[operation.sequence] = operation }
    func removeUndone(_ sequence: SequenceNumber) { undone[sequence] = nil }

    func openBatches() -> [OpenBatch] { batches.values.sorted { $0.batch < $1.batch } }
    func openBatch(_ batch: BatchID) -> OpenBatch? { batches[batch] }
    func putOpenBatch(_ batch: OpenBatch) { batches[batch.batch] = batch }
    func removeOpenBatch(_ batch: BatchID) { batches[batch] = nil }

    func mergeBase(_ id: EntityID) -> MergeBase? { mergeBasesByID[id] }
    func mergeBases() -> [EntityID] { mergeBasesByID.keys.sorted() }
    func hasMergeBases() -> Bool { !mergeBasesByID.isEmpty }
    func putMergeBase(_ mergeBase: MergeBase) { mergeBasesByID[mergeBase.id] = mergeBase }
    func removeMergeBase(_ id: EntityID) { mergeBasesByID[id] = nil }

    func streams(of id: EntityID) -> [StreamImage] { streamsByID[id] ?? [] }
    func putStreams(_ streams: [StreamImage], of id: EntityID) { streamsByID[id] = streams.isEmpty ? nil : streams }

    func events() -> [StoreEvent] { eventList }
    func putEvents(_ events: [StoreEvent]) { eventList = events }
    func openLinks() -> [OpenLink] { openLinkList }
    func putOpenLinks(_ links: [OpenLink]) { openLinkList = links }
    func quarantine() -> [QuarantineEntry] { quarantineList }
    func putQuarantine(_ entries: [QuarantineEntry]) { quarantineList = entries }

    // MARK: Defining queries

    func queries() -> [QueryState] { queryList }

    func putQuery(_ query: QueryState) {
        if let index = queryList.firstIndex(where: { $0.query.name == query.query.name }) {
            queryList[index] = query
        } else {
            queryList.append(query)
        }
    }

    func removeQuery(_ name: String) { queryList.removeAll { $0.query.name == name } }

    private func place(_ query: String) -> Int? { coverage.firstIndex { $0.query == query } }

    /// Returns the run that delivered the entity, or nil if the query does not cover it.
    func run(of id: EntityID, by query: String) -> SequenceNumber? {
        place(query).flatMap { coverage[$0].runs[id] }
    }

    /// Returns the entities that runs of the query before `run` delivered, in ascending order.
    func covered(by query: String, before run: SequenceNumber) -> [EntityID] {
        guard let runs = place(query).map({ coverage[$0].runs }) else { return [] }
        return zip(runs.entities, runs.values).filter { $0.1 < run }.map(\.0).sorted()
    }

    func isCovered(_ id: EntityID) -> Bool { coverage.contains { $0.runs.contains(id) } }
    func isCovered(_ id: EntityID, by query: String) -> Bool { run(of: id, by: query) != nil }
    func awaitsDelivery(_ id: EntityID, by query: String) -> Bool { run(of: id, by: query) == 0 }

    func cover(_ id: EntityID, query: String, run: SequenceNumber) {
        if let place = place(query) {
            coverage[place].runs.updateValue(run, for: id)
        } else {
            coverage.append((query, IDTable()))
            coverage[coverage.count - 1].runs.updateValue(run, for: id)
        }
    }

    func drainUncovered(query: String, before run: SequenceNumber) -> [EntityID] {
        let found = covered(by: query, before: run)
        guard let place = place(query) else { return found }
        for id in found { coverage[place].runs.removeValue(for: id) }
        if coverage[place].runs.isEmpty { coverage.remove(at: place) }
        return found
    }

    func uncover(_ id: EntityID, query: String?) {
        var isLast = false
        for place in coverage.indices where query == nil || coverage[place].query == query {
            coverage[place].runs.removeValue(for: id)
            if coverage[place].runs.isEmpty { isLast = true }
        }
        if isLast { coverage.removeAll { $0.runs.isEmpty } }
    }

    // MARK: Passes over the whole state

    func forEachUndone(_ body: (UndoneOperation) throws -> Void) throws { try undoneOperations().forEach(body) }

    func forEachMergeBase(_ body: (MergeBase) throws -> Void) throws {
        for id in mergeBases() { if let mergeBase = mergeBasesByID[id] { try body(mergeBase) } }
    }

    func forEachStreams(_ body: (EntityID, [StreamImage]) throws -> Void) throws {
        for (id, streams) in streamsByID.sorted(by: { $0.key < $1.key }) { try body(id, streams) }
    }

    func forEachCoverage(_ body: (String, EntityID, SequenceNumber) throws -> Void) throws {
        for (query, runs) in coverage.sorted(by: { precedesInBytes($0.query, $1.query) }) {
            for id in runs.entities.sorted() { if let run = runs[id] { try body(query, id, run) } }
        }
    }
}
