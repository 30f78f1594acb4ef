package import OperationLog
package import Operations

/// The files of a log: its segments in order, then its snapshots.
package struct LogFiles: Sendable, Hashable {
    /// A segment, or a snapshot of the state.
    package struct File: Sendable, Hashable {
        package let path: String
        package let isSnapshot: Bool
        /// The first record; for a snapshot, the first record that it does not include.
        package let firstSequence: SequenceNumber
        /// The last record; nil for a segment without records, and for a snapshot.
        package let lastSequence: SequenceNumber?
        /// The time of the first readable record with a time; nil for a snapshot.
        package let firstTime: Timestamp?
        /// The time of the last record; nil if it has none or is unreadable, and for a snapshot.
        package let lastTime: Timestamp?
        /// `open`, `sealed` or `packed`; `snapshot` for a snapshot.
        package let state: String
        package let isEncrypted: Bool
        /// The number of records; for a snapshot, of its items.
        package let records: UInt64
        package let rawBytes: UInt64
        package let fileBytes: UInt64

        /// The compression ratio of the file; nil without records.
        package var ratio: Double? { rawBytes > 0 && fileBytes > 0 ? Double(rawBytes) / Double(fileBytes) : nil }
    }

    package let files: [File]
    /// The number of damaged places found without decompression.
    package let damages: Int
}

extension LogHistory {
    /// Returns the files with their content. Reads every byte, and decompresses one or two blocks of each segment.
    ///
    /// - Throws: The errors of ``verify(depth:progress:)``.
    package func files(progress: (LogVerification.Progress) -> Void = { _ in }) throws(LogError) -> LogFiles {
        let verification = try verify(depth: .fast, progress: progress)
        let reader = try LogReader(directory: directory, keys: keys, fileSystem: fileSystem)
        let segments = verification.segments.map { segment in
            let last = segment.lastSequence
            return LogFiles.File(
                path: segment.path, isSnapshot: false, firstSequence: segment.firstSequence, lastSequence: last,
                firstTime: last.flatMap { time(from: segment.firstSequence, through: $0, reader) },
                lastTime: last.flatMap { time(from: $0, through: $0, reader) }, state: segment.state,
                isEncrypted: segment.isEncrypted, records: segment.records, rawBytes: segment.rawBytes,
                fileBytes: segment.fileBytes)
        }
        let snapshots = verification.snapshots.map { snapshot in
            LogFiles.File(
                path: snapshot.path, isSnapshot: true, firstSequence: snapshot.firstSequence, lastSequence: nil,
                firstTime: nil, lastTime: nil, state: "snapshot", isEncrypted: snapshot.isEncrypted,
                records: snapshot.records, rawBytes: snapshot.rawBytes, fileBytes: snapshot.fileBytes)
        }
        return LogFiles(files: segments + snapshots, damages: verification.damages.count)
    }

    /// Returns the time of the first record in the range that has one and is readable.
    private func time(from first: SequenceNumber, through last: SequenceNumber, _ reader: LogReader) -> Timestamp? {
        let cursor = reader.records(from: first, through: last)
        while let record = try? cursor.next() {
            guard let decoded = try? RecordCodec.decode(kind: record.kind, payload: record.payload) else { continue }
            switch decoded.body {
            case .lost, .unknown: continue
            default: return decoded.time
            }
        }
        return nil
    }
}

extension LogVerification.Segment {
    /// The state: `open`, `sealed` or `packed`.
    public var state: String { isPacked ? "packed" : isSealed ? "sealed" : "open" }
}
