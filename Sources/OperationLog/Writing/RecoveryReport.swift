/// What ``OperationLog/open(directory:options:fileSystem:)`` found and did.
public struct RecoveryReport: Sendable, Hashable {
    /// The end of the last segment, removed because a crash had left it incomplete. No part of it was acknowledged,
    /// unless bits of the very last commit were changed afterwards: the two look the same.
    public struct Cut: Sendable, Hashable {
        public let path: String
        /// Where the file ends now.
        public let offset: UInt64
        public let bytes: UInt64
        public let reason: LogFault
    }

    /// No log was there, and a new one began.
    public let created: Bool
    public let segments: Int
    /// One more than the last record's sequence number.
    public let nextSequence: UInt64
    public let cut: Cut?
    /// Names of files that a crash had left half made. They held no records.
    public let removedFiles: [String]
    /// Snapshots that do not hold. They are not used; the log does not need them.
    public let snapshotDamages: [LogDamage]
}

extension RecoveryReport: CustomStringConvertible {
    public var description: String {
        var text = created ? "A new log was made." : "\(segments) segments, \(nextSequence - 1) operations."
        if let cut {
            text +=
                " \(cut.bytes) bytes of an incomplete commit were cut off \(cut.path) at \(cut.offset): \(cut.reason)."
        }
        for damage in snapshotDamages { text += " The snapshot \(damage)" }
        return text
    }
}
