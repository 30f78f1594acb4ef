import EDM
import OperationLog
import Operations
import Testing

@testable import LogInspection

@Suite struct StatisticsTests {
    @Test func `the statistics count the records of each kind, and the shares add up to the blocks`() throws {
        let sample = try SampleLog(segmentSize: 400)
        for number in UInt64(1)...20 { try sample.append(create(number, "Customers", ["Name": .string("A\(number)")])) }
        try sample.append(prepared(1, 1, 2), answered(1, (1, .confirmed(images: []))))
        let statistics = try sample.history.statistics()
        #expect(statistics.segments.count > 1)
        #expect(statistics.kinds.map(\.name) == ["operation", "batchPrepared", "batchAnswered"])
        #expect(statistics.kinds.map(\.records) == [20, 1, 1])
        #expect(statistics.operations == 20)
        #expect(statistics.kinds.reduce(0) { $0 + $1.rawBytes } == statistics.size.rawBytes)
        let shares = statistics.kinds.reduce(0) { $0 + $1.storedBytes }
        #expect(shares.distance(to: statistics.size.storedBytes).magnitude <= 3)
    }

    @Test func `the names of kinds are those of the history, and one for all changes of the queue`() throws {
        let sample = try SampleLog()
        try sample.append(
            create(1, "Customers"), prepared(1, 1), answered(1), .definingQueryRemoved(name: "x"),
            .operationsReleased([1]))
        let names = try sample.items().compactMap { if case .entry(let entry) = $0 { entry.kind } else { nil } }
        let kinds = names.map { $0 == "operationsReleased" ? "queueChanged" : $0 }
        #expect(Set(try sample.history.statistics().kinds.map(\.name)) == Set(kinds))
    }

    @Test func `a record that cannot be decoded is damage only in a deep verification`() throws {
        let sample = try SampleLog()
        try sample.append(create(1, "Customers"))
        try sample.log.append([(kind: 2, payload: [0xFF])])
        #expect(try sample.history.verify(depth: .fast).isSound)
        let deep = try sample.history.verify()
        #expect(deep.damages.map(\.sequence) == [2])
        #expect(deep.records == 1)
    }
}

@Suite struct LossTests {
    @Test func `lost records are one item, and leave the outcomes of earlier operations unknown`() throws {
        let sample = try SampleLog()
        try sample.append(create(1, "Customers"), .lost, .lost, .lost, create(2, "Customers"), .lost)
        let items = try sample.items()
        #expect(items.count == 4)
        #expect(items[1] == .lost(2...4))
        #expect(items[1].json() == #"{"sequence":2,"kind":"lost","last":4}"#)
        #expect(items[3] == .lost(6...6))
        let outcomes = try sample.history.outcomes()
        #expect(outcomes[1] == .unknown)
        #expect(outcomes[5] == .unknown)
    }
}
