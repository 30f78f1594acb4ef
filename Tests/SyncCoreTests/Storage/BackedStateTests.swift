import EDM
import ODataWire
import Operations
import Testing

@testable import SyncCore

/// A state over a storage, compared with a state in memory.
struct BackedStateTests {
    private let records: [Record]

    init() throws { records = try MixedLog.records() }

    /// Compares the results of all reads, without a flush.
    private func expectSame(_ state: WorkingSet, _ memory: WorkingSet, _ comment: Comment) throws {
        #expect(try state.header() == memory.header(), comment)
        let ids = (1..<(try memory.header().nextEntity.rawValue % (1 << 32) + 8)).map { EntityID(rawValue: $0) }
        for id in ids {
            #expect(try state.row(id) == memory.row(id), comment)
            #expect(try state.base(id) == memory.base(id), comment)
            #expect(try state.set(of: id) == memory.set(of: id), comment)
            #expect(try state.links(of: id) == memory.links(of: id), comment)
        }
        for set in ["Customers", "Orders", "Suppliers", "Products"] {
            #expect(try state.rows(set: set) == memory.rows(set: set), comment)
        }
        let name = [(property: "Name", value: Value.string("Ada"))]
        #expect(
            try state.findRows(set: "Customers", where: name) == memory.findRows(set: "Customers", where: name), comment
        )
        #expect(try state.changedLinks() == memory.changedLinks(), comment)
        #expect(try state.pendingOperations() == memory.pendingOperations(), comment)
        func rows(_ state: WorkingSet) throws -> [EntityID: EntityRow?] {
            Dictionary(uniqueKeysWithValues: try state.serviceEntities(ids).map { ($0.id, $0.row) })
        }
        #expect(try rows(state) == rows(memory), comment)
    }

    @Test(arguments: [1, 3, 1_000])
    func `a state over a storage equals a state in memory, however often it is written`(_ interval: Int) throws {
        let backing = CountingBacking(WorkingSet(), nil)
        let (state, memory) = (WorkingSet(over: backing), WorkingSet(keepsDigest: true))
        var (stored, whole) = (try Fold(storage: state), try Fold(storage: memory))
        for (index, record) in records.enumerated() {
            let comment: Comment = "record \(index): \(record.body)"
            try stored.apply(record, sequence: UInt64(index + 1))
            try stored.finishRebase()
            try whole.apply(record, sequence: UInt64(index + 1))
            try whole.finishRebase()
            try expectSame(state, memory, comment)
            if index % interval == interval - 1 {
                try state.flush()
                try expectSame(state, memory, comment)
            }
            #expect(try memory.digest == StateDigest(of: memory), comment)
        }
        #expect(try StateDigest(of: state) == StateDigest(of: memory))
        #expect(try StateDigest(of: backing.stored) == StateDigest(of: memory))
    }

    @Test func `a copy of a state has its digest`() throws {
        let memory = WorkingSet()
        var fold = try Fold(storage: memory)
        for (index, record) in records.enumerated() {
            try fold.apply(record, sequence: UInt64(index + 1))
            try fold.finishRebase()
            #expect(try StateDigest(of: memory.copy()) == StateDigest(of: memory), "record \(index): \(record.body)")
        }
    }

    @Test func `a large page is written together with its number`() throws {
        let backing = CountingBacking(WorkingSet(), nil)
        let state = WorkingSet(over: backing)
        state.flushLimit = 1
        var fold = try Fold(storage: state)
        for (index, record) in records.enumerated() {
            try fold.apply(record, sequence: UInt64(index + 1))
            try fold.finishRebase()
            // Other records are written when they revert pending operations, before their end.
            guard case .downloadPage = record.body else { continue }
            #expect(try backing.stored.header().applied == UInt64(index + 1), "record \(index): \(record.body)")
        }
    }

    @Test func `a registered entity keeps its set`() throws {
        let backing = CountingBacking(WorkingSet(), nil)
        let state = WorkingSet(over: backing)
        try state.register(EntityID(rawValue: 1), set: "Customers")
        try state.flush()
        try state.register(EntityID(rawValue: 1), set: "Orders")
        #expect(try state.set(of: EntityID(rawValue: 1)) == "Customers")
    }

    @Test func `an entity that the storage cannot contain is not looked up there`() throws {
        let backing = CountingBacking(WorkingSet(), nil)
        let state = WorkingSet(over: backing)
        let id = EntityID(rawValue: 1)
        for _ in 1...2 { #expect(try state.row(id) == nil) }
        #expect(try state.base(id) == nil)
        #expect(try state.set(of: id) == nil)
        #expect(try state.links(of: id).isEmpty)
        #expect(try state.links("Customer_Orders", first: id).isEmpty)
        #expect(try state.links("Customer_Orders", second: id).isEmpty)
        #expect(try state.link("Customer_Orders", first: id, second: id) == nil)
        // Only the lowest unused ID was read, once.
        #expect(backing.accesses.count == 1)
    }

    @Test func `deferred transactions read a row once, and again after the storage has changed`() throws {
        struct Stop: Error {}
        let id = EntityID(rawValue: 1)
        var row = EntityRow(
            id: id, set: "Customers", type: "Shop.Customer", values: [:], etag: "stored", origin: .service)
        let stored = WorkingSet()
        try stored.register(id, set: row.set)
        try stored.putRow(row)
        let backing = CountingBacking(stored, nil)
        let state = WorkingSet(over: backing)
        /// Returns the number of accesses of a deferred transaction that reads the row.
        func accesses(_ comment: Comment) throws -> Int {
            let before = backing.accesses.count
            #expect(try state.deferredTransaction { try state.row(id) } == row, comment)
            return backing.accesses.count - before
        }
        _ = try accesses("first")
        // The commit of the shared transaction.
        #expect(try accesses("again") == 1)
        // Outside of a transaction, each read reads the storage.
        for _ in 1...2 {
            let before = backing.accesses.count
            #expect(try state.row(id) == row)
            #expect(try state.kind(of: id) == row.kind)
            #expect(backing.accesses.count == before + 2)
        }
        #expect(throws: Stop.self) {
            try state.deferredTransaction {
                var other = row
                other.etag = "rolled back"
                try state.putRow(other)
                throw Stop()
            }
        }
        #expect(try accesses("after a rollback") == 1)
        row.etag = "deferred"
        try state.deferredTransaction { try state.putRow(row) }
        #expect(try accesses("changed in memory") == 1)
        try state.flush()
        #expect(try accesses("after the flush") > 1)
        row.etag = "written"
        try state.transaction { try state.putRow(row) }
        #expect(try accesses("after a transaction of the storage") > 1)
    }

    @Test(arguments: [true, false])
    func `a base state that is not stored yet determines the entity of the service`(_ isAbsent: Bool) throws {
        let id = EntityID(rawValue: 1)
        var row = EntityRow(
            id: id, set: "Customers", type: "Shop.Customer", values: ["Name": .string("mine")], origin: .service)
        let stored = WorkingSet()
        try stored.register(id, set: row.set)
        try stored.putRow(row)
        let state = WorkingSet(over: CountingBacking(stored, nil))
        row.values["Name"] = .string("theirs")
        try state.saveBase(id, isAbsent ? .absent : .row(row))
        #expect(try state.serviceEntities([id]).map(\.row) == [isAbsent ? nil : row])
    }

    // MARK: Errors

    /// The state before each record, with the record and the state's model.
    private func steps(
        of records: [Record]
    ) throws -> [(state: WorkingSet, model: EntityDataModel?, sequence: UInt64, record: Record)] {
        let memory = WorkingSet()
        var fold = try Fold(storage: memory)
        return try records.enumerated().map { index, record in
            let step = (state: memory.copy(), model: fold.model, sequence: UInt64(index + 1), record: record)
            try fold.apply(record, sequence: step.sequence)
            try fold.finishRebase()
            return step
        }
    }

    /// Calls `body` with the state over a storage, once for each access, which fails. Returns the number of accesses.
    private func failEach(
        _ state: WorkingSet, _ model: EntityDataModel?, _ comment: String, _ body: (WorkingSet) throws -> Void
    ) throws -> Int {
        let whole = CountingBacking(state, model)
        try body(WorkingSet(over: whole))
        for access in 0..<whole.accesses.count {
            let backing = CountingBacking(state, model, failing: access)
            do {
                try body(WorkingSet(over: backing))
                Issue.record("The error of access \(access), \(backing.accesses.failed ?? "none"), is lost: \(comment)")
            } catch let error as StateError {
                #expect(error.code == .unavailable)
            }
        }
        return whole.accesses.count
    }

    @Test(arguments: [0, 256])
    func `an error of the storage ends the fold of a record, whichever access fails`(_ longQueue: Int) throws {
        for records in [records, try ContainmentLog.records()] {
            let steps = try steps(of: records)
            // The metadata are parsed once, because that takes most of the time.
            let index = try RelationshipIndex(#require(steps.last?.model))
            var accesses = 0
            for step in steps {
                accesses += try failEach(step.state, step.model, "\(step.record.body)") { state in
                    var fold =
                        if let model = step.model {
                            Fold(storage: state, model: model, index: index)
                        } else {
                            try Fold(storage: state)
                        }
                    fold.longQueue = longQueue
                    try state.transaction {
                        try fold.apply(step.record, sequence: step.sequence)
                        try fold.finishRebase()
                    }
                }
            }
            #expect(accesses > 0)
        }
    }

    @Test func `an error of the storage ends the rebase of a long queue as a whole, whichever access fails`() throws {
        let store = try TestStore()
        let customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("Ada")])
        for name in ["a", "b", "c"] {
            try store.perform([.update(customer, changes: ["Name": .string(name)], bindings: [])])
        }
        let image = EntityImage(
            entity: customer, set: "Customers", type: "Shop.Customer",
            values: ["CustomerID": .integer(1), "Name": .string("theirs")])
        let sequence = try store.state.header().applied + 1
        let (model, index) = (store.model, RelationshipIndex(store.model))
        let accesses = try failEach(store.state, model, "a read of the changed entity") { state in
            var fold = Fold(storage: state, model: model, index: index)
            // The read affects all of the operations, which are too many for a rebase of a part of the queue.
            fold.longQueue = 1
            try state.transaction {
                try fold.apply(Record(time: 0, body: .entitiesRead([image])), sequence: sequence)
                try fold.finishRebase()
            }
        }
        #expect(accesses > 0)
    }

    @Test(arguments: [(true, true), (false, true), (false, false)])
    func `an error of the storage ends the planning of an upload, whichever access fails`(
        _ coalesces: Bool, _ supportsPatch: Bool
    ) throws {
        var options = UploadPlanner.Options(service: ServiceOptions(supportsPatch: supportsPatch))
        options.coalesces = coalesces
        var accesses = 0
        for step in try steps(of: records) {
            guard let model = step.model else { continue }
            accesses += try failEach(step.state, model, "the plan before \(step.record.body)") { state in
                _ = try UploadPlanner(storage: state, model: model, options: options).plan()
            }
        }
        #expect(accesses > 0)
    }

    @Test func `an error of the storage ends the writing of changed items, whichever access fails`() throws {
        let memory = WorkingSet()
        var fold = try Fold(storage: memory)
        // After the last record, which changes the service, the whole state is written.
        let numbered = zip(SequenceNumber(1)..., records.dropLast())
        for (sequence, record) in numbered.prefix(12) {
            try fold.apply(record, sequence: sequence)
            try fold.finishRebase()
        }
        let next = memory.copy()
        next.trackDirtyItems()
        var further = try Fold(storage: next)
        for (sequence, record) in numbered.dropFirst(12) {
            try further.apply(record, sequence: sequence)
            try further.finishRebase()
        }
        let accesses = try failEach(memory, fold.model, "the changed items") { state in
            try state.transaction {
                // A copy has the same changed items.
                let isWritten = try DirtyItemWriter.writeChanges(of: next.copy(), into: state)
                #expect(isWritten)
            }
        }
        #expect(accesses > 0)
    }

    @Test func `an error of the storage ends the search for conflicts, whichever access fails`() throws {
        var accesses = 0
        for step in try steps(of: records) {
            guard let model = step.model else { continue }
            let index = RelationshipIndex(model)
            accesses += try failEach(step.state, model, "the conflicts before \(step.record.body)") { state in
                _ = try ConflictFinder(storage: state, model: model, index: index).conflicts()
            }
        }
        #expect(accesses > 0)
    }
}
