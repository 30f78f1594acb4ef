import EDM
import OperationLog
import Operations
import TestSupport
import Testing

@testable import LogInspection

/// A log in a temporary directory, written record by record.
final class SampleLog {
    /// 2026-11-21T07:59:57.120Z
    static let time: Timestamp = 1_795_247_997_120

    let directory = TemporaryDirectory()
    let log: OperationLog

    var path: String { directory.path + "/log" }
    var history: LogHistory { LogHistory(logDirectory: path) }

    init(segmentSize: UInt64 = 16_777_216, runSize: Int = 262_144) throws {
        let options = OperationLog.Options(durability: .none, segmentSize: segmentSize, runSize: runSize)
        log = try OperationLog.open(directory: directory.path + "/log", options: options).log
    }

    /// Appends each record in its own commit.
    @discardableResult
    func append(_ bodies: Record.Body...) throws -> SequenceNumber {
        for body in bodies { try log.append([RecordCodec.encode(Record(time: Self.time, body: body))]) }
        return log.nextSequence - 1
    }

    func items() throws -> [HistoryItem] { try Self.items(history.items()) }

    static func items(_ cursor: HistoryCursor) throws -> [HistoryItem] {
        var items: [HistoryItem] = []
        while let item = try cursor.next() { items.append(item) }
        return items
    }

    func summaries() throws -> [String] {
        try items().compactMap { if case .entry(let entry) = $0 { entry.summary } else { nil } }
    }

    /// Returns the path of the segment that starts with the given record.
    func segment(_ first: SequenceNumber) -> String {
        let digits = String(first)
        return path + "/" + String(repeating: "0", count: 20 - digits.count) + digits + ".segment"
    }

    /// Changes one byte of a file.
    func damage(_ path: String, at offset: Int) throws {
        var bytes = try #require(TemporaryDirectory.read(path))
        bytes[offset] ^= 0x55
        TemporaryDirectory.write(bytes, to: path)
    }
}

func id(_ number: UInt64) -> EntityID { EntityID(rawValue: number) }

func create(_ number: UInt64, _ set: String, _ values: PropertyValues = [:]) -> Record.Body {
    .operation(
        Operation(.create(Creation(entity: id(number), set: set, type: "Shop.\(set)", values: values), parent: nil)))
}

func refusal(_ message: String) -> Refusal {
    Refusal(status: 409, code: "Conflict", message: message, method: "POST", url: "Orders")
}

func prepared(_ batch: BatchID, _ operations: SequenceNumber...) -> Record.Body {
    .batchPrepared(
        BatchPrepared(batch: batch, changeSets: operations.map { [.init(contentID: "\($0)", operation: $0)] }))
}

func answered(_ batch: BatchID, _ outcomes: (SequenceNumber, BatchAnswered.Result)...) -> Record.Body {
    .batchAnswered(
        BatchAnswered(batch: batch, outcomes: outcomes.map { .init(operation: $0.0, result: $0.1) }))
}
