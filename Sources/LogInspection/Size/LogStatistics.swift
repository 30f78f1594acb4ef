package import OperationLog
import Operations

/// The distribution of a log's bytes, by segment and by kind of record.
package struct LogStatistics: Sendable, Hashable {
    /// All records of one kind.
    package struct KindStatistics: Sendable, Hashable {
        /// The kind number in the log.
        package let number: UInt8
        /// The name in `tidelog log --json`; `queueChanged` for all changes of the queue, `unknown` for a kind of a later version.
        package let name: String
        package let records: UInt64
        /// The size of the encoded records with the log's framing of each.
        package let rawBytes: UInt64
        /// Their share of the compressed blocks.
        package let storedBytes: UInt64

        /// The average compressed size of a record; nil without records.
        package var storedBytesPerRecord: Double? {
            records > 0 ? Double(storedBytes) / Double(records) : nil
        }
    }

    package let segments: [LogVerification.Segment]
    /// The snapshots. Their records are items of a state and not included in any other number.
    package let snapshots: [LogVerification.Segment]
    /// The kinds that occur, by number.
    package let kinds: [KindStatistics]
    package let size: LogSize
    /// The number of unreadable places. Their content is not included in any number.
    package let damages: Int

    /// Creates the statistics.
    ///
    /// - Parameter verification: A deep verification.
    package init(_ verification: LogVerification) {
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
    package var operations: UInt64 { operationKind?.records ?? 0 }

    /// The average compressed size of an operation; nil without operations. Other kinds are not included.
    package var bytesPerOperation: Double? {
        guard let operationKind, operationKind.records > 0 else { return nil }
        return Double(operationKind.storedBytes) / Double(operationKind.records)
    }

    private var operationKind: KindStatistics? {
        kinds.first { $0.number == RecordCodec.RecordKind.operation.rawValue }
    }
}

extension Record {
    /// Returns the name of a kind number. It is the name in ``HistoryEntry/kind``, except for the changes of the queue,
    /// which are one kind number, and pages, which are two.
    static func kindName(_ number: UInt8) -> String {
        RecordCodec.RecordKind(rawValue: number).map { "\($0)" } ?? "unknown"
    }
}
