import LogInspection
import OfflineStore
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing

@Suite struct CompactedHistoryTests {
    /// Returns a log of five operations, one of each status, of which only a snapshot remains.
    ///
    ///  - Parameter undone: The operations that are undone in the snapshot.
    private func compacted(undone: Set<UInt64> = []) throws -> SampleLog {
        let log = try SampleLog()
        let state = WorkingSet()
        for number in 1...5 as ClosedRange<UInt64> {
            try log.append(create(number, "Orders"))
            guard case .operation(let operation) = create(number, "Orders"), number != 3 else { continue }
            let status: [UInt64: PendingOperation.Status] = [
                1: .rejected(refusal("no")), 2: .inDoubt(1, reason: "cut"), 4: .inFlight(2),
            ]
            try state.register(id(number), set: "Orders")
            let pending = PendingOperation(
                sequence: number, time: SampleLog.time, operation: operation, status: status[number] ?? .pending)
            if undone.contains(number) {
                try state.bookkeeping.putUndone(UndoneOperation(operation: pending, undo: 5))
            } else {
                try state.putPending(pending)
            }
        }
        try state.setHeader(StateHeader(applied: 5))
        let fold = try Fold(storage: state)
        _ = try log.log.writeSnapshot { writer in
            try fold.writeSnapshot { try writer.add(kind: $0, payload: $1) }
        }
        try log.log.compact(keepingFrom: .max)
        return log
    }

    private func outcomes(_ log: SampleLog) throws -> [String] {
        let outcomes = try log.history.outcomes()
        return (1...5).map { outcomes[$0]?.name ?? "none" }
    }

    @Test func `operations that were pending at a compaction stay in the history with their outcomes`() throws {
        let log = try compacted()
        let items = try log.items()
        #expect(items.map(\.sequence) == [1, 1, 2, 4, 5])
        #expect(items[0] == .compacted(from: 1, resumesAt: 6))
        guard case .carried(let entry, .rejected(nil, refusal("no")), resumesAt: 6) = items[1] else {
            Issue.record("\(items[1])")
            return
        }
        #expect(entry.summary == "create Orders(~1)")
        #expect(try outcomes(log) == ["rejected", "inDoubt", "none", "inFlight", "pending"])
        #expect(items[1].json().hasSuffix(#""fate":"rejected","carried":true}"#))
    }

    @Test func `undone operations stay in the history after a compaction, and can be redone`() throws {
        let log = try compacted(undone: [1, 5])
        #expect(try outcomes(log) == ["undone", "inDoubt", "none", "inFlight", "undone"])
        #expect(try log.items().map(\.sequence) == [1, 1, 2, 4, 5])
        try log.append(.operationsRedone([1, 5]))
        #expect(try outcomes(log) == ["rejected", "inDoubt", "none", "inFlight", "pending"])
    }

    @Test func `records after a compaction update the outcomes of these operations`() throws {
        let log = try compacted()
        try log.append(
            .batchInterrupted(BatchInterrupted(batch: 2, reason: "gone")), prepared(3, 1, 5),
            answered(3, (1, .confirmed(images: [])), (5, .rejected(refusal("late")))), .operationsReleased([2]))
        #expect(try outcomes(log) == ["confirmed", "pending", "none", "inDoubt", "rejected"])
    }

    @Test func `a second pass over the items does not change outcomes`() throws {
        let log = try compacted()
        try log.append(prepared(3, 1, 5), answered(3, (1, .confirmed(images: [])), (5, .notProcessed)))
        var outcomes = try log.history.outcomes()
        let before = (1...5).map { outcomes[$0] }
        for item in try log.items() { outcomes.apply(item) }
        #expect((1...5).map { outcomes[$0] } == before)
    }

    // MARK: One operation

    @Test func `an operation that only the snapshot contains is shown as stored there`() throws {
        let log = try compacted(undone: [5])
        let store = InspectedStore(directory: log.directory.path)
        let detail = try store.detail(of: 1)
        #expect(detail.entry.summary == "create Orders(~1)")
        #expect(detail.outcome == .rejected(nil, refusal("no")))
        #expect(detail.compactedBefore == 6)
        #expect(detail.json.contains(#""fate":"rejected","compactedBefore":6"#))
        #expect(try store.detail(of: 5).outcome?.name == "undone")
        #expect {
            try store.detail(of: 3)
        } throws: {
            ($0 as? TidelogError)?.message == "A compaction removed the records before 6, including 3."
        }
    }

    @Test func `the details of an operation that only the snapshot contains include later records about it`() throws {
        let log = try compacted()
        try log.append(prepared(3, 3, 5), answered(3, (3, .confirmed(images: [])), (5, .rejected(refusal("late")))))
        let store = InspectedStore(directory: log.directory.path)
        let detail = try store.detail(of: 5)
        #expect(detail.outcome == .rejected(3, refusal("late")))
        #expect(detail.effects.map(\.sequence) == [6, 7])
        #expect(try store.detail(of: 7).causes.map(\.sequence) == [5, 6])
    }
}
