import EDM
import OfflineStore
import OperationLog
import Operations
import Testing

@testable import LogInspection

@Suite struct FilterTests {
    /// Returns a log with these records: 1 and 2, creates; 3, an update of the second entity; 4 and 5, a batch of 1 and
    /// 2, of which 2 is rejected; 6, a create in another set; 7, an undo of 2.
    private func log() throws -> SampleLog {
        let log = try SampleLog()
        try log.append(
            create(1, "Orders"), create(2, "Orders"),
            .operation(Operation(.update(id(2), changes: ["Note": .string("n")], bindings: []), customTag: "red")),
            prepared(1, 1, 2), answered(1, (1, .confirmed(images: [])), (2, .rejected(refusal("no")))),
            create(3, "Customers"), .operationsUndone([2]))
        return log
    }

    private func shown(_ log: SampleLog, _ criteria: (inout RecordFilter) -> Void) throws -> [SequenceNumber] {
        var filter = RecordFilter()
        criteria(&filter)
        let outcomes = try log.history.outcomes()
        return try shown(log.history.items(), &filter, outcomes)
    }

    /// Returns the remaining items of the cursor that the filter shows.
    private func shown(
        _ cursor: HistoryCursor, _ filter: inout RecordFilter, _ outcomes: OperationOutcomes
    ) throws -> [SequenceNumber] {
        var shown: [SequenceNumber] = []
        while let item = try cursor.next() {
            if filter.shows(item, outcomes, of: cursor) { shown.append(item.sequence) }
        }
        return shown
    }

    @Test func `a filter without criteria shows every record`() throws {
        #expect(try shown(try log()) { _ in } == [1, 2, 3, 4, 5, 6, 7])
    }

    @Test func `an entity selects its operations, their batches and undos`() throws {
        let log = try log()
        #expect(try shown(log) { $0.entities = [id(2)] } == [2, 3, 4, 5, 7])
        #expect(try shown(log) { $0.entities = [id(1)] } == [1, 4, 5])
        #expect(try shown(log) { $0.entities = [id(3)] } == [6])
    }

    @Test func `an interrupted batch belongs to the entities of its operations`() throws {
        let log = try SampleLog()
        try log.append(
            create(1, "Orders"), create(2, "Orders"), prepared(1, 1), prepared(2, 2),
            .batchInterrupted(BatchInterrupted(batch: 1, reason: "cut")),
            .batchInterrupted(BatchInterrupted(batch: 2, reason: "cut")))
        #expect(try shown(log) { $0.entities = [id(2)] } == [2, 4, 6])
    }

    @Test func `the set of an entity is known after a compaction has removed its records during a follow`() throws {
        let shop = try ShopLog(segmentSize: 2_048, runSize: 512)
        var filter = RecordFilter()
        filter.set = "Orders"
        let outcomes = try shop.log.history.outcomes()
        let cursor = shop.log.history.items()
        #expect(try shown(cursor, &filter, outcomes) == [])
        // More records than fit into the segment that the cursor has open.
        let operations = try (100...160).map { try shop.append(create($0, "Orders", ["Note": .string("n\($0)")])) }
        try shop.append(
            .batchPrepared(
                BatchPrepared(batch: 1, changeSets: operations.map { [.init(contentID: "\($0)", operation: $0)] })),
            .batchAnswered(
                BatchAnswered(
                    batch: 1, outcomes: operations.map { .init(operation: $0, result: .confirmed(images: [])) })))
        try shop.compact()
        let last = try shop.append(update(160, ["Note": .string("n")]))
        let shown = try shown(cursor, &filter, outcomes)
        #expect(shown.last == last && !shown.contains(operations[60]))
        #expect(try self.shown(shop.log.history.items(), &filter, outcomes).last == last)
    }

