public import EDM
public import Operations

/// The state in memory: for tests, for replay, and as the measure of the one in SQLite.
public final class MemoryState: StateStorage {
    typealias LinkKey = TouchedItems.LinkEnds
    typealias SetKey = TouchedItems.Key

    private var head = StateHeader()
    private(set) var rowsByID: [EntityID: EntityRow] = [:]
    private(set) var sets: [EntityID: String] = [:]
    private(set) var keys: [SetKey: EntityID] = [:]
    private(set) var bases: [EntityID: BaseState] = [:]
    private(set) var linksByKey: [LinkKey: LinkRow] = [:]
    private var linksByEntity: [EntityID: SmallSet<LinkKey>] = [:]
    /// Those in which base and local state differ.
    private var changedLinkKeys: Set<LinkKey> = []
    /// Those that were asked for, by set.
    private var indexes: [String: [RowIndex]] = [:]
    private var queue = PendingQueue()
    /// How often a pending operation was asked for: for tests that count work.
    package private(set) var operationsRead = 0
    private var undone: [SequenceNumber: UndoneOperation] = [:]
    private var batches: [BatchID: OpenBatch] = [:]
    private(set) var ancestorsByID: [EntityID: Ancestor] = [:]
    private(set) var streamsByID: [EntityID: [StreamImage]] = [:]
    private var queryList: [QueryState] = []
    private var eventList: [StoreEvent] = []
    private var openLinkList: [OpenLink] = []
    private var quarantineList: [QuarantineEntry] = []
    private(set) var coverage: [EntityID: [String: SequenceNumber]] = [:]
    private var tally: DigestTally
    /// Nil where nobody asks.
    private var touched: TouchedItems?

    /// - Parameter keepsDigest: whether ``digest`` is known at any time; costs a hash of each item that changes.
    public init(keepsDigest: Bool = false) { tally = DigestTally(isKept: keepsDigest) }

    /// That of ``StateDigest/init(of:)``, without a pass over the state; nil where it is not kept. While the pending
    /// operations are taken off it is none of a state that the log says.
    public var digest: StateDigest? { tally.digest }

    /// What has changed since the last call, where the digest is kept; nothing is noted before the first one.
    public func takeChanges() -> [StateChange] { tally.takeChanges() }

    /// From now on it is noted what changes; see ``writeTouched(into:)``.
    package func noteTouched() { touched = TouchedItems() }

    var allItems: TouchedItems {
        TouchedItems(
            entities: Set(sets.keys), keys: Set(keys.keys), rows: Set(rowsByID.keys), bases: Set(bases.keys),
            links: Set(linksByKey.keys), pending: Set(pendingOperations().map(\.sequence)), undone: Set(undone.keys),
            batches: Set(batches.keys), ancestors: Set(ancestorsByID.keys), streams: Set(streamsByID.keys),
            coverage: Set(coverage.keys), hasQueries: true, hasEvents: true, hasOpenLinks: true,
            hasQuarantine: true)
    }

    func takeTouched() -> TouchedItems? {
        defer { if touched != nil { touched = TouchedItems() } }
        return touched
    }

    /// The same state, to go on from by itself. Cheap: what neither changes stays shared.
    public func copy() -> MemoryState {
        let copy = MemoryState()
        copy.head = head
        copy.rowsByID = rowsByID
        copy.sets = sets
        copy.keys = keys
        copy.bases = bases
        copy.linksByKey = linksByKey
        copy.linksByEntity = linksByEntity
        copy.changedLinkKeys = changedLinkKeys
        copy.indexes = indexes
        copy.queue = queue
        copy.undone = undone
        copy.batches = batches
        copy.ancestorsByID = ancestorsByID
        copy.streamsByID = streamsByID
        copy.queryList = queryList
        copy.eventList = eventList
        copy.openLinkList = openLinkList
        copy.quarantineList = quarantineList
        copy.coverage = coverage
        copy.tally = tally
        copy.touched = touched
        return copy
    }

    public func header() -> StateHeader { head }
    public func setHeader(_ header: StateHeader) {
        tally.replace(head, by: header)
        head = header
    }
    public func install(_ model: EntityDataModel) {
        touched?.hasModel = true
        let sets = Set(model.allSets.map(\.name))
        if tally.isKept {
            for row in rowsByID.values where !sets.contains(row.set) { tally.replace(.row(row), by: nil) }
        }
        rowsByID = rowsByID.filter { sets.contains($0.value.set) }
        indexes = [:]
    }

