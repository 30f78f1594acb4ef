public import OperationLog
import Operations

/// The distribution of a log's bytes, by segment and by kind of record.
public struct LogStatistics: Sendable, Hashable {
    /// All records of one kind.
    public struct KindStatistics: Sendable, Hashable {
        /// The kind number in the log.
        public let number: UInt8
        /// The name in `tidelog log --json`; `unknown` for a kind of a later version.
        public let name: String
        public let records: UInt64
        /// The size of the encoded records with the log's framing of each.
        public let rawBytes: UInt64
        /// Their share of the compressed blocks.
        public let storedBytes: UInt64

        /// The average compressed size of a record; nil without records.
        public var storedBytesPerRecord: Double? {
            records > 0 ? Double(storedBytes) / Double(records) : nil
        }
    }

    public let segments: [LogVerification.Segment]
    /// The snapshots. Their records are items of a state and not included in any other number.
    public let snapshots: [LogVerification.Segment]
    /// The kinds that occur, by number.
    public let kinds: [KindStatistics]
    public let size: LogSize
    /// The number of unreadable places. Their content is not included in any number.
    public let damages: Int

    /// Creates the statistics.
    ///
    /// - Parameter verification: A deep verification.
    public init(_ verification: LogVerification) {
        precondition(verification.depth == .deep, "a fast verification has no kinds")
        segments = verification.segments
        snapshots = verification.snapshots
        kinds = verification.kinds.sorted { $0.key < $1.key }.map { number, totals in
            KindStatistics(
                number: number, name: Record.kindName(number), records: totals.records, rawBytes: totals.rawBytes,
                storedBytes: UInt64(totals.storedBytes.rounded()))
        }
        size = LogSize(verification)
        damages = verification.damages.count
    }

    /// The number of the app's operations.
    public var operations: UInt64 { operationKind?.records ?? 0 }

    /// The average compressed size of an operation; nil without operations. Other kinds are not included.
    public var bytesPerOperation: Double? {
        guard let operationKind, operationKind.records > 0 else { return nil }
        return Double(operationKind.storedBytes) / Double(operationKind.records)
    }

    private var operationKind: KindStatistics? {
        kinds.first { $0.number == RecordCodec.Kind.operation.rawValue }
    }
}

extension Record {
    /// Returns the name of a kind number. It is the name in ``HistoryEntry/kind``, except for the changes of the queue,
    /// which are one kind number, and pages, which are two.
    static func kindName(_ number: UInt8) -> String {
        RecordCodec.Kind(rawValue: number).map { "\($0)" } ?? "unknown"
    }
}
