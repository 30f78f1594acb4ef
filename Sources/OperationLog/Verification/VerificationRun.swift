/// A pass over all blocks of a log, segment by segment.
struct VerificationRun {
    private var result: LogVerification
    private let check: ((LogRecord) -> String?)?
    /// The position after the preceding segment. Nil before the first segment, and after one whose end is unknown.
    private var before: SegmentFile.Position?
    private var store: StoreIdentifier?
    private var recorded: LogEnd?
    private var decoder = BlockDecoder()
    /// The segment that is being verified.
    private var current = LogVerification.Segment(
        path: "", firstSequence: 1, fileBytes: 0, isEncrypted: false, nextSequence: 1)
    /// The chain value before the first record of each segment.
    private var chains: [UInt64: UInt32] = [:]
    private var kinds = [LogVerification.KindTotals](repeating: .init(), count: 256)

    init(depth: LogVerification.Depth, check: ((LogRecord) -> String?)?) {
        result = LogVerification(depth: depth)
        self.check = check
    }

    var shouldContinue: Bool { result.damages.count < LogVerification.maximumDamages }

    func finished() -> LogVerification {
        var result = result
        for (kind, totals) in kinds.enumerated() where totals.records > 0 { result.kinds[UInt8(kind)] = totals }
        return result
    }

    mutating func collectingDamage(
        _ body: (inout VerificationRun) throws(LogError) -> Void
    ) throws(LogError) {
        do {
            try body(&self)
        } catch {
            guard case .damaged(let damage) = error else { throw error }
            // A snapshot that the beginning of the log depends on is checked twice.
            if shouldContinue, !result.damages.contains(damage) { result.damages.append(damage) }
            before = nil
        }
    }

    // MARK: Segments

    /// - Parameter recorded: The recorded end of the log, for its last segment.
    mutating func verify(_ segment: SegmentFile, isLast: Bool, recorded: LogEnd? = nil) throws(LogError) {
        self.recorded = recorded
        begin(segment, fileBytes: try segment.size())
        if let store, store != segment.header.storeIdentifier {
            before = nil
            add(.otherStore(found: segment.header.storeIdentifier), segment, segment.start, offset: 0)
        } else {
            if let before {
                try collectingDamage { _ throws(LogError) in try segment.checkPlace(after: before) }
            }
            store = segment.header.storeIdentifier
            chains[segment.header.firstSequence] = segment.chain
            before = nil
        }
        try walk(segment, isLast: isLast)
        result.segments.append(current)
    }

    /// Verifies a snapshot, which has the structure of a sealed segment.
    ///
    /// Its records are items of a state. The log does not interpret or count them by kind.
    mutating func verify(snapshot: SegmentFile) throws(LogError) {
        begin(snapshot, fileBytes: try snapshot.size())
        if let store, store != snapshot.header.storeIdentifier {
            add(.otherStore(found: snapshot.header.storeIdentifier), snapshot, snapshot.start, offset: 0)
        } else if let end = result.segments.last?.nextSequence, end < snapshot.header.firstSequence {
            // A snapshot is made at the start of a segment, so the records before it existed.
            let place = SegmentFile.Position(offset: 0, nextSequence: end, chain: 0)
            add(.endsBeforeSnapshot(snapshot.header.firstSequence), snapshot, place)
        } else if let chain = chains[snapshot.header.firstSequence], chain != snapshot.chain {
            add(.brokenChain, snapshot, snapshot.start, offset: 0)
        }
        try walk(snapshot, isLast: false)
        result.snapshots.append(current)
    }

    private mutating func begin(_ segment: SegmentFile, fileBytes: UInt64) {
        current = LogVerification.Segment(
            path: segment.path, firstSequence: segment.header.firstSequence, fileBytes: fileBytes,
            isEncrypted: segment.header.encryption != nil, nextSequence: segment.header.firstSequence)
    }

    private mutating func walk(_ segment: SegmentFile, isLast: Bool) throws(LogError) {
        var place = VerifiedPosition(segment)
        while shouldContinue {
            let fault: LogFault
            switch try pass(segment, &place, isLast: isLast) {
            case .on: continue
            case .done:
                if isLast, let fault = segment.fault(ofEndAt: place.position, recorded: recorded) {
                    add(fault, segment, place.position)
                }
                return
            case .fault(let found): fault = found
            }
            if isLast {
                if try segment.isTorn(fault, at: place.position, recorded: recorded) {
                    return try report(fault, segment, place)
                }
                // A writer may have continued between the first read and the search for evidence of damage.
                if place.lookedTwiceAt != place.position.offset {
                    place.lookedTwiceAt = place.position.offset
                    segment.refresh()
                    continue
                }
            }
            add(fault, segment, place.position)
            place.totals = nil
            place.commitStart = nil
            decoder.interrupt()
            guard let next = try resume(segment, after: place.position, fault) else { return }
            place.position = next
        }
    }

