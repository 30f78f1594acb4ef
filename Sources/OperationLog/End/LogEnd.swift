/// The end of a log at a time when everything before it was durable.
struct LogEnd: Equatable, Sendable {
    /// The first sequence number of the last segment.
    let lastSegment: UInt64
    /// The sequence number after the last record.
    let nextSequence: UInt64

    /// Returns the fault of a log that ends at this sequence number in this segment, or nil if it reaches this end.
    func fault(ofLogEndingAt nextSequence: UInt64, in lastSegment: UInt64) -> LogFault? {
        if nextSequence < self.nextSequence { return .endsBeforeRecordedEnd(self.nextSequence - 1) }
        return lastSegment < self.lastSegment ? .missingSegment : nil
    }
}

extension SegmentFile {
    /// Returns the fault of a log whose last segment is this one and that ends at the position, or nil.
    func fault(ofEndAt position: Position, recorded: LogEnd?) -> LogFault? {
        recorded?.fault(ofLogEndingAt: position.nextSequence, in: header.firstSequence)
    }
}
