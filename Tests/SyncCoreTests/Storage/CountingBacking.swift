import EDM
import Operations
import SyncCore

/// The accesses to a storage, of which one fails.
final class AccessCounter {
    private(set) var count = 0
    private let failing: Int?
    /// The access that failed.
    private(set) var failed: String?

    /// - Parameter failing: The number of the access that fails, from 0 on.
    init(failing: Int? = nil) { self.failing = failing }

    func step(_ name: String = #function) throws(StateError) {
        defer { count += 1 }
        guard count == failing else { return }
        failed = name
        throw StateError(.unavailable, "The access \(name) fails.")
    }
}

/// A backing in memory that counts the accesses, and fails at one of them.
final class CountingBacking: StateBacking {
    /// The stored state.
    let stored: WorkingSet
    let accesses: AccessCounter
    let bookkeeping: CountingBookkeeping
    /// The number of completed transactions.
    private(set) var commits = 0
    private(set) var model: EntityDataModel?

    var queue: QueueTable { stored.queue }

    /// - Parameter state: The content, which stays unchanged.
    init(_ state: WorkingSet, _ model: EntityDataModel?, failing: Int? = nil) {
        stored = state.copy()
        accesses = AccessCounter(failing: failing)
        bookkeeping = CountingBookkeeping(stored.bookkeeping, accesses)
        self.model = model
        let (pending, accesses) = (stored.queue.pending, accesses)
        stored.queue.reader = { () throws(StateError) in
            try accesses.step("the queue")
            return pending
        }
    }

    func header() throws(StateError) -> StateHeader {
        try accesses.step()
        return try stored.header()
    }
    func setHeader(_ header: StateHeader) throws(StateError) {
        try accesses.step()
        try stored.setHeader(header)
    }
    func install(_ model: EntityDataModel) throws(StateError) {
        try accesses.step()
        self.model = model
        try stored.install(model)
    }

    func firstUnusedEntity() throws(StateError) -> EntityID {
        try accesses.step()
        var last: UInt64 = 0
        do {
            try stored.forEachEntity { id, _ in last = max(last, id.rawValue) }
            try stored.forEachRow { last = max(last, $0.id.rawValue) }
            try stored.forEachBase { id, _ in last = max(last, id.rawValue) }
            try stored.forEachLink { last = max(last, $0.first.rawValue, $0.second.rawValue) }
        } catch {
            throw StateError(.unavailable, "\(error)")
        }
        return EntityID(rawValue: last + 1)
    }

    // MARK: Transactions

    func transaction<T>(_ body: () throws -> T) throws -> T {
        try accesses.step("begin")
        let result = try body()
        try accesses.step("commit")
        commits += 1
        return result
    }
    func inSharedTransaction<T>(_ body: () throws -> T) throws -> T { try transaction(body) }
    func commitSharedTransaction() throws(StateError) { try accesses.step() }

    // MARK: Entities

    func row(_ id: EntityID) throws(StateError) -> EntityRow? {
        try accesses.step()
        return try stored.row(id)
    }
    func putRow(_ row: EntityRow) throws(StateError) {
        try accesses.step()
        try stored.putRow(row)
    }
    func removeRow(_ id: EntityID) throws(StateError) {
        try accesses.step()
        try stored.removeRow(id)
    }
    func findRows(set: String, where values: [(property: String, value: Value)]) throws(StateError) -> [EntityID] {
        try accesses.step()
        return try stored.findRows(set: set, where: values)
    }
    func mayHaveRows(
        set: String, where property: String, in range: ClosedRange<Int64>
    ) throws(StateError) -> Bool {
        try accesses.step()
        for id in try stored.rows(set: set) {
            if case .integer(let number)? = try stored.row(id)?.values[property], range.contains(number) { return true }
        }
        return false
    }
    func rows(set: String) throws(StateError) -> [EntityID] {
        try accesses.step()
        return try stored.rows(set: set)
    }
    func mayHaveKeyless(set: String) throws(StateError) -> Bool {
        try accesses.step()
        return try stored.mayHaveKeyless(set: set)
    }
    func set(of id: EntityID) throws(StateError) -> String? {
        try accesses.step()
        return try stored.set(of: id)
    }
    func register(_ id: EntityID, set: String) throws(StateError) {
        try accesses.step()
        try stored.register(id, set: set)
    }
    func entity(set: String, key: String) throws(StateError) -> EntityID? {
        try accesses.step()
        return try stored.entity(set: set, key: key)
    }
    func mayHaveKeys(set: String, from first: String, through last: String) throws(StateError) -> Bool {
        try accesses.step()
        var isFound = false
        try? stored.forEachKey { other, key, _ in if other == set, first <= key, key <= last { isFound = true } }
        return isFound
    }
    func assignKey(set: String, key: String, to id: EntityID) throws(StateError) {
        try accesses.step()
        try stored.assignKey(set: set, key: key, to: id)
    }
    func base(_ id: EntityID) throws(StateError) -> BaseState? {
        try accesses.step()
        return try stored.base(id)
    }
    func saveBase(_ id: EntityID, _ base: BaseState) throws(StateError) {
        try accesses.step()
        try stored.saveBase(id, base)
    }
    func removeBase(_ id: EntityID) throws(StateError) {
        try accesses.step()
        try stored.removeBase(id)
    }
    func drainBases(limit: Int) throws(StateError) -> [(EntityID, BaseState)] {
        try accesses.step()
        return try stored.drainBases(limit: limit)
    }
    func serviceEntities(_ ids: [EntityID]) throws(StateError) -> [ServiceEntity] {
        try accesses.step()
        return try stored.serviceEntities(ids)
    }

    // MARK: Links

    func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow] {
        try accesses.step()
        return try stored.links(relationship, first: first)
    }
    func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow] {
        try accesses.step()
        return try stored.links(relationship, second: second)
    }
    func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow? {
        try accesses.step()
        return try stored.link(relationship, first: first, second: second)
    }
    func links(of id: EntityID) throws(StateError) -> [LinkRow] {
        try accesses.step()
        return try stored.links(of: id)
    }
    func changedLinks() throws(StateError) -> [LinkRow] {
        try accesses.step()
        return try stored.changedLinks()
    }
    func putLink(_ link: LinkRow) throws(StateError) {
        try accesses.step()
        try stored.putLink(link)
    }
    func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) {
        try accesses.step()
        try stored.removeLink(relationship, first: first, second: second)
    }

    // MARK: Queue

    func putPending(_ operation: PendingOperation) throws(StateError) { try stored.putPending(operation) }
    func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError) {
        try stored.setPendingStatus(status, since: since, of: sequence)
    }
    func removePending(_ sequence: SequenceNumber) throws(StateError) { try stored.removePending(sequence) }

    // MARK: Passes over the whole state

    func forEachEntity(_ body: (EntityID, String) throws -> Void) throws {
        try accesses.step()
        try stored.forEachEntity(body)
    }
    func forEachKey(_ body: (String, String, EntityID) throws -> Void) throws {
        try accesses.step()
        try stored.forEachKey(body)
    }
    func forEachRow(_ body: (EntityRow) throws -> Void) throws {
        try accesses.step()
        try stored.forEachRow(body)
    }
    func forEachBase(_ body: (EntityID, BaseState) throws -> Void) throws {
        try accesses.step()
        try stored.forEachBase(body)
    }
    func forEachLink(_ body: (LinkRow) throws -> Void) throws {
        try accesses.step()
        try stored.forEachLink(body)
    }
}