    private struct VerifiedPosition {
        var position: SegmentFile.Position
        /// The totals, or nil if an earlier structure was skipped.
        var totals: SegmentTotals?
        var commitStart: SegmentFile.Position?
        var lookedTwiceAt: UInt64?

        init(_ segment: SegmentFile) {
            position = segment.start
            totals = SegmentTotals(header: segment.header)
        }
    }

    private enum Step {
        case on
        case done
        case fault(LogFault)
    }

    /// Checks the structure at the position and advances after it.
    private mutating func pass(
        _ segment: SegmentFile, _ place: inout VerifiedPosition, isLast: Bool
    ) throws(LogError) -> Step {
        switch try segment.step(at: place.position) {
        case .records(let block):
            try count(block, in: segment, at: place.position)
            place.totals?.add(block, binding: segment.binding)
            place.commitStart =
                block.header.flags.contains(.commitContinues) ? place.commitStart ?? place.position : nil
            place.position = block.next
            return .on
        case .other(let block):
            place.totals?.add(block, binding: segment.binding)
            place.position = block.next
            return .on
        case .footer(let block, let footer):
            // No writer seals a segment in the middle of a commit, so this is not the result of a crash.
            guard place.commitStart == nil else { return .fault(.brokenChain) }
            switch try segment.ending(after: block) {
            case .incomplete: return .fault(.endsEarly)
            case .bytesAfter: return .fault(.bytesAfterTrailer)
            case .trailer: break
            }
            if let totals = place.totals, totals.footer(lastSequence: place.position.nextSequence - 1) != footer {
                add(
                    .undecodable(reason: "the totals in the footer differ from those of the segment"), segment,
                    place.position)
            }
            current.isSealed = true
            before = block.next
            return .done
        case .end:
            if isLast, place.commitStart == nil { return .done }
            return .fault(place.commitStart == nil ? .notSealed : .unfinishedCommit)
        case .invalid(let found):
            return .fault(found)
        }
    }

    private mutating func report(
        _ fault: LogFault, _ segment: SegmentFile, _ place: VerifiedPosition
    ) throws(LogError) {
        let offset = (place.commitStart ?? place.position).offset
        let size = try segment.size()
        result.tail = LogVerification.Tail(
            path: segment.path, offset: offset, bytes: size - min(size, offset), reason: fault)
    }

    /// Returns the position of the next intact block after an invalid structure.
    private func resume(
        _ segment: SegmentFile, after position: SegmentFile.Position, _ fault: LogFault
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

    // MARK: Blocks

    private mutating func count(
        _ block: SegmentFile.Block, in segment: SegmentFile, at position: SegmentFile.Position
    ) throws(LogError) {
        current.blocks += 1
        current.rawBytes += UInt64(block.header.rawLength)
        current.storedBytes += UInt64(block.header.storedLength)
        current.nextSequence = block.next.nextSequence
        guard result.depth == .deep else {
            current.records += UInt64(block.header.recordCount)
            return
        }
        do throws(BlockDecodingError) {
            let raw = try decoder.decode(block)
            do throws(LogFault) {
                try count(raw, of: block, in: segment, at: position, isState: segment.header.isSnapshot)
            } catch {
                add(error, segment, position)
            }
        } catch {
            switch error {
            case .fault(let fault): add(fault, segment, position)
            case .other(let error): throw error
            }
        }
    }

    private mutating func count(
        _ raw: [UInt8], of block: SegmentFile.Block, in segment: SegmentFile, at position: SegmentFile.Position,
        isState: Bool
    ) throws(LogFault) {
        let storedShare = Double(block.header.storedLength) / Double(max(raw.count, 1))
        var walk = RecordWalk(raw, header: block.header)
        while let record = try walk.next() {
            guard !isState else {
                current.records += 1
                continue
            }
            let size = RecordCoding.encodedSize(payload: record.payload.count)
            kinds[Int(record.kind)].records += 1
            kinds[Int(record.kind)].rawBytes += UInt64(size)
            kinds[Int(record.kind)].storedBytes += Double(size) * storedShare
            if let reason = check?(record) {
                guard shouldContinue else { return }
                let fault = LogFault.undecodableRecord(kind: record.kind, reason: reason)
                result.damages.append(
                    LogDamage(
                        path: segment.path, offset: position.offset, fault: fault, sequence: record.sequence))
            } else {
                current.records += 1
            }
        }
    }

    private mutating func add(
        _ fault: LogFault, _ segment: SegmentFile, _ position: SegmentFile.Position, offset: UInt64? = nil
    ) {
        guard shouldContinue else { return }
        let offset = offset ?? position.offset
        // A block that does not continue its predecessor cannot be decompressed either; each position is reported once.
        if let last = result.damages.last, last.path == segment.path, last.offset == offset { return }
        result.damages.append(
            LogDamage(path: segment.path, offset: offset, fault: fault, sequence: position.nextSequence))
    }
}

extension LogFault {
    fileprivate var isSequenceGap: Bool {
        if case .sequenceGap = self { true } else { false }
    }
}
