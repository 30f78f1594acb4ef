import EDM
import Foundation
import Operations
import SyncCore
import Testing

/// Invariants of undo, for random operations. A failure prints its seed; `TIDELOG_UNDO_SEEDS` sets the number of seeds.
struct UndoPropertyTests {
    static let seeds = Array(1...(ProcessInfo.processInfo.environment["TIDELOG_UNDO_SEEDS"].flatMap(UInt64.init) ?? 12))

    /// Returns a store in which the service has rejected some operations, so that these are undone as well.
    private func store(_ seed: UInt64) throws -> (store: TestStore, random: RandomOperations) {
        let planner = PlannerPropertyTests()
        var (store, random) = try planner.randomStore(seed, operations: 25)
        guard seed % 3 == 0 else { return (store, random) }
        let refused = try Set(store.state.pendingOperations().map(\.sequence).filter { _ in random.chance(15) })
        try store.answer(try planner.readIfNeeded(store, limit: 7), refusing: refused)
        return (store, random)
    }

    /// Returns the visible state: entities, links and the queue.
    private func content(_ store: TestStore) throws -> [String] {
        let state = store.state
        return try state.allRows.map { row in
            let values = row.values.names.sorted().map { "\($0)=\(row.values[$0] ?? .null)" }
            return "\(row.id) \(row.set) \(row.etag ?? "-") \(row.origin) \(values)"
        } + state.allLinks.map { "\($0)" }
            + state.pendingOperations().map { "\($0.sequence) \($0.status)" }
    }

    @Test(arguments: seeds)
    func `undoing all operations leads to the base state, and redoing them to the former state`(_ seed: UInt64) throws {
        let (store, _) = try store(seed)
        let before = try store.digestOfContent()
        let all = try store.state.pendingOperations().map(\.sequence)
        #expect(try store.undo(Set(all)) == all, "seed \(seed)")
        #expect(try store.state.pendingOperations().isEmpty)
        var bases = 0
        store.state.forEachBaseOrChange { bases += 1 }
        #expect(bases == 0, "seed \(seed): something lies on top of the base")
        #expect(try store.state.allRows.allSatisfy { $0.origin != .local }, "seed \(seed)")
        #expect(try store.refusal(ofRedoing: all) == nil, "seed \(seed)")
        try store.add(.operationsRedone(all))
        #expect(try store.digestOfContent() == before, "seed \(seed)")
    }

    @Test(arguments: seeds)
    func `an operation undone with its dependents has the same effect as if it had never been made`(_ seed: UInt64)
        throws
    {
        var (store, random) = try store(seed)
        for _ in 0..<3 {
            let before = try store.digestOfContent()
            guard let chosen = try store.state.pendingOperations().randomElement(using: &random.random)?.sequence else {
                return
            }
            let dependants = try store.dependants(of: [chosen])
            #expect(try dependants.keys.allSatisfy { try store.state.pendingOperation($0) != nil }, "seed \(seed)")
            let undone = try store.undo([chosen])
            #expect(try content(store) == content(without(undone, store)), "seed \(seed): undoing \(undone)")
            #expect(try store.refusal(ofRedoing: undone) == nil, "seed \(seed)")
            try store.add(.operationsRedone(undone))
            #expect(try store.digestOfContent() == before, "seed \(seed)")
            try store.add(.operationsUndone(undone))
        }
    }

    @Test(arguments: seeds)
    func `the remaining operations are legal without the undone ones, and the dependents are not`(_ seed: UInt64) throws
    {
        var (store, random) = try PlannerPropertyTests().randomStore(seed, operations: 25)
        let pending = try store.state.pendingOperations()
        guard let chosen = pending.randomElement(using: &random.random) else { return }
        let dependants = Set(try store.dependants(of: [chosen.sequence]).keys)
        let facts = store.records.filter { if case .operation = $0.body { false } else { true } }
        let again = try TestStore(replaying: facts)
        for unit in units(pending) {
            let isChosen = unit.contains { $0.sequence == chosen.sequence }
            let isDependant = unit.contains { dependants.contains($0.sequence) }
            if isChosen { continue }
            let actions = unit.map(\.operation.action)
            let isLegal: Bool
            do {
                try again.perform(actions, changeSet: unit[0].operation.changeSet != nil)
                isLegal = true
            } catch ValidationError.refused {
                isLegal = false
            }
            #expect(isLegal != isDependant, "seed \(seed): \(unit[0].sequence) without \(chosen.sequence)")
        }
    }

