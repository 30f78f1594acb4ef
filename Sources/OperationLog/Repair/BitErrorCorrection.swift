/// Finds single-bit errors in the structures of a log and presents the log with these bits corrected.
///
/// A correction is accepted if the checksum of the structure matches with it and, in an encrypted block, the
/// authentication tag does too. Any number of structures may have one such error. Reads every byte, decompresses
/// nothing and changes no file.
struct BitErrorCorrection {
    /// The corrected bits in the order of the files, segments first.
    private(set) var bits: [CorrectedBit] = []
    /// The log's files with the bits corrected.
    private(set) var fileSystem: CorrectingFileSystem
    private let keys: [LogKey]

    init(_ fileSystem: any FileSystem, directory: String, keys: [LogKey]) throws(LogError) {
        self.fileSystem = CorrectingFileSystem(fileSystem)
        self.keys = keys
        let listing = try LogReader.listing(directory, fileSystem)
        for first in listing.segments { try correct(directory, .segment, first) }
        for sequence in listing.snapshots { try correct(directory, .snapshot, sequence) }
    }

    private mutating func turn(_ bit: CorrectedBit) {
        fileSystem.turn(bit)
        bits.append(bit)
    }

    private mutating func correct(
        _ directory: String, _ form: SegmentName.LogFileKind, _ first: UInt64
    ) throws(LogError) {
        let path = directory + "/" + SegmentName.name(form, firstSequence: first)
        try correctHeader(path, form, first)
        var segment: SegmentFile
        do throws(LogError) {
            segment = try SegmentFile(fileSystem, path: path, form, firstSequence: first, mode: .read, keys: keys)
        } catch {
            guard case .damaged = error else { throw error }
            return
        }
        var position = segment.start
        while true {
            switch try segment.step(at: position) {
            case .records(let block), .other(let block): position = block.next
            case .footer(let block, _):
                if let bit = try segment.changedBit(ofTrailerBehind: block) { turn(bit) }
                return
            case .end: return
            case .invalid(let fault):
                if fault.mayBeChangedBit, try correct(&segment, at: position) { continue }
                guard let next = try segment.nextHeader(after: position.offset, where: { _ in true }) else { return }
                position = SegmentFile.Position(
                    offset: next.offset, nextSequence: next.header.firstSequence, chain: next.header.chainBefore)
            }
        }
    }

    /// Corrects the bits with which the block at the position is valid: one in its header, one in its payload, or both.
    ///
    /// - Returns: Whether the block is valid. If not, nothing is corrected.
    private mutating func correct(
        _ segment: inout SegmentFile, at position: SegmentFile.Position
    ) throws(LogError) -> Bool {
        let before = (self, segment)
        for _ in 0..<2 {
            guard let found = try segment.changedBit(at: position, headerOnly: true) else { break }
            turn(CorrectedBit(path: segment.path, offset: found.offset, bit: found.bit))
            segment = try segment.reopened(fileSystem, keys: keys)
            if try segment.isGenuine(at: position) { return true }
        }
        (self, segment) = before
        return false
    }

    /// Corrects the bit of a segment header with which it is valid and matches the file name, if there is one.
    private mutating func correctHeader(
        _ path: String, _ form: SegmentName.LogFileKind, _ first: UInt64
    ) throws(LogError) {
        let bytes = try onFiles { () throws(FileSystemError) in
            let file = try fileSystem.open(path, .read)
            defer { file.close() }
            return try file.read(at: 0, count: SegmentHeader.maximumByteCount)
        }
        do throws(SegmentHeader.DecodingError) {
            _ = try SegmentHeader.decode(bytes)
            return
        } catch {
            guard case .invalid = error else { return }
        }
        for bit in 0..<bytes.count * 8 {
            var corrected = bytes
            corrected[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let header = try? SegmentHeader.decode(corrected), header.firstSequence == first,
                header.isSnapshot == (form == .snapshot)
            else { continue }
            return turn(CorrectedBit(path: path, offset: UInt64(bit / 8), bit: UInt8(bit % 8)))
        }
    }
}

extension SegmentFile {
    fileprivate func reopened(_ fileSystem: any FileSystem, keys: [LogKey]) throws(LogError) -> SegmentFile {
        let file = try onFiles { () throws(FileSystemError) in try fileSystem.open(path, .read) }
        return try SegmentFile(path: path, file: file, header: header, keys: keys)
    }

    /// Returns whether the block at the position is valid and, if it is encrypted, authentic.
    fileprivate func isGenuine(at position: Position) throws(LogError) -> Bool {
        switch try step(at: position) {
        case .records(let block): block.content != nil
        case .footer, .other: true
        case .end, .invalid: false
        }
    }

    /// Returns the single bit in which the bytes after the footer differ from the segment's trailer, or nil.
    fileprivate func changedBit(ofTrailerBehind footer: Block) throws(LogError) -> CorrectedBit? {
        let expected = SegmentTrailer.encoded(footerOffset: footer.offset, segmentChecksum: binding.checksum)
        let found = Array(try bytes(at: footer.next.offset, count: expected.count))
        guard found.count == expected.count else { return nil }
        let differing = found.indices.filter { found[$0] != expected[$0] }
        guard differing.count == 1, let index = differing.first else { return nil }
        let mask = found[index] ^ expected[index]
        guard mask.nonzeroBitCount == 1 else { return nil }
        return CorrectedBit(
            path: path, offset: footer.next.offset + UInt64(index), bit: UInt8(mask.trailingZeroBitCount))
    }
}