    public func row(_ id: EntityID) -> EntityRow? { rowsByID[id] }
    public func putRow(_ row: EntityRow) {
        touched?.rows.insert(row.id)
        let old = rowsByID.updateValue(row, forKey: row.id)
        replaceIndexed(old, by: row)
        tally.replace(old.map(SnapshotItem.row), by: .row(row))
    }
    public func removeRow(_ id: EntityID) {
        touched?.rows.insert(id)
        let old = rowsByID.removeValue(forKey: id)
        replaceIndexed(old, by: nil)
        tally.replace(old.map(SnapshotItem.row), by: nil)
    }
    /// The set of an entity is its own for good.
    private func replaceIndexed(_ old: EntityRow?, by new: EntityRow?) {
        guard let set = (new ?? old)?.set, let count = indexes[set]?.count else { return }
        for place in 0..<count { indexes[set]?[place].replace(old, by: new) }
    }

    public func findRows(set: String, where values: [(property: String, value: Value)]) -> [EntityID] {
        let properties = values.map(\.property)
        if let index = indexes[set]?.first(where: { $0.properties == properties }) { return index[values.map(\.value)] }
        let index = RowIndex(properties, rowsByID.values.lazy.filter { $0.set == set })
        indexes[set, default: []].append(index)
        return index[values.map(\.value)]
    }

    public func rows(set: String) -> [EntityID] { rowsByID.values.filter { $0.set == set }.map(\.id).sorted() }

    public func mayHaveKeyless(set: String) -> Bool { true }

    public func set(of id: EntityID) -> String? { sets[id] }
    public func register(_ id: EntityID, set: String) {
        guard sets[id] == nil else { return }
        sets[id] = set
        touched?.entities.insert(id)
        tally.replace(nil, by: .entity(id, set: set))
    }

    public func serviceEntities(_ ids: [EntityID]) throws(StateError) -> [ServiceEntity] {
        var found: [ServiceEntity] = []
        for id in ids {
            if let set = sets[id] { found.append(ServiceEntity(id: id, set: set, row: try serviceRow(id))) }
        }
        return found
    }

    public func entity(set: String, key: String) -> EntityID? { keys[SetKey(set: set, key: key)] }
    public func assignKey(set: String, key: String, to id: EntityID) {
        let place = SetKey(set: set, key: key)
        touched?.keys.insert(place)
        let old = keys.updateValue(id, forKey: place)
        tally.replace(old.map { .key(key, set: set, of: $0) }, by: .key(key, set: set, of: id))
    }

    public func base(_ id: EntityID) -> BaseState? { bases[id] }
    public func saveBase(_ id: EntityID, _ base: BaseState) {
        touched?.bases.insert(id)
        let old = bases.updateValue(base, forKey: id)
        tally.replace(old.map { .base(id, $0) }, by: .base(id, base))
    }
    public func removeBase(_ id: EntityID) { takeBase(id) }
    public func takeBases(limit: Int) -> [(EntityID, BaseState)] {
        bases.keys.sorted().prefix(limit).compactMap { id in takeBase(id).map { (id, $0) } }
    }
    @discardableResult
    private func takeBase(_ id: EntityID) -> BaseState? {
        touched?.bases.insert(id)
        let old = bases.removeValue(forKey: id)
        tally.replace(old.map { .base(id, $0) }, by: nil)
        return old
    }

    public func links(_ relationship: String, first: EntityID) -> [LinkRow] {
        links(of: first) { $0.first == first && $0.relationship == relationship }
    }

    public func links(_ relationship: String, second: EntityID) -> [LinkRow] {
        links(of: second) { $0.second == second && $0.relationship == relationship }
    }

    /// Those of one relationship, which need no look at their names to be put in order.
    private func links(of id: EntityID, where isWanted: (LinkKey) -> Bool) -> [LinkRow] {
        (linksByEntity[id]?.elements ?? []).filter(isWanted).sorted { ($0.first, $0.second) < ($1.first, $1.second) }
            .compactMap { linksByKey[$0] }
    }

    public func link(_ relationship: String, first: EntityID, second: EntityID) -> LinkRow? {
        linksByKey[LinkKey(relationship: relationship, first: first, second: second)]
    }

    public func links(of id: EntityID) -> [LinkRow] {
        (linksByEntity[id]?.elements ?? []).compactMap { linksByKey[$0] }.sorted(by: Self.inOrder)
    }

    public func changedLinks() -> [LinkRow] {
        changedLinkKeys.compactMap { linksByKey[$0] }.sorted(by: Self.inOrder)
    }

