/// The result of ``OperationLog/open(directory:options:fileSystem:)``.
package struct RecoveryReport: Sendable, Hashable {
    /// The end of the last segment, which was removed because a crash had left it incomplete.
    ///
    /// It was never acknowledged, unless the file has lost bytes since.
    package struct DiscardedTail: Sendable, Hashable {
        package let path: String
        /// The new length of the file.
        package let offset: UInt64
        package let bytes: UInt64
        package let reason: LogFault
        /// The file next to the segments that contains the removed bytes, or nil if there were none.
        package let keptAt: String?
    }

    /// Whether a new log was created.
    package let created: Bool
    package let segments: Int
    /// The last record's sequence number plus one.
    package let nextSequence: UInt64
    package let cut: DiscardedTail?
    /// The names of incomplete files that a crash had left. They contained no records.
    package let removedFiles: [String]
    /// The damage of snapshots, which are not used. The log does not need them.
    package let snapshotDamages: [LogDamage]
}

extension RecoveryReport: CustomStringConvertible {
    package var description: String {
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