    @Test func `each criterion selects independently`() throws {
        let log = try log()
        #expect(try shown(log) { $0.set = "Customers" } == [6])
        #expect(try shown(log) { $0.kind = "batchAnswered" } == [5])
        #expect(try shown(log) { $0.kind = "update" } == [3])
        #expect(try shown(log) { $0.state = "undone" } == [2])
        #expect(try shown(log) { $0.state = "pending" } == [3, 6])
        #expect(try shown(log) { $0.tag = "red" } == [3])
        #expect(try shown(log) { $0.code = "409" } == [2, 5])
        #expect(try shown(log) { $0.code = "Conflict" } == [2, 5])
        #expect(try shown(log) { $0.code = "404" } == [])
        #expect(try shown(log) { $0.since = SampleLog.time } == [1, 2, 3, 4, 5, 6, 7])
        #expect(try shown(log) { $0.since = SampleLog.time + 1 } == [])
        #expect(try shown(log) { $0.until = SampleLog.time - 1 } == [])
        #expect(
            try shown(log) {
                $0.from = 2
                $0.to = 4
            } == [2, 3, 4])
    }

    @Test func `a batch selects its records and its operations`() throws {
        let log = try log()
        let operations = try log.history.operations(of: 1)
        #expect(operations == [1, 2])
        #expect(
            try shown(log) {
                $0.batch = 1
                $0.batchOperations = operations
            } == [1, 2, 4, 5])
        #expect(try log.history.operations(of: 2) == [])
    }

    @Test func `several criteria are combined with and`() throws {
        let log = try log()
        #expect(
            try shown(log) {
                $0.entities = [id(2)]
                $0.kind = "operation"
                $0.tag = "red"
            } == [3])
    }

    @Test func `unreadable records are shown with any criteria`() throws {
        let log = try SampleLog()
        try log.append(create(1, "Orders"), .lost, create(2, "Orders"))
        #expect(try shown(log) { $0.entities = [id(1)] } == [1, 2])
        #expect(
            try shown(log) {
                $0.entities = [id(1)]
                $0.from = 3
            } == [])
    }

    // MARK: Dependences

    private func edges(_ log: SampleLog) throws -> [String] {
        var dependences = OperationDependences()
        return try log.items().flatMap { item in
            dependences.edges(of: item).map { edge in
                "\(item.sequence)→\(edge.operation) \(edge.reason)" + (edge.entity.map { " \($0)" } ?? "")
            }
        }
    }

    @Test func `an operation depends on the creates of its entities and on their last change`() throws {
        let log = try SampleLog()
        let link = Link(from: id(2), navigation: "Customer", to: id(1))
        try log.append(
            create(1, "Customers"), create(2, "Orders"), .operation(Operation(.createLink(link))),
            update(2, ["Note": .string("n")]), update(9, ["Note": .string("n")]), update(9, ["Note": .string("m")]))
        #expect(
            try edges(log) == [
                "3→2 creates ~2", "3→1 creates ~1", "4→3 changes ~2", "4→2 creates ~2", "6→5 changes ~9",
            ])
    }

    @Test func `members of change sets and transactions depend on each other`() throws {
        let log = try SampleLog()
        try log.append(
            .operation(Operation(.delete(id(1)), changeSet: 1)), .operation(Operation(.delete(id(2)), changeSet: 1)),
            .operation(Operation(.delete(id(3)), transactionID: "t")),
            .operation(Operation(.delete(id(4)), transactionID: "t")))
        #expect(try edges(log) == ["2→1 changeSet", "4→3 transaction"])
    }

    // MARK: Mentions

    @Test func `the mentions of a record of any kind are found without decoding it`() throws {
        let image = EntityImage(
            entity: id(1), set: "Orders", type: "Shop.Orders",
            values: [
                "A": .string("x"), "B": .null, "C": .collection([.integer(300), .boolean(true)]), "D": .double(1.5),
            ],
            etag: "e", links: [.init(navigation: "N", targets: [id(200)], isComplete: true)])
        let bodies: [Record.Body] = [
            create(1, "Orders", ["A": .integer(-5)]),
            update(2, ["B": .null], bind: [Binding(navigation: "N", targets: [id(3)])]),
            .operation(Operation(.delete(id(70_000)), transactionID: "t", customTag: "c")),
            .operation(Operation(.delete(id(5)), uploadCategory: .named("x"), delivery: .draft)),
            .downloadPage(DownloadPage(query: "Q", entities: [image])),
            .downloadPage(
                DownloadPage(
                    query: "Q", entities: [image], unchanged: [id(4), id(5), id(9)], removed: [id(6)], left: [id(7)],
                    links: [.init(source: id(8), navigation: "N", target: id(10), isAdded: true)], next: "n")),
            .entitiesRead([image]), .entitiesMissing([id(1), id(2)]), prepared(1, 7, 300),
            answered(
                1, (7, .confirmed(images: [image])), (8, .rejected(refusal("no"))),
                (9, .deferred(refusal("no"), attempts: 2)),
                (10, .notProcessed), (11, .inDoubt("why"))),
            .operationsUndone([3, 400]), .deliveryChanged([5], to: .draft), .downloadStarted(queries: ["Q"]),
        ]
        for body in bodies {
            let (kind, payload) = RecordCodec.encode(Record(time: 1, body: body))
            var entities: Set<EntityID> = []
            var operations: Set<SequenceNumber> = []
            let isDescribed = payload.withUnsafeBytes { bytes in
                RecordMentions.visit(
                    kind: kind, payload: bytes, entity: { entities.insert(EntityID(rawValue: $0)) },
                    operation: { operations.insert($0) })
            }
            #expect(isDescribed, "\(body)")
            #expect(entities.isSuperset(of: body.entities), "\(body)")
            #expect(operations == Set(body.namedOperations), "\(body)")
            // If the payload is cut, the function refuses it or visits fewer mentions, and never traps.
            for length in payload.indices {
                _ = payload.prefix(length).withUnsafeBytes { bytes in
                    RecordMentions.visit(kind: kind, payload: bytes, entity: { _ in }, operation: { _ in })
                }
            }
        }
    }

    @Test func `a bar shows the stored and the saved size`() {
        #expect(SizeBar.text(stored: 25, raw: 100, largest: 100, width: 8) == "██░░░░░░")
        #expect(SizeBar.text(stored: 60, raw: 50, largest: 100, width: 10) == "██████")
        #expect(SizeBar.text(stored: 1, raw: 2, largest: 1_000_000, width: 10) == "█")
        #expect(SizeBar.text(stored: 0, raw: 0, largest: 0) == "")
    }
}
