import EDM
import Operations
import SyncCore
import Testing
import Views

/// The views in SQLite have the same state as the state in memory, regardless of how the records were applied.
struct SameStateTests {
    static let seeds: [UInt64] = Array(1...8)
    static let steps = 300

    /// Returns the number of changed items that the working set keeps, which must not affect the state.
    private static func flushLimit(_ seed: UInt64) -> Int { [1, 2, 17, .max][Int(seed % 4)] }

    private static func records(_ seed: UInt64) -> [Record] {
        var random = RandomRecords(seed: seed)
        return (0..<steps).map { _ in random.next() }
    }

    /// Returns the complete state as text, so that a failure shows the difference.
    private func words(_ state: WorkingSet) throws -> [String] {
        var words: [String] = []
        try state.forEachRow { row in
            let values = row.values.names.sorted().map { "\($0)=\(row.values[$0] ?? .null)" }
            words.append(
                "\(row.id) \(row.set) \(row.type) \(row.etag ?? "-") \(row.editLink ?? "-") \(row.origin) \(values)")
            if let base = try state.base(row.id) { words.append("\(row.id) base \(base)") }
        }
        try state.forEachLink { words.append("\($0)") }
        for pending in try state.pendingOperations() {
            words.append("\(pending.sequence) \(pending.time) \(pending.status)")
        }
        for batch in try state.bookkeeping.openBatches() { words.append("\(batch)") }
        for undone in try state.bookkeeping.undoneOperations() { words.append("\(undone)") }
        for query in try state.bookkeeping.queries() { words.append("\(query)") }
        let header = try state.header()
        words.append("\(header.applied) \(header.nextEntity) \(header.nextBatch)")
        // After lost records, the next ID is far away; these records use only the first IDs.
        for id in 1..<min(header.nextEntity.rawValue, 2_000) {
            let id = EntityID(rawValue: id)
            words.append("\(id) of \(try state.set(of: id) ?? "-"), covered: \(try state.bookkeeping.isCovered(id))")
        }
        for key in 1..<12 {
            for set in RandomRecords.sets {
                words.append(
                    "\(set) \(key) is \(try state.entity(set: set, key: "ID=\(key)").map(\.description) ?? "-")")
            }
        }
        return words
    }

    private func expectSame(_ a: WorkingSet, _ b: WorkingSet, _ comment: Comment) throws {
        #expect(try StateDigest(of: a) == StateDigest(of: b), comment)
        let (x, y) = (try words(a), try words(b))
        #expect(Set(x).symmetricDifference(y).sorted() == [], comment)
    }

    private func memory(_ records: ArraySlice<Record>) throws -> WorkingSet {
        let state = WorkingSet()
        var fold = try Fold(storage: state)
        for (index, record) in records.enumerated() {
            try fold.apply(record, sequence: SequenceNumber(index + 1))
            try fold.finishRebase()
        }
        return state
    }

    @Test(arguments: seeds)
    func `views that apply record by record and are reopened in between have the state in memory`(_ seed: UInt64) throws
    {
        let records = Self.records(seed)
        var random = RandomRecords(seed: seed &+ 1_000)
        let file = ViewsFile()
        var state = try file.openState(flushLimit: Self.flushLimit(seed))
        var fold = try Fold(storage: state)
        let memory = WorkingSet()
        var measure = try Fold(storage: memory)
        for (index, record) in records.enumerated() {
            let sequence = SequenceNumber(index + 1)
            try measure.apply(record, sequence: sequence)
            try measure.finishRebase()
            try state.transaction {
                try fold.apply(record, sequence: sequence)
                try fold.finishRebase()
            }
            if random.chance(3) {
                state.close()
                state = try file.openState(flushLimit: Self.flushLimit(seed))
                fold = try Fold(storage: state)
            }
            if index % 50 == 49 { try expectSame(state, memory, "seed \(seed), after record \(sequence)") }
        }
    }

    @Test(arguments: seeds)
    func `views that apply many records in one transaction have the state in memory`(_ seed: UInt64) throws {
        let records = Self.records(seed)
        var random = RandomRecords(seed: seed &+ 2_000)
        let file = ViewsFile()
        let state = try file.openState(flushLimit: Self.flushLimit(seed))
        var fold = try Fold(storage: state)
        var index = 0
        while index < records.count {
            let end = min(records.count, index + random.number(1..<120))
            try state.transaction {
                for place in index..<end { try fold.apply(records[place], sequence: SequenceNumber(place + 1)) }
                try fold.finishRebase()
            }
            index = end
            try expectSame(state, try memory(records[..<index]), "seed \(seed), after record \(index)")
        }
    }

