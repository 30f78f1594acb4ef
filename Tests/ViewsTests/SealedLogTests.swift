import Foundation
import Operations
import SeededRandom
import SyncCore
import Testing

@testable import Views

/// The write-ahead log of encrypted views after the process has ended.
struct SealedLogTests {
    private let file = SealedViewsFile()
    private static let headerSize = SealedDatabase.logHeaderSize
    private static let frameSize = SealedDatabase.frameSize

    private func add(_ number: Int, to state: SQLiteState) throws {
        try state.transaction {
            let text =
                "Orders?$filter=Note eq '\(SealedViewsFile.marker)" + String(repeating: "\(number) ", count: 3_000)
            try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: "N\(number)", query: text + "'")))
        }
    }

    /// Returns the number of added queries if they are the first ones without a gap; nil otherwise.
    private func prefix(of state: SQLiteState) throws -> Int? {
        let names = Set(try state.bookkeeping.queries().map(\.query.name).filter { $0.hasPrefix("N") })
        for query in try state.bookkeeping.queries() where query.query.name.hasPrefix("N") {
            let number = query.query.name.dropFirst()
            guard query.query.query.hasSuffix(String(repeating: "\(number) ", count: 3_000) + "'") else { return nil }
        }
        return names == Set((0..<names.count).map { "N\($0)" }) ? names.count : nil
    }

    /// Returns views with twenty transactions in the log. If `checkpointed`, the database contains the first ten as
    /// well.
    private func stopped(checkpointed: Bool) throws -> SealedViewsFile {
        let state = try file.filled()
        try state.connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0")
        for number in 0..<10 { try add(number, to: state) }
        if checkpointed { try state.connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }
        // The first transaction after a checkpoint restarts the log, because the database contains all of it.
        for number in 10..<20 { try add(number, to: state) }
        if checkpointed { try state.connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }
        let copy = try file.copy()
        state.connection.close()
        return copy
    }

    @Test(arguments: [false, true])
    func `committed changes are present after the process has ended`(checkpointed: Bool) throws {
        let copy = try stopped(checkpointed: checkpointed)
        #expect(try !copy.hasMarker("") && !copy.hasMarker("-wal"))
        let state = try copy.open()
        #expect(try prefix(of: state) == 20)
        #expect(try state.bookkeeping.queries().count == SealedViewsFile.count + 20)
        try add(20, to: state)
        state.close()
        #expect(try prefix(of: try copy.open()) == 21)
    }

    @Test(arguments: [false, true])
    func `a changed byte of the write-ahead log is detected, or the log ends before it`(checkpointed: Bool) throws {
        let copy = try stopped(checkpointed: checkpointed)
        let (pages, whole) = (try copy.bytes(""), try copy.bytes("-wal"))
        var generator = SeededRandom(seed: .testSeed())
        var places = Array(0..<Self.headerSize)
        for frame in 0..<(whole.count - Self.headerSize) / Self.frameSize {
            let start = Self.headerSize + frame * Self.frameSize
            places.append(start + Int.random(in: 0..<24, using: &generator))
            places.append(start + Int.random(in: 24..<Self.frameSize, using: &generator))
        }
        var damaged = 0
        for place in places {
            var changed = whole
            changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try copy.write(pages, "")
            try copy.write(changed, "-wal")
            do {
                let state = try copy.open()
                let found = try #require(try prefix(of: state), "byte \(place)")
                #expect(try state.bookkeeping.queries().count == SealedViewsFile.count + found, "byte \(place)")
                try ViewsVerification(state).verify()
                state.connection.close()
                if checkpointed { Issue.record("byte \(place) was taken") }
            } catch let error as StateError {
                #expect(error.code == .damaged, "byte \(place): \(error.message)")
                damaged += 1
            }
        }
        // The part of the log that the database needs must be intact. Otherwise the log may end at the change, as after
        // a crash.
        if checkpointed { #expect(damaged == places.count) }
    }

    @Test func `a truncated or missing write-ahead log is detected if the database needs it`() throws {
        let copy = try stopped(checkpointed: true)
        let (pages, whole) = (try copy.bytes(""), try copy.bytes("-wal"))
        let frames = (whole.count - Self.headerSize) / Self.frameSize
        for kept in [0, 1, frames / 2, frames - 1] {
            try copy.write(pages, "")
            try copy.write(whole.prefix(Self.headerSize + kept * Self.frameSize), "-wal")
            // A second attempt also fails: the first one has not repaired the log.
            for _ in 0..<2 {
                let error = #expect(throws: StateError.self, "\(kept) of \(frames)") { try copy.open() }
                #expect(error?.code == .damaged)
            }
        }
        try copy.write(pages, "")
        try? FileManager.default.removeItem(atPath: copy.path + "-wal")
        for _ in 0..<2 { #expect(throws: StateError.self) { try copy.open() } }
    }

    @Test func `a write-ahead log that ends within a write is used up to the last complete transaction`() throws {
        let copy = try stopped(checkpointed: false)
        let whole = try copy.bytes("-wal")
        try copy.write(whole.dropLast(100), "-wal")
        #expect(try prefix(of: try copy.open()) == 19)
    }

    @Test(arguments: [false, true])
    func `a write-ahead log of another round is damage if the pages need theirs, and ignored otherwise`(
        checkpointed: Bool
    ) throws {
        let early = try stopped(checkpointed: false)
        let old = try early.bytes("-wal")
        let state = try early.open()
        try add(20, to: state)
        state.close()
        let later = try early.open()
        try add(21, to: later)
        if checkpointed { try later.connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }
        let stopped = try early.copy()
        later.connection.close()
        // The log from before the views were closed.
        try stopped.write(old, "-wal")
        if checkpointed {
            #expect(throws: StateError.self) { try stopped.open() }
        } else {
            // As if the last transaction had not been written.
            #expect(try prefix(of: try stopped.open()) == 21)
        }
    }

    @Test func `exchanged frames are detected`() throws {
        let copy = try stopped(checkpointed: true)
        let whole = try copy.bytes("-wal")
        func frame(_ number: Int) -> Range<Int> {
            let start = Self.headerSize + number * Self.frameSize
            return start..<start + Self.frameSize
        }
        var changed = whole
        changed.replaceSubrange(frame(1), with: whole[frame(2)])
        changed.replaceSubrange(frame(2), with: whole[frame(1)])
        try copy.write(changed, "-wal")
        #expect(throws: StateError.self) { try copy.open() }
    }

    @Test func `a frame that changes while the views are open is detected when it is read`() throws {
        let state = try file.filled()
        try state.connection.execute("PRAGMA wal_autocheckpoint = 0")
        var bytes = try file.bytes("-wal")
        for start in stride(from: Self.headerSize + 1_000, to: bytes.count, by: Self.frameSize) { bytes[start] ^= 1 }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file.path + "-wal"))
        try handle.write(contentsOf: Data(bytes))
        try state.connection.execute("PRAGMA cache_size = 0; PRAGMA shrink_memory; PRAGMA wal_autocheckpoint = 0")
        #expect(throws: (any Error).self) {
            for _ in 0..<2 { _ = try state.connection.query("SELECT * FROM queries ORDER BY query") { _ in } }
        }
        #expect(state.connection.hasMetDamage)
        state.connection.close()
    }

    @Test func `temporary tables of encrypted views are in memory`() throws {
        let state = try file.filled()
        // 2 is MEMORY.
        #expect(try state.connection.first("PRAGMA temp_store")?.first?.integer == 2)
        state.connection.close()
    }

    @Test func `temporary tables of views in memory are in memory`() throws {
        let state = try SQLiteState(path: nil, store: "s")
        #expect(try state.connection.first("PRAGMA temp_store")?.first?.integer == 2)
        state.close()
    }

    @Test func `temporary files are refused, and nothing is written in plain text`() throws {
        let state = try file.filled()
        let connection = state.connection
        try connection.execute("PRAGMA cache_size = 10; PRAGMA temp_store = FILE")
        // A sort that would otherwise use a file.
        try? connection.execute(
            "CREATE TEMP TABLE copies AS SELECT a.query FROM queries a, queries b ORDER BY a.query || b.name DESC")
        #expect(file.names == ["", "-wal"])
        for name in file.names { #expect(try !file.hasMarker(name)) }
        state.connection.close()
    }
}
