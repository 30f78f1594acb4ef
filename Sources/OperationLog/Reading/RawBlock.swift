/// One block's records as they were encoded, and where the block lies: for who looks at very many and decodes few.
package struct RawBlock: Sendable {
    /// The segment's file.
    package let path: String
    /// In the file.
    package let offset: UInt64
    package let firstSequence: UInt64
    package let recordCount: UInt32
    /// What the records take in the file, without the block's header.
    package let storedBytes: UInt64
    /// Whether the values of each field are stored side by side.
    package let isColumnar: Bool
    /// The records one behind the other, with the log's framing.
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

    /// The sequence number behind the block's last record.
    package var nextSequence: UInt64 { firstSequence + UInt64(recordCount) }

    /// The block's records in order; the payloads are places in ``bytes``. Ends early where the bytes do not divide into
    /// records, which only a writer's mistake can bring about: the block's checksums held.
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

/// One block's records as the file has them: as they were encoded, or in columns.
package enum SearchedBlock: Sendable {
    case raw(RawBlock)
    case columns(ColumnBlock)

    /// What it takes of memory.
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
    /// Parts of the log that can be read at the same time, in order and without gaps: each begins where reading can begin.
    /// The last one goes on to the end.
    ///
    /// Cost: each segment's footer.
    ///
    /// - Parameter records: about how many each part has.
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
