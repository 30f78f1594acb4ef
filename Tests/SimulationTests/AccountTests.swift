import EDM
import Operations
import Testing

@testable import Simulation

/// The values that a device claims to have written.
struct AccountTests {
    private let order = EntityID(rawValue: 1)

    private func account(
        _ bodies: Record.Body..., endings: [SequenceNumber: DeviceHistory.Outcome] = [:]
    ) -> DeviceHistory {
        let records = bodies.enumerated().map { (SequenceNumber($0 + 1), Record(time: 0, body: $1)) }
        return DeviceHistory(device: 0, acknowledged: [], history: History(records), endings: endings)
    }

    private var creation: Record.Body {
        .operation(
            Operation(
                .create(
                    Creation(entity: order, set: "Orders", type: "Field.Order", values: ["Mark": .string("m")]),
                    parent: nil)))
    }

    private func update(_ note: String) -> Record.Body {
        .operation(Operation(.update(order, changes: ["Note": .string(note)], bindings: [])))
    }

    @Test func `a device claims the last of its confirmed writes`() {
        let claim = account(creation, update("a"), update("b"), update("c"), endings: [4: .without]).values["m Note"]
        #expect(claim?.last == "b")
        #expect(claim?.perhaps == [])
    }

    @Test func `a write in doubt may have taken effect or not`() {
        let claim = account(creation, update("a"), update("b"), endings: [3: .unknown]).values["m Note"]
        #expect(claim?.last == "a")
        #expect(claim?.perhaps == ["b"])
    }

    @Test func `a redone write may have been sent after later ones`() {
        let claim = account(creation, update("a"), .operationsUndone([2]), .operationsRedone([2]), update("b"))
            .values["m Note"]
        #expect(claim?.last == "b")
        #expect(claim?.perhaps == ["a"])
    }

    @Test func `a device does not claim values that a conflict resolution dropped`() {
        let resolved = ConflictResolved(
            entity: order, decision: .serverWins, dropped: [.init(operation: 2, properties: ["Note"])])
        let account = account(creation, update("a"), .conflictResolved(resolved))
        #expect(account.values["m Note"] == nil)
        #expect(account.history.decided == [2])
        #expect(account.history.decisions[order] == 3)
    }

    @Test func `an operation that was sent without a response counts as in doubt, regardless of its outcome`() {
        let prepared = BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: 2)]])
        let answered = BatchAnswered(batch: 2, outcomes: [.init(operation: 2, result: .confirmed(images: []))])
        let account = account(
            creation, update("a"), .batchPrepared(prepared),
            .batchInterrupted(BatchInterrupted(batch: 1, reason: "")), .batchAnswered(answered))
        #expect(account.history.doubted == [2])
    }
}
