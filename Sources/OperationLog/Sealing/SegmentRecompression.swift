/// Rewrites a sealed segment with fewer and larger blocks and better compression, and replaces the old file.
///
/// The segment's header, its records, their numbers and the chain values at both ends are unchanged, so the adjacent
/// segments still match. Commit boundaries are not preserved: they only matter where a commit can be torn.
///
/// A complete segment exists under the name at all times: either the old or the new one. Readers that have the old file
/// open continue with it.
struct SegmentRecompression {
    let fileSystem: any FileSystem
    let directory: String
    let keys: [LogKey]
    let level: Int
    var layout: RecordLayout?
    /// The maximum raw length of a block that contains several of the old blocks.
    var blockSize = Self.usualBlockSize

    static let usualBlockSize = 1_048_576

    /// Returns whether the segment has so many more blocks than necessary that rewriting it is worthwhile.
    static func isWorthwhile(_ rawBytes: UInt64, _ blockCount: UInt32, blockSize: Int = usualBlockSize) -> Bool {
        let needed = rawBytes / UInt64(blockSize) + 1
        return rawBytes >= UInt64(blockSize / 4) && UInt64(blockCount) > 2 * needed
    }

    /// Returns the same, and also true for a segment with large blocks that are not in column form yet.
    private func isWorthwhile(_ segment: SegmentFile, _ footer: SegmentFooter) throws(LogError) -> Bool {
        if Self.isWorthwhile(footer.rawBytes, footer.blockCount, blockSize: blockSize) { return true }
        guard layout != nil, footer.rawBytes >= UInt64(blockSize / 4) else { return false }
        return try segment.header(at: segment.start.offset)?.method != BlockMethod.zstdColumns
    }

    enum Outcome: Equatable {
        case repacked
        /// The segment is good as it is, or contains blocks of an unknown type.
        case left
        /// `shouldContinue` or `replace` returned false. Nothing was changed.
        case abandoned
    }

    /// - Parameters:
    ///   - shouldContinue: Called between blocks. Returns whether to continue.
    ///   - replace: Renames the second path to the first, or returns false if it must not be replaced any more.
    func run(
        _ firstSequence: UInt64, shouldContinue: () -> Bool = { true },
        replace: (_ old: String, _ new: String) throws(FileSystemError) -> Bool
    ) throws(LogError) -> Outcome {
        let segment = try SegmentFile(
            fileSystem, directory: directory, firstSequence: firstSequence, mode: .read, keys: keys)
        guard let (footer, end) = try segment.footerFromEnd(), try isWorthwhile(segment, footer) else {
            return .left
        }
        let path = segment.path + ".new"
        do throws(LogError) {
            let outcome = try write(segment, to: path, shouldContinue)
            guard outcome == .repacked else {
                removeUnfinished(path)
                return outcome
            }
            try check(path, holds: segment, upTo: end.next)
            guard try onFiles({ () throws(FileSystemError) in try replace(segment.path, path) }) else {
                removeUnfinished(path)
                return .abandoned
            }
            try onFiles { () throws(FileSystemError) in try fileSystem.syncDirectory(directory) }
            return .repacked
        } catch {
            removeUnfinished(path)
            throw error
        }
    }

    private func removeUnfinished(_ path: String) {
        // If this fails, the next opening removes the file.
        try? fileSystem.remove(path)
    }

    /// Writes the complete new file durably, under a name that readers ignore.
    private func write(
        _ segment: SegmentFile, to path: String, _ shouldContinue: () -> Bool
    ) throws(LogError) -> Outcome {
        let file = try onFiles { () throws(FileSystemError) in try fileSystem.open(path, .create) }
        defer { file.close() }
        try onFiles { () throws(FileSystemError) in try file.write(segment.header.encoded(), at: 0) }
        // Each block is a frame of its own: it is large enough to fill the window, and reading can begin at any block.
        let encoder = try CommitEncoder(
            compression: .zstd(level: level), runSize: 0, binding: segment.binding, position: segment.start,
            totals: SegmentTotals(header: segment.header), layout: layout)
        var decoder = BlockDecoder()
        var raw: [UInt8] = []
        var recordCount: UInt32 = 0
        func flush() throws(LogError) {
            guard recordCount > 0 else { return }
            try encoder.encode(raw: raw, recordCount: recordCount)
            let offset = encoder.offset
            try onFiles { () throws(FileSystemError) in try file.write(encoder.bytes, at: offset) }
            encoder.didWrite()
            raw.removeAll(keepingCapacity: true)
            recordCount = 0
        }
        var position = segment.start
        while shouldContinue() {
            switch try segment.step(at: position) {
            case .records(let block):
                let content = try decoder.content(of: block, in: segment, at: position)
                if raw.count + content.count > blockSize { try flush() }
                raw.append(contentsOf: content)
                recordCount += block.header.recordCount
                position = block.next
            case .footer(let block, _):
                try flush()
                guard encoder.end.nextSequence == block.header.firstSequence, encoder.end.chain == position.chain else {
                    throw segment.damage(.brokenChain, at: position)
                }
                try onFiles { () throws(FileSystemError) in
                    try file.write(encoder.sealBytes(), at: encoder.end.offset)
                    try file.sync()
                }
                return .repacked
            case .other: return .left
            case .end: throw segment.damage(.notSealed, at: position)
            case .invalid(let fault): throw segment.damage(fault, at: position)
            }
        }
        return .abandoned
    }

    /// Reads the new file back, so that a memory or compressor error does not destroy content that the old file still
    /// has.
    private func check(
        _ path: String, holds segment: SegmentFile, upTo end: SegmentFile.Position
    ) throws(LogError) {
        let new = try SegmentFile(
            fileSystem, path: path, firstSequence: segment.header.firstSequence, mode: .read, keys: keys)
        var decoder = BlockDecoder()
        var position = new.start
        while true {
            switch try new.step(at: position) {
            case .records(let block):
                _ = try decoder.content(of: block, in: new, at: position)
                position = block.next
            case .footer:
                // The content of each block was verified against the chain.
                guard position.nextSequence == end.nextSequence, position.chain == end.chain else {
                    throw new.damage(.brokenChain, at: position)
                }
                return
            case .other, .end: throw new.damage(.notSealed, at: position)
            case .invalid(let fault): throw new.damage(fault, at: position)
            }
        }
    }
}

extension BlockDecoder {
    fileprivate mutating func content(
        of block: SegmentFile.Block, in segment: SegmentFile, at position: SegmentFile.Position
    ) throws(LogError) -> [UInt8] {
        do throws(BlockDecodingError) {
            return try decode(block)
        } catch {
            switch error {
            case .fault(let fault): throw segment.damage(fault, at: position)
            case .other(let error): throw error
            }
        }
    }
}
