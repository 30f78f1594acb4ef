import Operations
import SyncCore
import Testing

/// Events of the last downloads and uploads, derived from the records.
struct EventTests {
    private let state = WorkingSet()

    private func folded(_ bodies: [Record.Body]) throws -> [StoreEvent] {
        var fold = try Fold(storage: state)
        let queries = ["A", "B"].map { Record.Body.definingQueryAdded(DefiningQuery(name: $0, query: "Orders")) }
        for (index, body) in (queries + bodies).enumerated() {
            try fold.apply(Record(time: Timestamp(index + 1) * 10, body: body), sequence: SequenceNumber(index + 1))
            try fold.finishRebase()
        }
        return try state.bookkeeping.events()
    }

    private func answered(_ operations: SequenceNumber...) -> Record.Body {
        let refused = BatchAnswered.Result.rejected(
            Refusal(status: 400, code: "", message: "m", method: "POST", url: "O"))
        return .batchAnswered(
            BatchAnswered(batch: 1, outcomes: operations.map { .init(operation: $0, result: refused) }))
    }

    @Test func `a download of all queries is one event without details`() throws {
        let events = try folded([
            .downloadStarted(queries: ["A", "B"]), .downloadFinished(query: "A"), .downloadFinished(query: "B"),
        ])
        #expect(events == [StoreEvent(id: 4, kind: .download, time: 50, mark: 3)])
    }

    @Test func `a download of some queries is an event with their names`() throws {
        let events = try folded([
            .downloadStarted(queries: ["B"]), .downloadFinished(query: "B"), .downloadStarted(queries: ["B"]),
            .downloadFinished(query: "B"),
        ])
        #expect(events.map(\.subset) == [["B"], ["B"]])
        #expect(events.map(\.id) == [4, 6])
    }

    @Test func `a download without a result is no event`() throws {
        #expect(try folded([.downloadStarted(queries: ["A"]), .downloadPage(DownloadPage(query: "A"))]).isEmpty)
    }

    @Test func `the batches of an upload are one event, and later ones are another`() throws {
        let events = try folded([answered(1), answered(2), answered(4)])
        #expect(
            events == [
                StoreEvent(id: 3, kind: .upload, time: 40, mark: 4),
                StoreEvent(id: 5, kind: .upload, time: 50, mark: 5),
            ])
    }

    @Test func `a batch without a response is no event`() throws {
        let nothing = BatchAnswered(batch: 1, outcomes: [.init(operation: 1, result: .notProcessed)])
        #expect(try folded([.batchAnswered(nothing)]).isEmpty)
    }

    @Test func `the last hundred events are kept`() throws {
        let downloads = (0..<101).flatMap { _ in
            [Record.Body.downloadStarted(queries: ["A"]), .downloadFinished(query: "A")]
        }
        let events = try folded(downloads)
        #expect(events.count == 100)
        #expect(events.first?.id == 6)
        #expect(events.last?.id == 204)
    }
}
