/// How far a log went at some time, when everything up to there was durable.
struct LogEnd: Equatable, Sendable {
    /// The first sequence number of the last segment.
    let lastSegment: UInt64
    /// Behind the last record.
    let nextSequence: UInt64

    /// Why a log that ends in this segment, in front of this sequence number, has lost something; nil if it reaches so far.
    func fault(ofLogEndingAt nextSequence: UInt64, in lastSegment: UInt64) -> LogFault? {
        if nextSequence < self.nextSequence { return .endsBeforeRecordedEnd(self.nextSequence - 1) }
        return lastSegment < self.lastSegment ? .missingSegment : nil
    }
}

extension SegmentFile {
    /// Why a log of which this is the last segment, and that ends at the position, has lost something.
    func fault(ofEndAt position: Position, recorded: LogEnd?) -> LogFault? {
        recorded?.fault(ofLogEndingAt: position.nextSequence, in: header.firstSequence)
    }
}
