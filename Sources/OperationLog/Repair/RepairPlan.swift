/// What a repair would do.
public enum RepairPlan: Sendable, Hashable {
    /// Nothing is wrong.
    case nothing
    /// The end is incomplete, as a crash leaves it. No record is lost; opening the log cuts it.
    case tornTail(LogVerification.Tail)
    /// Bytes changed. What can be read goes into a new log.
    case salvage(Salvage)

    /// What a new log will have.
    public struct Salvage: Sendable, Hashable {
        /// The places that are damaged; see ``LogVerification/maximumDamages``.
        public let damages: [LogDamage]
        /// The bits that changed and are read as they were: what they belong to is not lost.
        public let mended: [MendedBit]
        /// The new log's first record, which is not number 1 where the log had been compacted.
        public internal(set) var firstSequence: UInt64
        /// Behind its last one.
        public internal(set) var nextSequence: UInt64
        public internal(set) var readable: UInt64 = 0
        public internal(set) var lost = LostRecords()
        /// Files, or parts of them, that are passed over, with the reason.
        public internal(set) var passedOver: [PassedOver] = []
        /// The snapshots that are kept, by the number of the first record that they do not include.
        public internal(set) var snapshots: [UInt64] = []

        /// Whether the newest snapshot was made behind all the lost records: then what they did is in it, and only the
        /// history is incomplete.
        public var isStateWhole: Bool {
            guard let last = lost.last else { return true }
            return snapshots.last.map { $0 > last } ?? false
        }
    }

    public struct PassedOver: Sendable, Hashable {
        public let path: String
        public let reason: String
    }
}

/// Which records cannot be read.
public struct LostRecords: Sendable, Hashable {
    /// In order, ``maximumRanges`` at most.
    public private(set) var ranges: [ClosedRange<UInt64>] = []
    public private(set) var count: UInt64 = 0
    public private(set) var last: UInt64?

    /// Where ``ranges`` stops growing.
    public static let maximumRanges = 1000

    mutating func add(_ range: ClosedRange<UInt64>) {
        count += range.upperBound - range.lowerBound + 1
        if let last, last + 1 == range.lowerBound, let end = ranges.last, end.upperBound == last {
            ranges[ranges.count - 1] = end.lowerBound...range.upperBound
        } else if ranges.count < Self.maximumRanges {
            ranges.append(range)
        }
        last = range.upperBound
    }
}
