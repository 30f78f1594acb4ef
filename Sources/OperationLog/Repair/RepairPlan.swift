/// The actions that a repair would take.
package enum RepairPlan: Sendable, Hashable {
    /// The log is intact.
    case nothing
    /// The end is incomplete, as a crash leaves it. No record is lost; opening the log cuts the tail.
    case tornTail(LogVerification.Tail)
    /// The log is damaged. The readable records are written to a new log.
    case salvage(Salvage)

    /// The content of the new log.
    package struct Salvage: Sendable, Hashable {
        /// The damaged positions; see ``LogVerification/maximumDamages``.
        package let damages: [LogDamage]
        /// The changed bits that are corrected. The structures that contain them are not lost.
        package let mended: [CorrectedBit]
        /// The sequence number of the new log's first record. Greater than 1 if the log had been compacted.
        package internal(set) var firstSequence: UInt64
        /// The sequence number after the new log's last record.
        package internal(set) var nextSequence: UInt64
        package internal(set) var readable: UInt64 = 0
        package internal(set) var lost = LostRecords()
        /// Files or parts of files that are skipped, with the reason.
        package internal(set) var passedOver: [SkippedPart] = []
        /// The snapshots that are kept, by the number of the first record that they do not include.
        package internal(set) var snapshots: [UInt64] = []

        /// Whether the newest snapshot includes the effect of all lost records, so that only the history is incomplete.
        package var isStateWhole: Bool {
            guard let last = lost.last else { return true }
            return snapshots.last.map { $0 > last } ?? false
        }
    }

    package struct SkippedPart: Sendable, Hashable {
        package let path: String
        package let reason: String
    }
}

/// The records that cannot be read.
package struct LostRecords: Sendable, Hashable {
    /// The ranges of lost records in order, at most ``maximumRanges``.
    package private(set) var ranges: [ClosedRange<UInt64>] = []
    package private(set) var count: UInt64 = 0
    package private(set) var last: UInt64?

    /// The maximum length of ``ranges``.
    package static let maximumRanges = 1000

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
