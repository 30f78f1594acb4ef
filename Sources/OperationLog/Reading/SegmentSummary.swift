/// One segment, as its name and its two ends tell.
public struct SegmentSummary: Sendable, Hashable {
    public let firstSequence: UInt64
    /// Nil where the segment is not sealed, and for the last one that has no record yet.
    public let lastSequence: UInt64?
    public let path: String
    public let bytes: UInt64

    /// Nothing is appended to it any more. All segments but the last are sealed.
    public var isSealed: Bool { lastSequence != nil }
}

extension LogReader {
    /// The segments that are there, in order. Reads each one's header and footer.
    public func segmentList() throws(LogError) -> [SegmentSummary] {
        try withListing { listing throws(LogError) in
            var summaries: [SegmentSummary] = []
            for first in listing.segments {
                let segment = try segment(first)
                summaries.append(
                    SegmentSummary(
                        firstSequence: first, lastSequence: try segment.footerFromEnd()?.footer.lastSequence,
                        path: segment.path, bytes: try segment.size()))
            }
            return summaries
        }
    }
}
