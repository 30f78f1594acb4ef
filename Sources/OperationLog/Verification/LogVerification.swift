/// What reading every byte of a log shows. Changes nothing and takes no lock.
public struct LogVerification: Sendable, Hashable {
    public struct Segment: Sendable, Hashable {
        public let path: String
        public let firstSequence: UInt64
        public let fileBytes: UInt64
        public internal(set) var isSealed = false
        /// Of records.
        public internal(set) var blocks = 0
        public internal(set) var records: UInt64 = 0
        /// What the records take uncompressed, and what their blocks take in the file without headers.
        public internal(set) var rawBytes: UInt64 = 0
        public internal(set) var storedBytes: UInt64 = 0
    }

    /// An incomplete commit at the end of the log: being written, or left by a crash. No damage; the next writer
    /// removes it.
    public struct Tail: Sendable, Hashable {
        public let path: String
        public let offset: UInt64
        public let bytes: UInt64
        public let reason: LogFault
    }

    public internal(set) var segments: [Segment] = []
    /// In the order of the log, ``maximumDamages`` at most.
    public internal(set) var damages: [LogDamage] = []
    public internal(set) var tail: Tail?

    /// Where ``damages`` stops growing.
    public static let maximumDamages = 1000

    /// The readable ones.
    public var records: UInt64 { segments.reduce(0) { $0 + $1.records } }
    public var blocks: Int { segments.reduce(0) { $0 + $1.blocks } }
    public var isSound: Bool { damages.isEmpty }

    /// - Parameter keys: all that the log's segments are encrypted with.
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``,
    ///   ``LogError/keyRequired(path:)``, ``LogError/wrongKey(path:)``, or a failure to read. Damage is not thrown but
    ///   reported.
    public static func verify(
        directory: String, keys: [LogKey] = [], fileSystem: any FileSystem = PosixFileSystem()
    ) throws(LogError) -> LogVerification {
        let names: [String]
        do {
            names = try fileSystem.list(directory)
        } catch {
            throw error.isNotFound ? .noLog(path: directory) : .fileSystem(error)
        }
        let firsts = SegmentName.sorted(names)
        guard let last = firsts.last else { throw .noLog(path: directory) }
        var run = VerificationRun()
        for first in firsts where run.goesOn {
            try run.collectingDamage { run throws(LogError) in
                let segment = try SegmentFile(
                    fileSystem, directory: directory, firstSequence: first, mode: .read, keys: keys)
                try run.verify(segment, isLast: first == last)
            }
        }
        return run.result
    }
}

private struct VerificationRun {
    var result = LogVerification()
    /// Behind the segment before; nil in front of the first, and behind one whose end is unknown.
    private var before: SegmentFile.Position?
    private var store: StoreIdentifier?
    private var decoder = BlockDecoder()

    var goesOn: Bool { result.damages.count < LogVerification.maximumDamages }

    mutating func collectingDamage(
        _ body: (inout VerificationRun) throws(LogError) -> Void
    ) throws(LogError) {
        do {
            try body(&self)
        } catch {
            guard case .damaged(let damage) = error else { throw error }
            if goesOn { result.damages.append(damage) }
            before = nil
        }
    }

    mutating func verify(_ segment: SegmentFile, isLast: Bool) throws(LogError) {
        let isFirst = result.segments.isEmpty
        result.segments.append(
            LogVerification.Segment(
                path: segment.path, firstSequence: segment.header.firstSequence, fileBytes: try segment.size()))
        if isFirst || before != nil {
            let (before, store) = (before, store)
            try collectingDamage { _ throws(LogError) in try segment.checkPlace(after: before, in: store) }
        }
        store = segment.header.storeIdentifier
        before = nil
        try walk(segment, isLast: isLast)
    }

