/// What ``OperationLog/open(directory:options:fileSystem:)`` found and did.
public struct RecoveryReport: Sendable, Hashable {
    /// The end of the last segment, removed because a crash had left it incomplete. It was never acknowledged, unless the
    /// file lost bytes afterwards that it had.
    public struct Cut: Sendable, Hashable {
        public let path: String
        /// Where the file ends now.
        public let offset: UInt64
        public let bytes: UInt64
        public let reason: LogFault
        /// The file beside the segments that has the removed bytes now; nil if there were none.
        public let keptAt: String?
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
            if let kept = cut.keptAt { text += " They are kept in \(kept)." }
        }
        for damage in snapshotDamages { text += " The snapshot \(damage)" }
        return text
    }
}
