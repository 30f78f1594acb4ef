/// A summary of a segment, taken from its name, header and footer.
package struct SegmentSummary: Sendable, Hashable {
    package let firstSequence: UInt64
    /// The last record, or nil if the segment is not sealed.
    package let lastSequence: UInt64?
    package let path: String
    package let bytes: UInt64

    /// Whether the segment is complete. All segments except the last are sealed.
    package var isSealed: Bool { lastSequence != nil }
}

extension LogReader {
    /// Returns the log's segments in order. Reads the header and footer of each one.
    package func segmentList() throws(LogError) -> [SegmentSummary] {
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