    private mutating func walk(_ segment: SegmentFile, isLast: Bool) throws(LogError) {
        var position = segment.start
        var totals: SegmentTotals? = SegmentTotals(header: segment.header)
        var commitStart: SegmentFile.Position?
        while goesOn {
            var fault: LogFault
            switch try segment.step(at: position) {
            case .records(let block):
                try count(block, in: segment, at: position)
                totals?.add(block, binding: segment.binding)
                commitStart = block.header.flags.contains(.commitContinues) ? commitStart ?? position : nil
                position = block.next
                continue
            case .other(let block):
                totals?.add(block, binding: segment.binding)
                position = block.next
                continue
            case .footer(let block, let footer):
                let ending = try segment.ending(after: block)
                if ending == .trailer, commitStart == nil {
                    if let totals, totals.footer(lastSequence: position.nextSequence - 1) != footer {
                        add(.undecodable(reason: "the footer's totals are not the segment's"), segment, position)
                    }
                    result.segments[result.segments.count - 1].isSealed = true
                    before = block.next
                    return
                }
                fault =
                    commitStart != nil ? .unfinishedCommit : ending == .bytesAfter ? .bytesAfterTrailer : .endsEarly
            case .end:
                if isLast, commitStart == nil { return }
                fault = commitStart == nil ? .notSealed : .unfinishedCommit
            case .invalid(let found):
                fault = found
            }
            if isLast, try segment.isTorn(fault, at: position) {
                let offset = (commitStart ?? position).offset
                let size = try segment.size()
                result.tail = LogVerification.Tail(
                    path: segment.path, offset: offset, bytes: size - min(size, offset), reason: fault)
                return
            }
            add(fault, segment, position)
            totals = nil
            commitStart = nil
            decoder.interrupt()
            guard let next = try resume(segment, behind: position, fault) else { return }
            position = next
        }
    }

    /// Where an intact block goes on behind something that does not hold.
    private func resume(
        _ segment: SegmentFile, behind position: SegmentFile.Position, _ fault: LogFault
    ) throws(LogError) -> SegmentFile.Position? {
        func place(_ offset: UInt64, _ header: BlockHeader) -> SegmentFile.Position {
            SegmentFile.Position(offset: offset, nextSequence: header.firstSequence, chain: header.chainBefore)
        }
        if fault == .brokenChain || fault.isSequenceGap, let header = try segment.header(at: position.offset),
            header.firstSequence >= position.nextSequence
        {
            return place(position.offset, header)
        }
        let next = try segment.nextHeader(after: position.offset) { $0.firstSequence >= position.nextSequence }
        return next.map { place($0.offset, $0.header) }
    }

    private mutating func count(
        _ block: SegmentFile.Block, in segment: SegmentFile, at position: SegmentFile.Position
    ) throws(LogError) {
        let last = result.segments.count - 1
        result.segments[last].blocks += 1
        result.segments[last].rawBytes += UInt64(block.header.rawLength)
        result.segments[last].storedBytes += UInt64(block.header.storedLength)
        let raw: [UInt8]
        do throws(BlockDecodingError) {
            raw = try decoder.decode(block)
        } catch {
            switch error {
            case .fault(let fault): return add(fault, segment, position)
            case .other(let error): throw error
            }
        }
        do throws(LogFault) {
            var walk = RecordWalk(raw, header: block.header)
            while try walk.next() != nil { result.segments[last].records += 1 }
        } catch {
            add(error, segment, position)
        }
    }

    private mutating func add(_ fault: LogFault, _ segment: SegmentFile, _ position: SegmentFile.Position) {
        guard goesOn else { return }
        // A block that does not follow what precedes it cannot be decompressed either; one place, one line.
        if let last = result.damages.last, last.path == segment.path, last.offset == position.offset { return }
        result.damages.append(
            LogDamage(
                path: segment.path, offset: position.offset, fault: fault, sequence: position.nextSequence))
    }
}

extension LogFault {
    fileprivate var isSequenceGap: Bool {
        if case .sequenceGap = self { true } else { false }
    }
}