    private func units(_ operations: [PendingOperation]) -> [[PendingOperation]] {
        operations.reduce(into: []) { units, pending in
            if let changeSet = pending.operation.changeSet, units.last?.last?.operation.changeSet == changeSet {
                units[units.count - 1].append(pending)
            } else {
                units.append([pending])
            }
        }
    }

    /// Returns a log without these operations. Their records are replaced, so the other records keep their sequence
    /// numbers.
    private func without(_ operations: [SequenceNumber], _ store: TestStore) throws -> TestStore {
        let undone = try Set(operations).union(store.state.bookkeeping.undoneOperations().map(\.sequence))
        return try TestStore(
            replaying: store.records.enumerated().map { index, record in
                switch record.body {
                case .operation where undone.contains(SequenceNumber(index + 1)):
                    Record(time: record.time, body: .unknown(kind: 200, payload: []))
                case .operationsUndone, .operationsRedone:
                    Record(time: record.time, body: .unknown(kind: 200, payload: []))
                default: record
                }
            })
    }

    @Test(arguments: seeds)
    func `a snapshot contains the undone operations`(_ seed: UInt64) throws {
        var (store, random) = try store(seed)
        guard let chosen = try store.state.pendingOperations().randomElement(using: &random.random)?.sequence else {
            return
        }
        let undone = try store.undo([chosen])
        let state = WorkingSet()
        var restoration = StateRestoration(into: state)
        try Fold(storage: store.state).writeSnapshot { try restoration.add(kind: $0, payload: $1) }
        _ = try restoration.finish()
        #expect(try StateDigest(of: state) == store.digest(), "seed \(seed)")
        var fold = try Fold(storage: state)
        try fold.apply(Record(time: 0, body: .operationsRedone(undone)), sequence: state.header().applied + 1)
        try fold.finishRebase()
        try store.add(.operationsRedone(undone))
        #expect(try StateDigest(of: state) == store.digest(), "seed \(seed)")
    }

    @Test(arguments: seeds)
    func `the remaining queue is sent completely after a partial undo`(_ seed: UInt64) throws {
        var (store, random) = try store(seed)
        for _ in 0..<4 {
            guard let chosen = try store.state.pendingOperations().randomElement(using: &random.random)?.sequence else {
                break
            }
            try store.undo([chosen])
        }
        let undone = try store.state.bookkeeping.undoneOperations().map(\.sequence)
        let entities = try store.state.allRows.map(\.id)
        var sent: [SequenceNumber] = []
        for _ in 0..<200 where try !store.state.pendingOperations().isEmpty {
            let retrying = try Set(store.state.pendingOperations().filter { $0.status != .pending }.map(\.sequence))
            if !retrying.isEmpty { try store.add(.operationsReleased(Array(retrying))) }
            let plan = try PlannerPropertyTests().readIfNeeded(store, limit: 500)
            sent += plan.changeSets.flatMap(\.requests).map(\.operation)
            try store.answer(plan)
        }
        #expect(try store.state.pendingOperations().isEmpty, "seed \(seed)")
        #expect(Set(sent).isDisjoint(with: undone), "seed \(seed): an undone operation was sent")
        #expect(try store.state.allRows.map(\.id) == entities, "seed \(seed)")
        #expect(try store.state.bookkeeping.undoneOperations().map(\.sequence) == undone, "seed \(seed)")
    }
}

extension WorkingSet {
    fileprivate func forEachBaseOrChange(_ body: () -> Void) {
        try? forEachBase { _, _ in body() }
        for _ in (try? changedLinks()) ?? [] { body() }
    }
}
