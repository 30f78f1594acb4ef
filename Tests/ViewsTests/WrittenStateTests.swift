import EDM
import Operations
import SyncCore
import Testing
import Views

/// The views of a historical store are not folded: the state in memory is written into them, and later only its
/// changes.
struct WrittenStateTests {
    /// Applies the records without settling between them.
    private func fold(_ records: ArraySlice<Record>, _ fold: inout Fold) throws {
        for (index, record) in zip(records.indices, records) {
            try fold.apply(record, sequence: SequenceNumber(index + 1))
        }
        try fold.finishRebase()
    }

    @Test(arguments: UInt64(1)...12)
    func `a state that is written into empty views is unchanged`(_ seed: UInt64) throws {
        var random = RandomRecords(seed: seed)
        let memory = WorkingSet()
        var fold = try Fold(storage: memory)
        try self.fold((0..<250).map { _ in random.next() }[...], &fold)
        let (file, filled) = (ViewsFile(), ViewsFile())
        let state = try file.open()
        try state.transaction { try DirtyItemWriter.writeAll(of: memory, into: state, fold.model) }
        #expect(try StateDigest(of: state) == StateDigest(of: memory), "seed \(seed)")
        let other = try filled.open()
        try other.fill { try DirtyItemWriter.writeAll(of: memory, into: other, fold.model) }
        #expect(try StateDigest(of: other) == StateDigest(of: memory), "seed \(seed)")
        #expect(try indexes(of: other) == indexes(of: state), "seed \(seed)")
    }

    private func indexes(of state: SQLiteState) throws -> [String] {
        var found: [String] = []
        try state.connection.each("SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY rowid") {
            if let statement = $0.text(0) { found.append(statement) }
        }
        return found
    }

    @Test func `views whose filling fails are empty and have their indexes`() throws {
        struct Failure: Error {}
        var random = RandomRecords(seed: 3)
        let memory = WorkingSet()
        var fold = try Fold(storage: memory)
        try self.fold((0..<50).map { _ in random.next() }[...], &fold)
        let file = ViewsFile()
        let state = try file.open()
        let (digest, before) = (try StateDigest(of: state), try indexes(of: state))
        #expect(throws: Failure.self) {
            try state.fill {
                try DirtyItemWriter.writeAll(of: memory, into: state, fold.model)
                throw Failure()
            }
        }
        #expect(try StateDigest(of: state) == digest)
        #expect(try indexes(of: state) == before)
        try state.fill { try DirtyItemWriter.writeAll(of: memory, into: state, fold.model) }
        #expect(try StateDigest(of: state) == StateDigest(of: memory))
    }

    @Test(arguments: UInt64(1)...12)
    func `writing the changes of a state into views of the previous state updates them to it`(
        _ seed: UInt64
    ) throws {
        var random = RandomRecords(seed: seed &+ 9_000)
        let records = (0..<400).map { _ in random.next() }
        var memory = WorkingSet()
        var file = ViewsFile()
        var state = try file.open()
        var (cut, written) = (0, 0)
        while cut < records.count {
            let end = min(cut + random.number(1..<40), records.count)
            // Like a historical store, keeps the previous state in case the new one is discarded.
            let before = try StateDigest(of: memory)
            let next = memory.copy()
            next.trackDirtyItems()
            var further = try Fold(storage: next)
            try self.fold(records[cut..<end], &further)
            #expect(try StateDigest(of: memory) == before, "seed \(seed): the copy changed the original")
            if try state.transaction({ try DirtyItemWriter.writeChanges(of: next, into: state) }) {
                written += 1
            } else {
                // The metadata changed.
                state.close()
                file = ViewsFile()
                state = try file.open()
                try state.transaction { try DirtyItemWriter.writeAll(of: next, into: state, further.model) }
            }
            (memory, cut) = (next, end)
            let isSame = try StateDigest(of: state) == StateDigest(of: memory)
            #expect(isSame, "seed \(seed), through record \(end)")
            if !isSame { return }
        }
        #expect(written > 0, "seed \(seed): everything was written anew each time")
    }
}
