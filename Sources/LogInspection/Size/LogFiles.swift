public import OperationLog
public import Operations

/// The files of a log: its segments in order, then its snapshots.
public struct LogFiles: Sendable, Hashable {
    /// A segment, or a snapshot of the state.
    public struct File: Sendable, Hashable {
        public let path: String
        public let isSnapshot: Bool
        /// Of a snapshot the first record that it does not include.
        public let firstSequence: SequenceNumber
        /// Nil for a segment without records, and for a snapshot.
        public let lastSequence: SequenceNumber?
        /// Of the first record that has a time and can be read; nil for a snapshot.
        public let firstTime: Timestamp?
        public let lastTime: Timestamp?
        /// `open`, `sealed` or `packed`; of a snapshot `snapshot`.
        public let state: String
        public let isEncrypted: Bool
        /// Of a snapshot the items of its state.
        public let records: UInt64
        public let rawBytes: UInt64
        public let fileBytes: UInt64

        /// How many times smaller the file is than its records; nil where there are none.
        public var ratio: Double? { rawBytes > 0 && fileBytes > 0 ? Double(rawBytes) / Double(fileBytes) : nil }
    }

    public let files: [File]
    /// Places that are not what was written, as far as checking without decompressing shows.
    public let damages: Int
}

extension LogHistory {
    /// What files there are, and what they hold. Reads every byte and decompresses a block or two of each segment.
    ///
    /// - Throws: as ``verify(depth:progress:)``.
    public func files(progress: (LogVerification.Progress) -> Void = { _ in }) throws(LogError) -> LogFiles {
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

    /// Of the first record in the range that has one. What cannot be read has none.
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
    /// `open`, `sealed` or `packed`.
    public var state: String { isPacked ? "packed" : isSealed ? "sealed" : "open" }
}
