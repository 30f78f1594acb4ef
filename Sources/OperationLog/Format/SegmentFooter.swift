/// The last block of a sealed segment, which contains its totals and its index.
struct SegmentFooter: Equatable {
    enum Layout {
        static let lastSequence = FieldLayout("last sequence", 0, 8)
        static let rawBytes = FieldLayout("raw bytes", 8, 8)
        static let blockCount = FieldLayout("block count", 16, 4)
        static let digest = FieldLayout("digest", 20, 4)
        static let entryCount = FieldLayout("entry count", 24, 4)
        static let byteCount = 28

        static let all = [lastSequence, rawBytes, blockCount, digest, entryCount]
    }

    /// A position at which reading can begin: a block that starts a run.
    struct Entry: Equatable {
        enum Layout {
            static let sequence = FieldLayout("sequence", 0, 8)
            static let offset = FieldLayout("offset", 8, 8)
            static let byteCount = 16

            static let all = [sequence, offset]
        }

        let sequence: UInt64
        let offset: UInt64
    }

    let lastSequence: UInt64
    let rawBytes: UInt64
    let blockCount: UInt32
    /// The CRC-32C of the file from its first byte to the footer block.
    let digest: UInt32
    /// The index entries, ascending in both members.
    let entries: [Entry]

    func encoded() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Layout.byteCount + entries.count * Entry.Layout.byteCount)
        bytes.store(lastSequence, Layout.lastSequence, in: 0)
        bytes.store(rawBytes, Layout.rawBytes, in: 0)
        bytes.store(blockCount, Layout.blockCount, in: 0)
        bytes.store(digest, Layout.digest, in: 0)
        bytes.store(UInt32(entries.count), Layout.entryCount, in: 0)
        var start = Layout.byteCount
        for entry in entries {
            bytes.store(entry.sequence, Entry.Layout.sequence, in: start)
            bytes.store(entry.offset, Entry.Layout.offset, in: start)
            start += Entry.Layout.byteCount
        }
        return bytes
    }

    /// Decodes a footer, or returns nil if the bytes are not a footer of a segment that begins with `firstSequence`.
    static func decode(_ bytes: ArraySlice<UInt8>, firstSequence: UInt64) -> SegmentFooter? {
        guard bytes.count >= Layout.byteCount else { return nil }
        let count: UInt32 = bytes.load(Layout.entryCount)
        let room = bytes.count - Layout.byteCount
        guard room % Entry.Layout.byteCount == 0, room / Entry.Layout.byteCount == Int(count) else { return nil }
        var entries: [Entry] = []
        entries.reserveCapacity(Int(count))
        for index in 0..<Int(count) {
            let place = bytes.dropFirst(Layout.byteCount + index * Entry.Layout.byteCount)
            let entry = Entry(sequence: place.load(Entry.Layout.sequence), offset: place.load(Entry.Layout.offset))
            if let last = entries.last {
                guard entry.sequence > last.sequence, entry.offset > last.offset else { return nil }
            } else {
                guard entry.sequence == firstSequence else { return nil }
            }
            entries.append(entry)
        }
        let lastSequence: UInt64 = bytes.load(Layout.lastSequence)
        guard let lastEntry = entries.last, lastEntry.sequence <= lastSequence, lastSequence < .max else { return nil }
        return SegmentFooter(
            lastSequence: lastSequence, rawBytes: bytes.load(Layout.rawBytes),
            blockCount: bytes.load(Layout.blockCount), digest: bytes.load(Layout.digest), entries: entries)
    }
}

/// The last bytes of a sealed segment, which locate the footer.
enum SegmentTrailer {
    enum Layout {
        static let footerOffset = FieldLayout("footer offset", 0, 8)
        static let checksum = FieldLayout("checksum", 8, 4)
        static let magic = FieldLayout("magic", 12, 4)
        static let byteCount = 16

        static let all = [footerOffset, checksum, magic]
    }

    static func encoded(footerOffset: UInt64, segmentChecksum: UInt32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Layout.byteCount)
        bytes.store(footerOffset, Layout.footerOffset, in: 0)
        bytes.store(
            crc32c(bytes[..<Layout.checksum.offset], continuing: segmentChecksum), Layout.checksum, in: 0)
        bytes.store(LogFormat.trailerMagic, Layout.magic, in: 0)
        return bytes
    }

    /// Returns the footer's offset, or nil if the bytes are not a trailer of this segment.
    static func decode(_ bytes: ArraySlice<UInt8>, segmentChecksum: UInt32) -> UInt64? {
        guard bytes.count == Layout.byteCount, bytes.bytes(Layout.magic).elementsEqual(LogFormat.trailerMagic),
            bytes.load(Layout.checksum)
                == crc32c(bytes.prefix(Layout.checksum.offset), continuing: segmentChecksum)
        else { return nil }
        return bytes.load(Layout.footerOffset)
    }
}
