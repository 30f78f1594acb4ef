public import OperationLog
import Operations

/// Where the bytes of a log are: per segment and per kind of record.
public struct LogStatistics: Sendable, Hashable {
    /// All records of one kind.
    public struct Kind: Sendable, Hashable {
        /// As the log keeps it.
        public let number: UInt8
        /// The name that `tidelog log --json` has; `unknown` for a kind of a later version.
        public let name: String
        public let records: UInt64
        /// With the log's own framing of each record.
        public let rawBytes: UInt64
        /// Their share of the compressed blocks.
        public let storedBytes: UInt64

        /// What a record takes in its block, compressed. Nil where there is none.
        public var storedBytesPerRecord: Double? {
            records > 0 ? Double(storedBytes) / Double(records) : nil
        }
    }

    public let segments: [LogVerification.Segment]
    /// Their records are items of a state, and in no other number of this.
    public let snapshots: [LogVerification.Segment]
    /// Those that occur, by number.
    public let kinds: [Kind]
    public let size: LogSize
    /// Places that could not be read; what lies there is in no number of this.
    public let damages: Int

    /// - Parameter verification: a deep one.
    public init(_ verification: LogVerification) {
        precondition(verification.depth == .deep, "a fast verification knows no kinds")
        segments = verification.segments
        snapshots = verification.snapshots
        kinds = verification.kinds.sorted { $0.key < $1.key }.map { number, totals in
            Kind(
                number: number, name: Record.kindName(number), records: totals.records, rawBytes: totals.rawBytes,
                storedBytes: UInt64(totals.storedBytes.rounded()))
        }
        size = LogSize(verification)
        damages = verification.damages.count
    }

    /// Operations of the app: what a log is for.
    public var operations: UInt64 {
        operationKinds.reduce(0) { $0 + $1.records }
    }

    /// What an operation takes in its block, compressed; nil where there is none. The other kinds are not counted.
    public var bytesPerOperation: Double? {
        guard operations > 0 else { return nil }
        return Double(operationKinds.reduce(0) { $0 + $1.storedBytes }) / Double(operations)
    }

    private var operationKinds: [Kind] { kinds.filter { Self.operationKinds.contains($0.number) } }

    /// The numbers of the kinds that an operation of the app may have.
    static let operationKinds: Set<UInt8> = Set(
        [
            RecordCodec.Kind.operation, .operationInTransaction, .operationWithAttributes, .operationWithStream,
        ].map(\.rawValue))
}

extension Record {
    /// What ``HistoryEntry/kind`` says of records of this kind; operations with a transactionID or other later attributes,
    /// which have numbers of their own, are apart here.
    static func kindName(_ number: UInt8) -> String {
        // The cases of the two have the same names.
        RecordCodec.Kind(rawValue: number).map { "\($0)" } ?? "unknown"
    }
}
