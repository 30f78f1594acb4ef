import EDM
import Operations
import SeededRandom
import SyncCore
import Testing

/// Folds of logs with lost records: a placeholder stands in for each lost record.
@Suite struct LossTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    private func status(_ sequence: SequenceNumber) throws -> PendingOperation.Status {
        try #require(try store.state.pendingOperation(sequence)).status
    }

    @Test func `operations before a lost record are in doubt, because their batch may be lost`() throws {
        try store.create("Customers", ["Name": .string("A")])
        let created = try store.state.header().applied
        try store.add(.lost)
        guard case .inDoubt(0, _) = try status(created) else { return #expect(Bool(false)) }
        try store.create("Customers", ["Name": .string("B")])
        #expect(try status(store.state.header().applied) == .pending)
    }

    @Test func `operations in flight keep their batch after a lost record`() throws {
        try store.create("Customers", ["Name": .string("A")])
        let created = try store.state.header().applied
        try store.add(
            .batchPrepared(BatchPrepared(batch: 4, changeSets: [[.init(contentID: "1", operation: created)]])))
        try store.add(.lost)
        guard case .inDoubt(4, _) = try status(created) else { return #expect(Bool(false)) }
        #expect(try store.state.header().nextBatch == 6)
    }

    @Test func `numbers that lost records may have used are not assigned again`() throws {
        let entity = try store.create("Customers", ["Name": .string("A")])
        let batch = try store.state.header().nextBatch
        for _ in 1...3 { try store.add(.lost) }
        #expect(try store.state.header().nextBatch == batch + 3)
        #expect(try store.newID().rawValue >= entity.rawValue + (1 << 32))
        let free = try store.newID()
        try store.add(.lost)
        #expect(try store.newID() == free)
    }

    @Test func `a lost record after the largest numbers leaves no gap`() throws {
        let last = EntityImage(
            entity: EntityID(rawValue: .max - 1), set: "Customers", type: "Shop.Customer",
            values: ["CustomerID": .integer(1)])
        try store.add(.entitiesRead([last]))
        try store.add(.lost)
        #expect(try store.newID() == EntityID(rawValue: .max))
    }

    @Test func `a download with a possibly lost page removes no entity`() throws {
        try store.add(.downloadStarted(queries: ["All"]))
        let image = EntityImage(
            entity: try store.newID(), set: "Customers", type: "Shop.Customer", values: ["CustomerID": .integer(1)])
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image])))
        try store.add(.downloadFinished(query: "All"))
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.lost)
        try store.add(.downloadFinished(query: "All"))
        #expect(try store.state.row(image.entity) != nil)
        #expect(try store.state.bookkeeping.queries().map(\.isComplete) == [false])
        // The next download is complete.
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadFinished(query: "All"))
        #expect(try store.state.row(image.entity) == nil)
    }

    @Test func `no link of the service is used after a lost record`() throws {
        try store.add(.definingQueryAdded(DefiningQuery(name: "Other", query: "Orders")))
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadPage(DownloadPage(query: "All", next: "page2")))
        try store.add(.downloadFinished(DownloadFinished(query: "All", deltaLink: "delta")))
        try store.add(.downloadStarted(queries: ["Other"]))
        try store.add(.downloadPage(DownloadPage(query: "Other", next: "page2")))
        let before = try store.state.bookkeeping.queries()
        #expect(before[0].deltaLink != nil && before[1].next != nil)
        try store.add(.lost)
        #expect(
            try store.state.bookkeeping.queries() == before.map { QueryState(query: $0.query) })
    }

    @Test func `undone operations may have been sent before a lost record, unless they are local-only`() throws {
        try store.create("Customers", ["Name": .string("A")])
        let sent = try store.state.header().applied
        try store.create("Customers", ["Name": .string("B")])
        let kept = try store.state.header().applied
        try store.add(.deliveryChanged([kept], to: .localOnly))
        try store.add(.operationsUndone([sent, kept]))
        try store.add(.lost)
        let undone = try store.state.bookkeeping.undoneOperations().map(\.operation.status.kind)
        #expect(undone == [.inDoubt, .pending])
    }

    @Test func `a rejected or deferred operation is in doubt after a lost record, one in doubt keeps its batch`() throws
    {
        let refusal = Refusal(status: 400, code: "", message: "no", method: "POST", url: "x")
        let results: [BatchAnswered.Result] = [
            .rejected(refusal), .deferred(refusal, attempts: 1), .inDoubt("unclear"),
        ]
        var operations: [SequenceNumber] = []
        for _ in results {
            try store.create("Customers", ["Name": .string("A")])
            operations.append(try store.state.header().applied)
        }
        let requests = operations.map { [BatchPrepared.Request(contentID: "\($0)", operation: $0)] }
        try store.add(.batchPrepared(BatchPrepared(batch: 1, changeSets: requests)))
        let outcomes = zip(operations, results).map { BatchAnswered.Outcome(operation: $0, result: $1) }
        try store.add(.batchAnswered(BatchAnswered(batch: 1, outcomes: outcomes)))
        try store.add(.lost)
        #expect(try operations.map { try status($0).batch } == [0, 0, 1])
    }

    @Test func `the response to a lost operation still changes the base state`() throws {
        let image = EntityImage(
            entity: try store.newID(), set: "Customers", type: "Shop.Customer", values: ["CustomerID": .integer(7)])
        try store.add(.lost)
        try store.add(
            .batchAnswered(
                BatchAnswered(batch: 1, outcomes: [.init(operation: 3, result: .confirmed(images: [image]))])))
        #expect(try store.value(image.entity, "CustomerID") == .integer(7))
    }

    @Test func `an operation on a lost entity is kept and held back with a reason`() throws {
        let lost = EntityID(rawValue: 77)
        try store.add(.lost)
        let update = try store.add(
            .operation(Operation(.update(lost, changes: ["Name": .string("x")], bindings: []))))
        let held = try UploadPlanner(storage: store.state, model: store.model).plan().held
        #expect(held[update] == .entityGone(lost))
    }

    @Test func `a log without its metadata keeps its operations until metadata are installed again`() throws {
        let state = WorkingSet()
        var fold = try Fold(storage: state)
        let image = EntityImage(
            entity: EntityID(rawValue: 1), set: "Customers", type: "Shop.Customer",
            values: ["CustomerID": .integer(1)])
        let creation = Creation(
            entity: EntityID(rawValue: 2), set: "Customers", type: "Shop.Customer", values: ["Name": .string("A")])
        let bodies: [Record.Body] = [
            .lost, .downloadPage(DownloadPage(query: "All", entities: [image])), .entitiesRead([image]),
            .downloadFinished(query: "All"), .operation(Operation(.create(creation, parent: nil))),
            .operation(Operation(.delete(image.entity))),
        ]
        for (index, body) in bodies.enumerated() {
            try fold.apply(Record(time: 0, body: body), sequence: UInt64(index + 1))
            try fold.finishRebase()
        }
        #expect(try state.pendingOperations().count == 2)
        #expect(try state.row(creation.entity) == nil)
        try fold.apply(Record(time: 0, body: .serviceInstalled(TestModel.service)), sequence: 7)
        try fold.finishRebase()
        #expect(try state.row(creation.entity)?.values["Name"] == .string("A"))
        let plan = try UploadPlanner(storage: state, model: #require(fold.model)).plan()
        #expect(plan.changeSets.count == 1)
        #expect(plan.held == [6: .entityGone(image.entity)])
    }

    @Test func `an operation on an unknown set has no effect and is held back with the name of the set`() throws {
        let creation = try Creation(entity: store.newID(), set: "Unheard", type: "Shop.Unheard", values: [:])
        let sequence = try store.add(.operation(Operation(.create(creation, parent: nil))))
        try store.add(
            .entitiesRead([
                EntityImage(entity: store.newID(), set: "Unheard", type: "Shop.Unheard", values: [:])
            ]))
        let other = try store.create("Customers", ["Name": .string("A")])
        let plan = try UploadPlanner(storage: store.state, model: store.model).plan()
        #expect(plan.held[sequence] == .notInMetadata("entity set Unheard"))
        #expect(plan.changeSets.flatMap(\.requests).compactMap(\.creates) == [other])
    }

    @Test func `a log with any lost records can be folded, and a second fold leads to the same state`() throws {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let whole = try Self.history(&generator)
        for _ in 0..<60 {
            let kept = whole.map { Int.random(in: 0..<5, using: &generator) == 0 ? Record.Body.lost : $0.body }
            let once = try Self.fold(kept, settlingEach: true)
            let again = try Self.fold(kept, settlingEach: false)
            #expect(try StateDigest(of: once) == StateDigest(of: again), "seed \(seed)")
        }
    }

    private static func fold(_ bodies: [Record.Body], settlingEach: Bool) throws -> WorkingSet {
        let state = WorkingSet()
        var fold = try Fold(storage: state)
        for (index, body) in bodies.enumerated() {
            try fold.apply(Record(time: 0, body: body), sequence: UInt64(index + 1))
            if settlingEach { try fold.finishRebase() }
        }
        try fold.finishRebase()
        return state
    }

    /// Returns records of creates, links, batches and downloads in mixed order.
    private static func history(_ generator: inout SeededRandom) throws -> [Record] {
        let store = try TestStore()
        for round in 0..<12 {
            let customer = try store.create("Customers", ["Name": .string("C\(round)")])
            let created = try store.state.header().applied
            let order = try store.create(
                "Orders", ["Note": .string("n")], bindings: [Binding(navigation: "Customer", targets: [customer])])
            if Bool.random(using: &generator) {
                try store.add(
                    .batchPrepared(
                        BatchPrepared(
                            batch: UInt64(round + 1), changeSets: [[.init(contentID: "1", operation: created)]])))
                try store.confirm(created, key: ["CustomerID": .integer(Int64(round))], of: customer)
            }
            if Bool.random(using: &generator) {
                try store.perform([.update(order, changes: ["Note": .string("later")], bindings: [])])
            }
            try store.add(.downloadStarted(queries: ["All"]))
            try store.download("Customers", ["CustomerID": .integer(Int64(round + 100))])
            try store.add(.downloadFinished(query: "All"))
        }
        return store.records
    }
}
