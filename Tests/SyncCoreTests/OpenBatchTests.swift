import EDM
import Operations
import SyncCore
import Testing

/// Sent batches, and the status of their operations.
struct OpenBatchTests {
    private let store: TestStore
    private let customer: EntityID
    private let refusal = Refusal(status: 400, code: "", message: "no", method: "POST", url: "x")

    init() throws {
        store = try TestStore()
        customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("Ada")], etag: "1")
    }

    private func rename(_ name: String) throws -> SequenceNumber {
        try store.perform([.update(customer, changes: ["Name": .string(name)], bindings: [])])[0]
    }

    private func prepare(_ batch: BatchID, _ operations: SequenceNumber...) throws {
        let requests = operations.map { [BatchPrepared.Request(contentID: "\($0)", operation: $0)] }
        try store.add(.batchPrepared(BatchPrepared(batch: batch, changeSets: requests)))
    }

    private func interrupt(_ batch: BatchID) throws {
        try store.add(.batchInterrupted(BatchInterrupted(batch: batch, reason: "cut")))
    }

    private func answer(_ batch: BatchID, _ operation: SequenceNumber, _ result: BatchAnswered.Result) throws {
        try store.add(
            .batchAnswered(BatchAnswered(batch: batch, outcomes: [.init(operation: operation, result: result)])))
    }

    private func open() throws -> [BatchID] { try store.state.bookkeeping.openBatches().map(\.batch) }

    private func status(_ operation: SequenceNumber) throws -> PendingOperation.Status {
        try #require(try store.state.pendingOperation(operation)).status
    }

    // MARK: The end of a batch

    @Test func `a batch is open as long as one of its operations is in flight or in doubt`() throws {
        let (first, second) = (try rename("B"), try rename("C"))
        try prepare(1, first, second)
        try answer(1, first, .confirmed(images: []))
        #expect(try open() == [1])
        try interrupt(1)
        #expect(try open() == [1])
        try store.add(.operationsReleased([second]))
        #expect(try open() == [])
    }

    @Test func `an operation that is sent again ends its former batch`() throws {
        let update = try rename("B")
        try prepare(1, update)
        try interrupt(1)
        try prepare(2, update)
        #expect(try open() == [2])
    }

    @Test func `a batch without a pending operation is not kept`() throws {
        try prepare(1, 999)
        #expect(try open() == [])
    }

    @Test(arguments: [true, false])
    func `the resolution of a conflict ends the batch of the operations that it releases or takes back`(
        _ isReleased: Bool
    ) throws {
        let update = try rename("B")
        try prepare(1, update)
        try interrupt(1)
        try store.add(
            .conflictResolved(
                ConflictResolved(
                    entity: customer, decision: .app, takenBack: isReleased ? [] : [update],
                    released: isReleased ? [update] : [])))
        #expect(try open() == [])
    }

    @Test func `operations that no longer fit the metadata end their batch`() throws {
        let update = try rename("B")
        try prepare(1, update)
        try interrupt(1)
        try store.add(
            .operationsIncompatible([IncompatibleOperation(operation: update, refusal: Refusal(modelChanged: "gone"))]))
        #expect(try open() == [])
    }

    // MARK: Monitors and numbers

    @Test func `an interrupted batch has no status monitor any more`() throws {
        let update = try rename("B")
        try prepare(1, update)
        try store.add(.batchAccepted(BatchAccepted(batch: 1, monitor: "m")))
        #expect(try store.state.bookkeeping.openBatch(1)?.monitor == "m")
        try interrupt(1)
        let batch = try #require(try store.state.bookkeeping.openBatch(1))
        #expect(batch.monitor == nil)
        #expect(try status(update) == .inDoubt(1, reason: "cut"))
    }

    @Test func `an accepted batch that is no longer open is ignored`() throws {
        try store.add(.batchAccepted(BatchAccepted(batch: 1, monitor: "m")))
        #expect(try open() == [])
    }

    @Test func `the interruption of a batch does not concern operations that another batch sends`() throws {
        let update = try rename("B")
        try prepare(1, update)
        try prepare(2, update)
        try interrupt(1)
        #expect(try status(update) == .inFlight(2))
    }

    @Test func `without a record of the batch, its interruption concerns the operations in flight`() throws {
        let (update, other) = (try rename("B"), try rename("C"))
        try prepare(1, update)
        try prepare(2, other)
        try store.state.bookkeeping.removeOpenBatch(1)
        try interrupt(1)
        #expect(try status(update) == .inDoubt(1, reason: "cut"))
        #expect(try status(other) == .inFlight(2))
    }

    @Test func `the number of a batch is never assigned again`() throws {
        let update = try rename("B")
        try prepare(7, update)
        #expect(try store.state.header().nextBatch == 8)
        try prepare(3, update)
        #expect(try store.state.header().nextBatch == 8)
        try prepare(8, update)
        #expect(try store.state.header().nextBatch == 9)
    }

    // MARK: Outcomes

    @Test func `each result of an operation determines its status`() throws {
        let updates = try (1...5).map { try rename("\($0)") }
        try prepare(1, updates[0], updates[1], updates[2], updates[3], updates[4])
        let results: [BatchAnswered.Result] = [
            .confirmed(images: []), .rejected(refusal), .deferred(refusal, attempts: 2), .notProcessed,
            .inDoubt("unclear"),
        ]
        let outcomes = zip(updates, results).map { BatchAnswered.Outcome(operation: $0, result: $1) }
        try store.add(.batchAnswered(BatchAnswered(batch: 1, outcomes: outcomes)))
        #expect(try store.state.pendingOperation(updates[0]) == nil)
        #expect(try status(updates[1]) == .rejected(refusal))
        #expect(try status(updates[2]) == .deferred(refusal, attempts: 2))
        #expect(try status(updates[3]) == .pending)
        #expect(try status(updates[4]) == .inDoubt(1, reason: "unclear"))
    }

    static let results: [(BatchAnswered.Result, Bool)] = {
        let refusal = Refusal(status: 503, code: "", message: "no", method: "POST", url: "x")
        return [
            (.confirmed(images: []), false), (.rejected(refusal), false), (.deferred(refusal, attempts: 1), true),
            (.notProcessed, true), (.inDoubt("unclear"), true),
        ]
    }()

    @Test(arguments: 0..<results.count)
    func `a postponement ends when the service has processed an operation`(_ place: Int) throws {
        let (result, isPostponed) = Self.results[place]
        let update = try rename("B")
        try store.add(.uploadPostponed(UploadPostponed(notBefore: 90, attempt: 1, reason: "busy")))
        try prepare(1, update)
        try answer(1, update, result)
        #expect(try (store.state.header().postponed != nil) == isPostponed)
    }

    // MARK: Times

    /// Applies a record at a time.
    private func add(_ body: Record.Body, at time: Timestamp, to fold: inout Fold) throws -> SequenceNumber {
        let sequence = try fold.storage.header().applied + 1
        try fold.apply(Record(time: time, body: body), sequence: sequence)
        try fold.finishRebase()
        return sequence
    }

    @Test func `the time of a status is that of the record that changed its kind`() throws {
        var fold = try Fold(storage: store.state)
        func since(_ operation: SequenceNumber) throws -> Timestamp? {
            try fold.storage.pendingOperation(operation)?.since
        }
        let operation = Operation(.update(customer, changes: ["Name": .string("B")], bindings: []))
        let update = try add(.operation(operation), at: 10, to: &fold)
        #expect(try since(update) == 10)
        let prepared = BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: update)]])
        _ = try add(.batchPrepared(prepared), at: 20, to: &fold)
        #expect(try since(update) == 20)
        _ = try add(.batchInterrupted(BatchInterrupted(batch: 1, reason: "cut")), at: 30, to: &fold)
        #expect(try since(update) == 30)
        _ = try add(.operationsReleased([update]), at: 40, to: &fold)
        _ = try add(.operationsReleased([update]), at: 50, to: &fold)
        #expect(try since(update) == 40, "the second record changes nothing")
        _ = try add(.lost, at: 60, to: &fold)
        #expect(try since(update) == 40, "a lost record has no time")
    }

    @Test func `an operation that is undone while it is sent is pending since it was made`() throws {
        var fold = try Fold(storage: store.state)
        let operation = Operation(.update(customer, changes: ["Name": .string("B")], bindings: []))
        let update = try add(.operation(operation), at: 10, to: &fold)
        let prepared = BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: update)]])
        _ = try add(.batchPrepared(prepared), at: 20, to: &fold)
        _ = try add(.operationsUndone([update]), at: 30, to: &fold)
        let undone = try #require(try store.state.bookkeeping.undoneOperation(update))
        #expect(undone.operation.status == .pending)
        #expect(undone.operation.since == 10)
        #expect(try open() == [])
    }

    @Test func `an amended operation is pending since then, unless it is being sent`() throws {
        var fold = try Fold(storage: store.state)
        func operation(_ name: String) -> Operation {
            Operation(.update(customer, changes: ["Name": .string(name)], bindings: []))
        }
        let update = try add(.operation(operation("B")), at: 10, to: &fold)
        let amended = AmendedOperation(operation: update, content: operation("C"))
        _ = try add(.operationsAmended([amended]), at: 20, to: &fold)
        #expect(try store.state.pendingOperation(update)?.since == 20)
        #expect(try store.value(customer, "Name") == .string("C"))
        let prepared = BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: update)]])
        _ = try add(.batchPrepared(prepared), at: 30, to: &fold)
        let late = AmendedOperation(operation: update, content: operation("D"))
        _ = try add(.operationsAmended([late]), at: 40, to: &fold)
        #expect(try store.value(customer, "Name") == .string("C"))
        #expect(try status(update) == .inFlight(1))
    }
}
