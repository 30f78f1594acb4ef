import EDM
import Operations
import SyncCore
import Testing

/// The cost of a change does not grow with the number of pending changes of its entity. The tests count the work
/// instead of measuring time.
struct ManyChangesTests {
    private let customer = EntityID(rawValue: 1)

    private func image(_ name: String) -> EntityImage {
        EntityImage(
            entity: customer, set: "Customers", type: "Shop.Customer",
            values: ["CustomerID": .integer(1), "Name": .string(name)])
    }

    /// A fold that counts the pending operations that it reads.
    private struct Changes {
        let state = WorkingSet()
        private var fold: Fold

        init() throws {
            fold = try Fold(storage: state)
            try add(.serviceInstalled(TestModel.service))
        }

        @discardableResult
        mutating func add(_ body: Record.Body) throws -> SequenceNumber {
            let sequence = try state.header().applied + 1
            try fold.apply(Record(time: 0, body: body), sequence: sequence)
            try fold.finishRebase()
            return sequence
        }

        /// Applies a record and returns the number of pending operations that were read.
        mutating func work(_ body: Record.Body) throws -> Int {
            let before = state.queue.operationsRead
            try add(body)
            return state.queue.operationsRead - before
        }
    }

    private func rename(_ number: Int) -> Record.Body {
        .operation(Operation(.update(customer, changes: ["Name": .string("\(number)")], bindings: [])))
    }

    @Test
    func `a response about many changes of an entity reads the later ones only once`() throws {
        let (pending, answered) = (600, 100)
        var changes = try Changes()
        try changes.add(.entitiesRead([image("Ada")]))
        let operations = try (1...pending).map { try changes.add(rename($0)) }.prefix(answered)
        let batch = try changes.state.header().nextBatch
        try changes.add(
            .batchPrepared(
                BatchPrepared(batch: batch, changeSets: operations.map { [.init(contentID: "1", operation: $0)] })))
        // The first response computes the effects of the operations.
        for images in [[], [image("somebody else's")]] {
            let part = images.isEmpty ? operations.prefix(answered / 2) : operations.suffix(answered / 2)
            let outcomes = part.map { BatchAnswered.Outcome(operation: $0, result: .confirmed(images: images)) }
            let work = try changes.work(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
            #expect(work < 8 * pending, "\(work) operations were read")
        }
    }

    @Test
    func `an update after a change by another client reads only the last pending change`() throws {
        var changes = try Changes()
        try changes.add(.entitiesRead([image("Ada")]))
        try changes.add(rename(0))
        try changes.add(.entitiesRead([image("Eve")]))
        #expect(try changes.state.bookkeeping.mergeBases() == [customer])
        var work = 0
        for number in 1...300 { work += try changes.work(rename(number)) }
        #expect(work < 5 * 300, "\(work) operations were read")
    }
}
