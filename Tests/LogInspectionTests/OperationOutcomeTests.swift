import LogInspection
import OperationLog
import Operations
import Testing

@Suite struct OperationOutcomeTests {
    /// Appends five operations as records 1 to 5, and the facts. Returns the names of the outcomes of the operations.
    private func outcomes(after facts: Record.Body...) throws -> [String] {
        let log = try SampleLog()
        for number in 1...5 { try log.append(create(UInt64(number), "Orders")) }
        for fact in facts { try log.append(fact) }
        let outcomes = try log.history.outcomes()
        return (1...5).map { outcomes[$0]?.name ?? "none" }
    }

    @Test func `an operation without a batch is pending`() throws {
        #expect(try outcomes() == Array(repeating: "pending", count: 5))
    }

    @Test func `a prepared batch puts its operations in flight`() throws {
        #expect(try outcomes(after: prepared(1, 2, 3)) == ["pending", "inFlight", "inFlight", "pending", "pending"])
    }

    @Test func `a response determines the outcome of each operation by its own result`() throws {
        let answer = answered(
            1, (1, .confirmed(images: [])), (2, .rejected(refusal("no"))), (3, .notProcessed), (4, .inDoubt("lost")))
        #expect(
            try outcomes(after: prepared(1, 1, 2, 3, 4), answer)
                == ["confirmed", "rejected", "pending", "inDoubt", "pending"])
    }

    @Test func `a lost response puts the operations in flight in doubt`() throws {
        #expect(
            try outcomes(
                after: prepared(1, 1, 2), answered(1, (1, .confirmed(images: []))), prepared(2, 2, 3),
                .batchInterrupted(BatchInterrupted(batch: 2, reason: "cut")))
                == ["confirmed", "inDoubt", "inDoubt", "pending", "pending"])
    }

    @Test func `released operations are pending again`() throws {
        #expect(
            try outcomes(
                after: prepared(1, 1, 2), .batchInterrupted(BatchInterrupted(batch: 1, reason: "cut")),
                .operationsReleased([1])) == ["pending", "inDoubt", "pending", "pending", "pending"])
    }

    @Test func `a rejected operation that is sent again and confirmed is confirmed`() throws {
        #expect(
            try outcomes(
                after: prepared(1, 1), answered(1, (1, .rejected(refusal("no")))), prepared(2, 1),
                answered(2, (1, .confirmed(images: []))))[0] == "confirmed")
    }

    @Test func `a confirmed operation stays confirmed after any later records`() throws {
        #expect(
            try outcomes(
                after: prepared(1, 1), answered(1, (1, .confirmed(images: []))),
                answered(2, (1, .rejected(refusal("no")))), .operationsReleased([1]))[0] == "confirmed")
    }

    @Test func `undone operations are undone, and have their former outcome when they are redone`() throws {
        let refused = answered(1, (1, .rejected(refusal("no"))), (2, .confirmed(images: [])))
        #expect(
            try outcomes(after: prepared(1, 1, 2), refused, .operationsUndone([1, 2, 3, 4]))
                == ["undone", "confirmed", "undone", "undone", "pending"])
        #expect(
            try outcomes(
                after: prepared(1, 1, 2), refused, .operationsUndone([1, 2, 3, 4]), .operationsRedone([1, 3]))
                == ["rejected", "confirmed", "pending", "undone", "pending"])
    }

    @Test func `an undone operation in a batch was redone by a lost record`() throws {
        #expect(try outcomes(after: .operationsUndone([1, 2]), prepared(1, 1))[..<2] == ["inFlight", "undone"])
    }

    @Test func `a sequence number that is not an operation has no outcome`() throws {
        let log = try SampleLog()
        try log.append(.downloadFinished(query: "Orders"), answered(1, (1, .confirmed(images: []))))
        #expect(try log.history.outcomes()[1] == nil)
    }

    @Test func `after a record that cannot be decoded, only confirmed operations have a known outcome`() throws {
        let log = try SampleLog()
        try log.append(
            create(1, "Orders"), create(2, "Orders"), prepared(1, 1), answered(1, (1, .confirmed(images: []))))
        try log.log.append([(kind: RecordCodec.RecordKind.batchAnswered.rawValue, payload: [0xFF])])
        try log.append(create(3, "Orders"))
        #expect(try log.history.outcomes().counts == ["confirmed": 1, "unknown": 1, "pending": 1])
    }
}
