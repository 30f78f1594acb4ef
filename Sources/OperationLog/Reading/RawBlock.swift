/// A block's encoded records and the block's location, for searches that read many records and decode few.
package struct RawBlock: Sendable {
    /// The path of the segment file.
    package let path: String
    /// The block's offset in the file.
    package let offset: UInt64
    package let firstSequence: UInt64
    package let recordCount: UInt32
    /// The size of the block's payload in the file, without the block header.
    package let storedBytes: UInt64
    /// Whether the values of each field are stored together.
    package let isColumnar: Bool
    /// The records in the log's framing, without gaps.
    package let bytes: [UInt8]

    init(_ raw: [UInt8], of header: BlockHeader, path: String, offset: UInt64) {
        self.path = path
        self.offset = offset
        firstSequence = header.firstSequence
        recordCount = header.recordCount
        storedBytes = UInt64(header.storedLength)
        isColumnar = header.method == BlockMethod.zstdColumns
        bytes = raw
    }

    /// The sequence number after the block's last record.
    package var nextSequence: UInt64 { firstSequence + UInt64(recordCount) }

    /// Calls `body` for each record in order. The payloads are ranges in ``bytes``.
    ///
    /// Stops early if the bytes cannot be split into records. Only a faulty writer can cause that, because the block's
    /// checksums were verified.
    @inline(__always)
    package func forEachRecord(_ body: (_ sequence: UInt64, _ kind: UInt8, _ payload: Range<Int>) -> Void) {
        bytes.withUnsafeBytes { bytes in
            var at = 0
            for place in 0..<UInt64(recordCount) {
                guard at + 1 < bytes.count else { return }
                let kind = bytes[at]
                at += 1
                guard let length = LEB128.read(bytes, at: &at, end: bytes.count), length <= UInt64(bytes.count - at)
                else { return }
                let end = at + Int(length)
                body(firstSequence + place, kind, at..<end)
                at = end
            }
        }
    }
}

/// A block's records as stored: encoded one after the other, or in columns.
package enum SearchedBlock: Sendable {
    case raw(RawBlock)
    case columns(ColumnBlock)

    /// The memory that the block occupies, in bytes.
    package var byteCount: Int {
        switch self {
        case .raw(let block): block.bytes.count
        case .columns(let block): block.byteCount
        }
    }

    package var nextSequence: UInt64 {
        switch self {
        case .raw(let block): block.nextSequence
        case .columns(let block): block.nextSequence
        }
    }
}

extension LogReader {
    /// Returns ranges of the log that can be read concurrently, in order and without gaps.
    ///
    /// Each range begins at a position where reading can begin. The last one continues to the end of the log.
    ///
    /// Cost: reads each segment's footer.
    ///
    /// - Parameter records: The approximate number of records in each range.
    package func parts(ofAbout records: UInt64) throws(LogError) -> [ClosedRange<UInt64>] {
        let starts = try withListing { listing throws(LogError) -> [UInt64] in
            _ = try oldest(listing)
            var starts: [UInt64] = []
            for first in listing.segments {
                starts.append(first)
                for entry in try segment(first).footerFromEnd()?.footer.entries ?? []
                where entry.sequence >= (starts.last ?? first) + records {
                    starts.append(entry.sequence)
                }
            }
            return starts
        }
        return starts.indices.map { index in
            starts[index]...(index + 1 < starts.count ? starts[index + 1] - 1 : .max)
        }
    }
}