    @Test(arguments: seeds)
    func `reading all entities at once returns the same as separate reads, and leads to the same plans`(
        _ seed: UInt64
    ) throws {
        let file = ViewsFile()
        let state = try file.openState(flushLimit: Self.flushLimit(seed))
        let memory = WorkingSet()
        var (fold, measure) = (try Fold(storage: state), try Fold(storage: memory))
        for (index, record) in Self.records(seed).enumerated() {
            let sequence = SequenceNumber(index + 1)
            try state.transaction {
                try fold.apply(record, sequence: sequence)
                try fold.finishRebase()
            }
            try measure.apply(record, sequence: sequence)
            try measure.finishRebase()
            guard index % 10 == 9 else { continue }
            try expectAtOnce(state, "seed \(seed), after record \(sequence)")
            try expectAtOnce(memory, "seed \(seed), after record \(sequence)")
            guard let model = fold.model else { continue }
            // These operations were not validated. An operation without a possible request does not prevent a plan.
            #expect(
                try UploadPlanner(storage: state, model: model).plan()
                    == UploadPlanner(storage: memory, model: model).plan(), "seed \(seed), after record \(sequence)")
        }
    }

    private func expectAtOnce(_ state: WorkingSet, _ comment: Comment) throws {
        let ids = try (1..<min(state.header().nextEntity.rawValue, 500)).map { EntityID(rawValue: $0) }
        var each: [ServiceEntity] = []
        for id in ids {
            if let set = try state.set(of: id) {
                each.append(ServiceEntity(id: id, set: set, row: try state.serviceRow(id)))
            }
        }
        // Close to each other, far apart, and in another order with repetitions.
        let sparse = ids.filter { $0.rawValue % 5 == 0 }
        for asked in [ids, sparse, ids.reversed() + sparse] {
            let found = try state.serviceEntities(asked)
            let wanted = Set(asked)
            #expect(Set(found) == Set(each.filter { wanted.contains($0.id) }), comment)
            #expect(found.count == Set(found.map(\.id)).count, comment)
        }
        // An invariant of the planner: an entity that the service does not have has no links in the base state.
        let known = Set(each.filter { $0.row != nil }.map(\.id))
        try state.forEachLink { link in
            guard link.inBase, ids.contains(link.first), ids.contains(link.second) else { return }
            #expect(known.contains(link.first) && known.contains(link.second), "\(comment): \(link)")
        }
    }

    @Test(arguments: seeds)
    func `a failed transaction leaves no trace in the file or in memory`(_ seed: UInt64) throws {
        struct Stop: Error {}
        let records = Self.records(seed)
        let file = ViewsFile()
        let state = try file.openState(flushLimit: Self.flushLimit(seed))
        var fold = try Fold(storage: state)
        var random = RandomRecords(seed: seed &+ 3_000)
        for (index, record) in records.enumerated() {
            let sequence = SequenceNumber(index + 1)
            if random.chance(30) {
                let before = fold
                #expect(throws: Stop.self) {
                    try state.transaction {
                        try fold.apply(record, sequence: sequence)
                        try fold.finishRebase()
                        throw Stop()
                    }
                }
                fold = before
            }
            try state.transaction {
                try fold.apply(record, sequence: sequence)
                try fold.finishRebase()
            }
        }
        try expectSame(state, try memory(records[...]), "seed \(seed)")
    }

    /// Applies the record in a deferred transaction, or in one of the backing if it needs that.
    ///
    /// - Returns: Whether it was deferred.
    private func apply(
        _ record: Record, _ sequence: SequenceNumber, _ fold: inout Fold, then end: () throws -> Void = {}
    ) throws -> Bool {
        let (before, state) = (fold, fold.storage)
        let body = {
            try fold.apply(record, sequence: sequence)
            try fold.finishRebase()
            try end()
        }
        do {
            do {
                try state.deferredTransaction(body)
                return true
            } catch is DeferralRefused {
                fold = before
                try state.transaction(body)
                return false
            }
        } catch {
            fold = before
            throw error
        }
    }

    @Test(arguments: seeds)
    func `deferred transactions lead to the same state as transactions of the views`(_ seed: UInt64) throws {
        struct Stop: Error {}
        let file = ViewsFile()
        var state = try file.openState(flushLimit: Self.flushLimit(seed &+ 1))
        var fold = try Fold(storage: state)
        let memory = WorkingSet()
        var measure = try Fold(storage: memory)
        var random = RandomRecords(seed: seed &+ 5_000)
        var deferred = 0
        for (index, record) in Self.records(seed).enumerated() {
            let sequence = SequenceNumber(index + 1)
            try measure.apply(record, sequence: sequence)
            try measure.finishRebase()
            if random.chance(20) {
                #expect(throws: Stop.self) { try apply(record, sequence, &fold) { throw Stop() } }
            }
            if try apply(record, sequence, &fold) { deferred += 1 }
            for _ in 0..<5 {
                let id = EntityID(rawValue: UInt64(random.number(1..<60)))
                #expect(try state.row(id) == memory.row(id), "seed \(seed), record \(sequence)")
                #expect(try state.base(id) == memory.base(id), "seed \(seed), record \(sequence)")
                #expect(try state.links(of: id) == memory.links(of: id), "seed \(seed), record \(sequence)")
            }
            if random.chance(3) {
                try state.flush()
                state.close()
                state = try file.openState(flushLimit: Self.flushLimit(seed &+ 1))
                fold = try Fold(storage: state)
            }
            if random.chance(3) { try expectSame(state, memory, "seed \(seed), after record \(sequence)") }
        }
        #expect(deferred > 30 || state.flushLimit < 17, "seed \(seed): \(deferred) deferred transactions")
        try expectSame(state, memory, "seed \(seed)")
    }

    @Test(arguments: seeds)
    func `records that are encoded and decoded lead to the same state`(_ seed: UInt64) throws {
        let records = try Self.records(seed).map { record in
            let encoded = RecordCodec.encode(record)
            return try RecordCodec.decode(kind: encoded.kind, payload: encoded.payload)
        }
        try expectSame(try memory(records[...]), try memory(Self.records(seed)[...]), "seed \(seed)")
    }

    @Test func `unset and null, and the forms of equal decimals and instants, are distinguished`() throws {
        let values: [PropertyValues] = [
            ["ID": .integer(1), "Name": .null, "Rating": .decimal(DecimalValue("1.50")!)],
            ["ID": .integer(2), "Since": .dateTimeOffset(GlobalDateTime("2024-03-10T08:00:00+02:00")!)],
        ]
        let file = ViewsFile()
        var state = try file.openState()
        var fold = try Fold(storage: state)
        let service = ServiceDescription(root: "http://127.0.0.1/", metadata: Array(RandomRecords.metadata.utf8))
        let images = values.enumerated().map {
            EntityImage(entity: EntityID(rawValue: UInt64($0 + 1)), set: "Customers", type: "S.Customer", values: $1)
        }
        try state.transaction {
            try fold.apply(Record(time: 0, body: .serviceInstalled(service)), sequence: 1)
            try fold.apply(Record(time: 0, body: .entitiesRead(images)), sequence: 2)
            try fold.finishRebase()
        }
        state.close()
        state = try file.openState()
        let first = try #require(try state.row(EntityID(rawValue: 1))).values
        let second = try #require(try state.row(EntityID(rawValue: 2))).values
        #expect(first["Name"] == .null)
        #expect(second["Name"] == nil)
        #expect(first["Rating"].map { "\($0)" } == "\(values[0]["Rating"]!)")
        #expect(second["Since"].map { "\($0)" } == "\(values[1]["Since"]!)")
        #expect(
            try state.findRows(set: "Customers", where: [("Rating", .decimal(DecimalValue("1.5")!))]) == [
                EntityID(rawValue: 1)
            ])
    }

    @Test func `a search finds the same rows before and after a flush`() throws {
        let since = GlobalDateTime("2024-03-10T08:00:00.500Z")!
        let rows: [PropertyValues] = [
            ["ID": .integer(1), "Since": .dateTimeOffset(since), "Rating": .decimal(DecimalValue("1.50")!)],
            ["ID": .integer(2), "Rating": .decimal(DecimalValue("1")!)],
        ]
        let searched: [(property: String, value: Value)] = [
            ("Since", .dateTimeOffset(GlobalDateTime("2024-03-10T08:00:00.5Z")!)),
            ("Since", .dateTimeOffset(GlobalDateTime("2024-03-10T08:00:00.5000Z")!)),
            ("Since", .dateTimeOffset(GlobalDateTime("2024-03-10T10:00:00.5+02:00")!)),
            ("Rating", .decimal(DecimalValue("1.5")!)), ("Rating", .decimal(DecimalValue("1")!)),
            ("Rating", .integer(1)), ("Rating", .double(1.5)), ("ID", .decimal(DecimalValue("2")!)),
            ("ID", .integer(2)),
        ]
        let file = ViewsFile()
        let state = try file.openState()
        try state.transaction {
            var fold = try Fold(storage: state)
            let service = ServiceDescription(root: "http://127.0.0.1/", metadata: Array(RandomRecords.metadata.utf8))
            try fold.apply(Record(time: 0, body: .serviceInstalled(service)), sequence: 1)
            for (place, values) in rows.enumerated() {
                let id = EntityID(rawValue: UInt64(place + 1))
                try state.register(id, set: "Customers")
                try state.putRow(
                    EntityRow(id: id, set: "Customers", type: "S.Customer", values: values, origin: .service))
            }
            let before = try searched.map { try state.findRows(set: "Customers", where: [$0]) }
            try state.flush()
            let after = try searched.map { try state.findRows(set: "Customers", where: [$0]) }
            #expect(before.map { $0.map(\.rawValue) } == [[1], [1], [], [1], [2], [], [], [], [2]])
            #expect(after == before)
        }
    }

    @Test func `a closed state throws an error instead of trapping`() throws {
        let file = ViewsFile()
        let state = try file.openState()
        state.close()
        #expect(throws: StateError.self) { try state.header() }
        #expect(throws: (any Error).self) { try state.transaction {} }
    }
}
