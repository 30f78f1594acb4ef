import EDM
import Foundation
import Operations
import SyncCore
import Testing
import Views

/// Rebase of a long queue: if the base state changes, only the affected operations are reapplied. The result is the
/// same as after reapplying all of them.
struct PartialReplayTests {
    /// `TIDELOG_REPLAYS` sets the number of seeds.
    static let seeds = Array(
        1...(ProcessInfo.processInfo.environment["TIDELOG_REPLAYS"].flatMap(UInt64.init) ?? 40))

    /// - Parameter longQueue: 0 reapplies as few operations as possible, `.max` always all.
    private func fold(_ storage: WorkingSet, longQueue: Int) throws -> Fold {
        var fold = try Fold(storage: storage)
        fold.longQueue = longQueue
        return fold
    }

    @Test(arguments: seeds)
    func `reapplying only the affected operations leads to the same state as reapplying all`(_ seed: UInt64) throws {
        var records = RandomRecords(seed: seed)
        let (some, all) = (WorkingSet(), WorkingSet())
        var partial = try fold(some, longQueue: 0)
        var whole = try fold(all, longQueue: .max)
        for number in 1...SequenceNumber(150) {
            let record = records.next()
            try partial.apply(record, sequence: number)
            try whole.apply(record, sequence: number)
            // Some seeds apply several records in one transaction.
            if seed % 3 == 0, number % 4 != 0 { continue }
            try partial.finishRebase()
            try whole.finishRebase()
            let isSame = try StateDigest(of: some) == StateDigest(of: all)
            #expect(isSame, "seed \(seed), record \(number): \(record.body)")
            guard isSame else { return try difference(some, all) }
        }
        #expect(partial.partialReplaysOfEnded > 0, "seed \(seed) did not test a partial replay")
        #expect(whole.partialReplaysOfEnded == 0)
    }

    private func difference(_ some: WorkingSet, _ all: WorkingSet) throws {
        func words(_ state: WorkingSet) throws -> Set<String> {
            var words: Set<String> = []
            try state.forEachRow { words.insert("\($0)") }
            try state.forEachBase { words.insert("base \($0) \($1)") }
            try state.forEachLink { words.insert("\($0)") }
            try state.bookkeeping.forEachMergeBase { words.insert("\($0)") }
            return words
        }
        let (a, b) = (try words(some), try words(all))
        Issue.record("only in part: \(a.subtracting(b).sorted()); only as a whole: \(b.subtracting(a).sorted())")
    }

    @Test(arguments: seeds.prefix(10))
    func `views that are closed and reopened have the same state after partial replays`(_ seed: UInt64) throws {
        var records = RandomRecords(seed: seed)
        let file = ViewsFile()
        var state = try file.openState()
        var partial = try fold(state, longQueue: 0)
        let all = WorkingSet()
        var whole = try fold(all, longQueue: .max)
        for number in 1...SequenceNumber(120) {
            let record = records.next()
            try state.transaction {
                try partial.apply(record, sequence: number)
                try partial.finishRebase()
            }
            try whole.apply(record, sequence: number)
            try whole.finishRebase()
            #expect(try StateDigest(of: state) == StateDigest(of: all), "seed \(seed), record \(number)")
            if number % 30 == 0 {
                state.close()
                state = try file.openState()
                partial = try fold(state, longQueue: 0)
            }
        }
    }

    /// Returns a fold with a customer and orders, each created by its own operation.
    private func queue(orders: Int) throws -> (Fold, EntityID, next: SequenceNumber) {
        var fold = try fold(WorkingSet(), longQueue: 8)
        var random = RandomRecords(seed: 1)
        try fold.apply(random.next(), sequence: 1)
        let customer = EntityID(rawValue: 1)
        let image = EntityImage(
            entity: customer, set: "Customers", type: "S.Customer", values: ["ID": .integer(1)], etag: "1")
        try fold.apply(Record(time: 0, body: .entitiesRead([image])), sequence: 2)
        try fold.finishRebase()
        var next: SequenceNumber = 3
        for number in 0..<orders {
            let creation = Creation(
                entity: EntityID(rawValue: UInt64(number) + 2), set: "Orders", type: "S.Order",
                values: ["Note": .string("n")], bindings: [Binding(navigation: "Customer", targets: [customer])])
            try fold.apply(
                Record(time: 0, body: .operation(Operation(.create(creation, parent: nil)))), sequence: next)
            next += 1
        }
        // The first fact after opening computes the effects of the operations.
        try fold.apply(Record(time: 0, body: .entitiesRead([image])), sequence: next)
        try fold.finishRebase()
        return (fold, customer, next + 1)
    }

    @Test func `a response reverts only the affected operations among many on the same customer`() throws {
        var (fold, _, next) = try queue(orders: 200)
        let renamed = EntityID(rawValue: 150)
        try fold.apply(
            Record(
                time: 0, body: .operation(Operation(.update(renamed, changes: ["Note": .string("m")], bindings: [])))),
            sequence: next)
        _ = fold.drainDirtySet()
        // The 150th entity is the 149th order.
        let outcomes = [SequenceNumber(3), 4, 151].map { operation in
            BatchAnswered.Outcome(
                operation: operation,
                result: .confirmed(images: [
                    EntityImage(
                        entity: EntityID(rawValue: operation - 1), set: "Orders", type: "S.Order",
                        values: ["ID": .integer(Int64(operation))])
                ]))
        }
        next += 1
        try fold.apply(
            Record(time: 0, body: .batchAnswered(BatchAnswered(batch: 1, outcomes: outcomes))), sequence: next)
        try fold.finishRebase()
        #expect(fold.drainDirtySet().entities == [renamed])
        #expect(try fold.storage.row(renamed)?.values["Note"] == .string("m"))
        #expect(try fold.storage.pendingCount() == 198)
    }

    @Test func `a new key of a customer changes the dependent properties of all its orders`() throws {
        var (fold, customer, next) = try queue(orders: 20)
        let image = EntityImage(
            entity: customer, set: "Customers", type: "S.Customer", values: ["ID": .integer(7)], etag: "2")
        try fold.apply(Record(time: 0, body: .entitiesRead([image])), sequence: next)
        try fold.finishRebase()
        for id in try fold.storage.rows(set: "Orders") {
            #expect(try fold.storage.row(id)?.values["CustomerID"] == .integer(7))
        }
    }
}