    public func putLink(_ link: LinkRow) {
        let key = LinkKey(relationship: link.relationship, first: link.first, second: link.second)
        touched?.links.insert(key)
        let old = linksByKey.updateValue(link, forKey: key)
        if link.inBase != link.inLocal { changedLinkKeys.insert(key) } else { changedLinkKeys.remove(key) }
        tally.replace(old.map(SnapshotItem.link), by: .link(link))
        linksByEntity[link.first, default: SmallSet()].insert(key)
        linksByEntity[link.second, default: SmallSet()].insert(key)
    }

    public func removeLink(_ relationship: String, first: EntityID, second: EntityID) {
        let key = LinkKey(relationship: relationship, first: first, second: second)
        touched?.links.insert(key)
        let old = linksByKey.removeValue(forKey: key)
        changedLinkKeys.remove(key)
        tally.replace(old.map(SnapshotItem.link), by: nil)
        linksByEntity[first]?.remove(key)
        linksByEntity[second]?.remove(key)
    }

    public func pendingOperations() -> [PendingOperation] { pendingOperations(from: 0, limit: .max) }
    public func pendingOperation(_ sequence: SequenceNumber) -> PendingOperation? {
        operationsRead += 1
        return queue[sequence]
    }
    public func putPending(_ operation: PendingOperation) {
        touched?.pending.insert(operation.sequence)
        if tally.isKept { tally.replace(queue[operation.sequence], by: operation) }
        queue.put(operation, about: [])
    }
    public func pendingStatus(
        of sequence: SequenceNumber
    ) -> (status: PendingOperation.Status, since: Timestamp)? { queue.status(of: sequence) }
    public func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) {
        touched?.pending.insert(sequence)
        let old = tally.isKept ? queue[sequence] : nil
        queue.setStatus(status, since: since, of: sequence)
        if let old { tally.replace(old, by: queue[sequence]) }
    }
    public func removePending(_ sequence: SequenceNumber) {
        touched?.pending.insert(sequence)
        if tally.isKept { tally.replace(queue[sequence], by: nil) }
        queue.remove(sequence)
    }
    public func pendingOperations(from first: SequenceNumber, limit: Int) -> [PendingOperation] {
        let page = queue.operations(from: first, limit: limit)
        operationsRead += page.count
        return page
    }
    public func pendingOperations(_ kind: PendingOperation.Status.Kind) -> [PendingOperation] {
        pendingOperations().filter { $0.status.kind == kind }
    }
    public func pendingCount() -> Int { queue.count }
    public func hasHeldBack() -> Bool { queue.heldBack > 0 }
    public func pendingOperations(naming id: EntityID) -> [SequenceNumber] { queue.naming(id) }
    public func pendingOperations(changing id: EntityID) -> [SequenceNumber] { queue.changing(id) }
    public func hasPendingChange(of id: EntityID) -> Bool { queue.hasChange(of: id) }
    public func lastPending(inTransaction name: String) -> SequenceNumber? { queue.last(inTransaction: name) }

    public func hasEffects() -> Bool { queue.effects.count == queue.count }
    public func effect(of sequence: SequenceNumber) -> OperationEffect? { queue.effects[sequence] }
    public func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) {
        queue.putEffect(effect, of: sequence)
    }
    public func removeEffect(of sequence: SequenceNumber) { queue.removeEffect(of: sequence) }
    public func removeEffects() { queue.removeEffects() }
    public func accesses(of item: StateItem) -> [(operation: SequenceNumber, access: Access)] {
        queue.effects.accesses(of: item)
    }

    public func undoneOperations() -> [UndoneOperation] { undone.values.sorted { $0.sequence < $1.sequence } }
    public func undoneOperation(_ sequence: SequenceNumber) -> UndoneOperation? { undone[sequence] }
    public func putUndone(_ operation: UndoneOperation) {
        touched?.undone.insert(operation.sequence)
        tally.replace(undone.updateValue(operation, forKey: operation.sequence), by: operation)
    }
    public func removeUndone(_ sequence: SequenceNumber) {
        touched?.undone.insert(sequence)
        tally.replace(undone.removeValue(forKey: sequence), by: nil as UndoneOperation?)
    }

    public func openBatches() -> [OpenBatch] { batches.values.sorted { $0.batch < $1.batch } }
    public func openBatch(_ batch: BatchID) -> OpenBatch? { batches[batch] }
    public func putOpenBatch(_ batch: OpenBatch) {
        touched?.batches.insert(batch.batch)
        let old = batches.updateValue(batch, forKey: batch.batch)
        tally.replace(old.map(SnapshotItem.openBatch), by: .openBatch(batch))
    }
    public func removeOpenBatch(_ batch: BatchID) {
        touched?.batches.insert(batch)
        let old = batches.removeValue(forKey: batch)
        tally.replace(old.map(SnapshotItem.openBatch), by: nil)
    }
    public func hasPending() -> Bool { queue.count > 0 }

    public func ancestor(_ id: EntityID) -> Ancestor? { ancestorsByID[id] }
    public func putAncestor(_ ancestor: Ancestor) {
        touched?.ancestors.insert(ancestor.id)
        let old = ancestorsByID.updateValue(ancestor, forKey: ancestor.id)
        tally.replace(old.map(SnapshotItem.ancestor), by: .ancestor(ancestor))
    }
    public func removeAncestor(_ id: EntityID) {
        touched?.ancestors.insert(id)
        let old = ancestorsByID.removeValue(forKey: id)
        tally.replace(old.map(SnapshotItem.ancestor), by: nil)
    }
    public func ancestors() -> [EntityID] { ancestorsByID.keys.sorted() }
    public func hasAncestors() -> Bool { !ancestorsByID.isEmpty }

    public func streams(of id: EntityID) -> [StreamImage] { streamsByID[id] ?? [] }
    public func putStreams(_ streams: [StreamImage], of id: EntityID) {
        touched?.streams.insert(id)
        let old = streamsByID[id]
        tally.replace(old.map { .streams(id, $0) }, by: streams.isEmpty ? nil : .streams(id, streams))
        streamsByID[id] = streams.isEmpty ? nil : streams
    }

    public func events() -> [StoreEvent] { eventList }
    public func putEvents(_ events: [StoreEvent]) {
        touched?.hasEvents = true
        tally.replace(
            eventList.isEmpty ? nil : .events(eventList), by: events.isEmpty ? nil : .events(events))
        eventList = events
    }

    public func openLinks() -> [OpenLink] { openLinkList }
    public func putOpenLinks(_ links: [OpenLink]) {
        touched?.hasOpenLinks = true
        tally.replace(
            openLinkList.isEmpty ? nil : .openLinks(openLinkList), by: links.isEmpty ? nil : .openLinks(links))
        openLinkList = links
    }

    public func quarantine() -> [QuarantineEntry] { quarantineList }
    public func putQuarantine(_ entries: [QuarantineEntry]) {
        touched?.hasQuarantine = true
        tally.replace(
            quarantineList.isEmpty ? nil : .quarantine(quarantineList), by: entries.isEmpty ? nil : .quarantine(entries)
        )
        quarantineList = entries
    }

    public func queries() -> [QueryState] { queryList }
    public func putQuery(_ query: QueryState) {
        touched?.hasQueries = true
        let old = queryList
        defer { tally.replace(old, by: queryList) }
        if let index = queryList.firstIndex(where: { $0.query.name == query.query.name }) {
            queryList[index] = query
        } else {
            queryList.append(query)
        }
    }
    public func removeQuery(_ name: String) {
        touched?.hasQueries = true
        let old = queryList
        queryList.removeAll { $0.query.name == name }
        tally.replace(old, by: queryList)
    }

    public func cover(_ id: EntityID, query: String, run: SequenceNumber) {
        touched?.coverage.insert(id)
        let old = coverage[id, default: [:]].updateValue(run, forKey: query)
        tally.replace(
            old.map { .coverage(query: query, id, run: $0) }, by: .coverage(query: query, id, run: run))
    }

    /// With the download that brought it, by query.
    func coverage(of id: EntityID) -> [String: SequenceNumber] { coverage[id] ?? [:] }

    public func takeUncovered(query: String, before run: SequenceNumber) -> [EntityID] {
        let found = coverage.filter { $0.value[query].map { $0 < run } ?? false }.keys.sorted()
        for id in found { uncover(id, query: query) }
        return found
    }

    public func isCovered(_ id: EntityID) -> Bool { !(coverage[id] ?? [:]).isEmpty }

    public func isCovered(_ id: EntityID, by query: String) -> Bool { coverage[id]?[query] != nil }

    public func uncover(_ id: EntityID, query: String?) {
        guard let query else {
            for query in (coverage[id] ?? [:]).keys { uncover(id, query: query) }
            coverage[id] = nil
            return
        }
        touched?.coverage.insert(id)
        let old = coverage[id]?.removeValue(forKey: query)
        tally.replace(old.map { .coverage(query: query, id, run: $0) }, by: nil)
    }

    /// The order of UTF-8 bytes, as SQLite has it; that of `String` is another one where accents are composed differently.
    static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    static func inOrder(_ a: LinkRow, _ b: LinkRow) -> Bool {
        a.relationship == b.relationship
            ? (a.first, a.second) < (b.first, b.second) : precedes(a.relationship, b.relationship)
    }
}
