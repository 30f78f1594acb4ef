import EDM
import OperationLog
import Operations
import TestSupport
import Testing

@testable import LogInspection

@Suite struct HistoryTests {
    private func sequences(_ items: [HistoryItem]) -> [SequenceNumber] {
        items.compactMap { if case .entry(let entry) = $0 { entry.sequence } else { nil } }
    }

    @Test func `a history contains each record once, in order`() throws {
        let log = try SampleLog(segmentSize: 4_096, runSize: 512)
        for number in 1...300 { try log.append(create(UInt64(number), "Orders")) }
        #expect(sequences(try log.items()) == Array(1...300))
    }

    @Test func `a cursor at the end returns records that are appended later`() throws {
        let log = try SampleLog()
        try log.append(create(1, "Orders"))
        let cursor = log.history.items()
        #expect(sequences(try SampleLog.items(cursor)) == [1])
        try log.append(create(2, "Orders"), .operation(Operation(.delete(id(1)))))
        #expect(sequences(try SampleLog.items(cursor)) == [2, 3])
    }

    @Test func `an entity that a record mentions twice is listed once`() throws {
        let log = try SampleLog()
        try log.append(.operation(Operation(.createLink(Link(from: id(5), navigation: "Friends", to: id(5))))))
        guard case .entry(let entry) = try #require(try log.items().first) else {
            Issue.record("no entry")
            return
        }
        #expect(entry.entities == [id(5)])
    }

    @Test func `a directory without a log is reported as an error`() throws {
        let directory = TemporaryDirectory()
        #expect(throws: LogError.noLog(path: directory.path + "/log")) {
            try LogHistory(logDirectory: directory.path + "/log").items().next()
        }
    }

    // MARK: Compaction

    /// Returns a log of forty creates, of which a snapshot replaces the first thirty.
    private func compactedLog() throws -> SampleLog {
        let log = try SampleLog()
        for number in 1...30 { try log.append(create(UInt64(number), "Orders")) }
        _ = try log.log.writeSnapshot { try $0.add(kind: 1, payload: [1]) }
        for number in 31...40 { try log.append(create(UInt64(number), "Orders")) }
        try log.log.compact(keepingFrom: .max)
        return log
    }

    @Test func `a compaction is one item, and the history starts after it`() throws {
        let items = try compactedLog().items()
        #expect(items.first == .compacted(from: 1, resumesAt: 31))
        #expect(items.first?.json() == #"{"sequence":1,"kind":"compacted","resumesAt":31}"#)
        #expect(sequences(items) == Array(31...40))
    }

    @Test func `a cursor that a compaction overtakes reports the missed records`() throws {
        let log = try SampleLog(segmentSize: 1_000, runSize: 512)
        for number in 1...60 { try log.append(create(UInt64(number), "Orders")) }
        let cursor = log.history.items()
        #expect(try cursor.next()?.sequence == 1)
        _ = try log.log.writeSnapshot { try $0.add(kind: 1, payload: [1]) }
        try log.log.compact(keepingFrom: .max)
        try log.append(create(61, "Orders"))
        let items = try SampleLog.items(cursor)
        guard
            case .compacted(let from, let next)? = items.first(where: {
                if case .compacted = $0 { true } else { false }
            })
        else {
            Issue.record("\(items)")
            return
        }
        #expect(next == 61)
        #expect(sequences(items) == Array(2..<from) + [61])
    }

    @Test func `outcomes are updated by later records, and records that were already applied do not change them`()
        throws
    {
        let log = try SampleLog()
        try log.append(create(1, "Orders"), create(2, "Orders"), prepared(7, 1))
        let cursor = log.history.items()
        var outcomes = try log.history.outcomes()
        try log.append(answered(7, (1, .confirmed(images: []))))
        var seen: [String?] = []
        while let item = try cursor.next() {
            outcomes.apply(item)
            seen.append(outcomes[1]?.name)
        }
        #expect(seen == ["inFlight", "inFlight", "inFlight", "confirmed"])
    }

    // MARK: Damage

    @Test func `damage is reported once, and the history continues after it`() throws {
        let log = try SampleLog(segmentSize: 8_192, runSize: 512)
        for number in 1...400 { try log.append(create(UInt64(number), "Orders", ["No": .integer(Int64(number))])) }
        log.log.close()
        try log.damage(log.segment(1), at: 3_000)
        let items = try log.items()
        let damages = items.compactMap { item -> (first: SequenceNumber, next: SequenceNumber)? in
            guard case .damage(let damage, let next?) = item else { return nil }
            return (damage.sequence, next)
        }
        let damage = try #require(damages.first)
        #expect(damages.count == 1)
        #expect(sequences(items) == Array(1..<damage.first) + Array(damage.next...400))
    }

    @Test func `damage without readable records after it ends the history`() throws {
        let log = try SampleLog()
        for number in 1...50 { try log.append(create(UInt64(number), "Orders")) }
        log.log.close()
        let size = try #require(TemporaryDirectory.read(log.segment(1))).count
        TemporaryDirectory.write(Array(repeating: 0x55, count: size), to: log.segment(1))
        let cursor = log.history.items()
        let items = try SampleLog.items(cursor)
        guard case .damage(_, resumesAt: nil) = try #require(items.last) else {
            Issue.record("the history ends with \(items.last!)")
            return
        }
        #expect(try cursor.next() == nil)
    }

    @Test func `a history that continues after a damaged header returns records that are appended later`() throws {
        let directory = TemporaryDirectory()
        let options = OperationLog.Options(durability: .everyCommit, runSize: 1)
        let (log, _) = try OperationLog.open(directory: directory.path + "/log", options: options)
        func append(_ number: UInt64) throws {
            try log.append([RecordCodec.encode(Record(time: SampleLog.time, body: create(number, "Orders")))])
        }
        for number in 1...6 as ClosedRange<UInt64> { try append(number) }
        let place = try #require(try InspectedStore(directory: directory.path).detail(of: 3).place)
        var bytes = try #require(TemporaryDirectory.read(place.path))
        bytes[Int(place.blockOffset) + 9] ^= 0x55
        TemporaryDirectory.write(bytes, to: place.path)
        let cursor = LogHistory(logDirectory: directory.path + "/log").items()
        let items = try SampleLog.items(cursor)
        #expect(sequences(items) == [1, 2, 4, 5, 6])
        guard case .damage(_, resumesAt: 4) = items[2] else {
            Issue.record("\(items[2])")
            return
        }
        try append(7)
        #expect(sequences(try SampleLog.items(cursor)) == [7])
    }

    @Test func `a segment with a damaged header loses no record`() throws {
        let log = try SampleLog()
        for number in 1...50 { try log.append(create(UInt64(number), "Orders")) }
        log.log.close()
        try log.damage(log.segment(1), at: 20)
        let items = try log.items()
        guard case .damage(_, resumesAt: 1) = try #require(items.first) else {
            Issue.record("the history begins with \(items[0])")
            return
        }
        #expect(sequences(items) == Array(1...50))
    }

    @Test(arguments: 0..<64) func `no changed byte ends the history with an error or hides a record`(
        step: Int
    ) throws {
        let log = try SampleLog(segmentSize: 2_048, runSize: 512)
        for number in 1...120 { try log.append(create(UInt64(number), "Orders", ["No": .integer(Int64(number))])) }
        log.log.close()
        let size = try #require(TemporaryDirectory.read(log.segment(1))).count
        try log.damage(log.segment(1), at: step * size / 64)
        var expected: SequenceNumber = 1
        do {
            for item in try log.items() {
                switch item {
                case .entry(let entry):
                    #expect(entry.sequence == expected)
                    expected = entry.sequence + 1
                case .lost(let range): expected = range.upperBound + 1
                case .undecodable(let sequence, _, _): expected = sequence + 1
                case .damage(_, let next): expected = next ?? 121
                case .compacted, .carried: Issue.record("nothing was compacted")
                }
            }
            #expect(expected == 121)
        } catch LogError.unsupported {
            // The format version was changed, so the file cannot be read.
        }
    }

    @Test func `a record whose payload cannot be decoded is passed on as undecodable`() throws {
        let log = try SampleLog()
        try log.log.append([(kind: RecordCodec.RecordKind.operation.rawValue, payload: [1, 99])])
        try log.append(create(1, "Orders"))
        let items = try log.items()
        guard case .undecodable(1, RecordCodec.RecordKind.operation.rawValue, _) = items[0] else {
            Issue.record("the first item is \(items[0])")
            return
        }
        #expect(sequences(items) == [2])
    }

    // MARK: Size

    @Test func `the sizes equal those of the records and files`() throws {
        let log = try SampleLog()
        for number in 1...500 { try log.append(create(UInt64(number), "Orders", ["Note": .string("the same words")])) }
        log.log.close()
        let size = try log.history.size()
        let file = try #require(TemporaryDirectory.read(log.segment(1))).count
        #expect(size.records == 500)
        #expect(size.fileBytes == UInt64(file))
        #expect(size.storedBytes < size.rawBytes)
    }
}
