/// The result of ``OperationLog/open(directory:options:fileSystem:)``.
public struct RecoveryReport: Sendable, Hashable {
    /// The end of the last segment, which was removed because a crash had left it incomplete.
    ///
    /// It was never acknowledged, unless the file has lost bytes since.
    public struct Cut: Sendable, Hashable {
        public let path: String
        /// The new length of the file.
        public let offset: UInt64
        public let bytes: UInt64
        public let reason: LogFault
        /// The file next to the segments that contains the removed bytes, or nil if there were none.
        public let keptAt: String?
    }

    /// Whether a new log was created.
    public let created: Bool
    public let segments: Int
    /// The last record's sequence number plus one.
    public let nextSequence: UInt64
    public let cut: Cut?
    /// The names of incomplete files that a crash had left. They contained no records.
    public let removedFiles: [String]
    /// The damage of snapshots, which are not used. The log does not need them.
    public let snapshotDamages: [LogDamage]
}

extension RecoveryReport: CustomStringConvertible {
    public var description: String {
        var text = created ? "A new log was created." : "\(segments) segments, \(nextSequence - 1) operations."
        if let cut {
            text +=
                " \(cut.bytes) bytes of an incomplete commit were removed from \(cut.path) at offset \(cut.offset): \(cut.reason)."
            if let kept = cut.keptAt { text += " They are stored in \(kept)." }
        }
        for damage in snapshotDamages { text += " The snapshot \(damage)" }
        return text
    }
}
