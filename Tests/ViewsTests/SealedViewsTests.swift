import Foundation
import Operations
import SeededRandom
import SyncCore
import Testing

@testable import Views

/// The views of an encrypted store: without the key, the file cannot be read, and any change is detected.
struct SealedViewsTests {
    private let file = SealedViewsFile()

    // MARK: Content of the files

    @Test func `written content is present after the file is reopened`() throws {
        try file.filled().close()
        let state = try file.open()
        #expect(try state.bookkeeping.queries().count == SealedViewsFile.count)
        try ViewsVerification(state).verify()
    }

    @Test func `no file contains a value in plain text, while the views are open or closed`() throws {
        let state = try file.filled()
        #expect(file.names == ["", "-wal"])
        for name in file.names { #expect(try !file.hasMarker(name), "\(name)") }
        // A sort that would otherwise spill to a file.
        _ = try state.connection.first(
            "SELECT count(*) FROM (SELECT DISTINCT name, query FROM queries ORDER BY query DESC)")
        try state.rehearse()
        #expect(file.names == ["", "-wal"])
        state.close()
        #expect(file.names == [""])
        #expect(try !file.hasMarker(""))
    }

    @Test func `the search for plain text finds the values in unencrypted views`() throws {
        let plain = SealedViewsFile(key: nil)
        let state = try plain.filled()
        #expect(try plain.hasMarker("-wal"))
        state.close()
        #expect(try plain.hasMarker(""))
    }

    @Test func `no nonce is used twice`() throws {
        let state = try file.filled()
        let log = try file.bytes("-wal")
        state.close()
        try file.open().close()
        let pages = try file.bytes("")
        var nonces: [[UInt8]] = stride(from: SealedHeader.size, to: pages.count, by: SealedDatabase.pageSize).map {
            Array(pages[$0..<$0 + 12])
        }
        nonces += stride(from: 32, to: log.count, by: SealedDatabase.frameSize).map {
            Array(log[($0 + 24)..<($0 + 36)])
        }
        #expect(nonces.count > 200)
        #expect(Set(nonces).count == nonces.count)
    }

    @Test func `equal content is encrypted differently in another file`() throws {
        let other = SealedViewsFile()
        try file.filled().close()
        try other.filled().close()
        let (one, another) = (try file.bytes(""), try other.bytes(""))
        #expect(one.count == another.count)
        let same = zip(one, another).dropFirst(108).filter { $0 == $1 }.count
        // The rest of the first page is zero.
        #expect(same < SealedHeader.size - 108 + one.count / 100)
    }

    // MARK: Changes

    @Test func `each changed bit of the file is detected, at the latest when the whole file is read`() throws {
        try file.filled().close()
        let whole = try file.bytes("")
        var generator = SeededRandom(seed: .testSeed())
        var places = Array(0..<112) + [200, SealedHeader.size - 1]
        for page in 0..<(whole.count - SealedHeader.size) / SealedDatabase.pageSize {
            places.append(
                SealedHeader.size + page * SealedDatabase.pageSize + .random(in: 0..<4_096, using: &generator))
        }
        for place in places {
            var changed = whole
            changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try file.write(changed, "")
            let error = #expect(throws: StateError.self, "byte \(place)") { try file.open() }
            #expect(error?.code == .damaged, "byte \(place)")
        }
        try file.write(whole, "")
        #expect(try file.open().bookkeeping.queries().count == SealedViewsFile.count)
    }

    @Test func `a changed page that was not checked on opening is detected when it is read`() throws {
        try file.filled().close()
        var bytes = try file.bytes("")
        bytes[bytes.count - 2_000] ^= 1
        try file.write(bytes, "")
        let connection = try Connection(path: file.path, key: file.key)
        try connection.useWriteAheadLog()
        #expect {
            _ = try connection.first("PRAGMA integrity_check")
            _ = try connection.query("SELECT * FROM queries ORDER BY query") { _ in }
        } throws: { ($0 as? SQLiteError)?.code == 11 }
        #expect(connection.hasMetDamage)
    }

    @Test func `exchanged, missing and zeroed pages are detected`() throws {
        try file.filled().close()
        let whole = try file.bytes("")
        let size = SealedDatabase.pageSize
        func page(_ number: Int) -> Range<Int> { number * size..<(number + 1) * size }
        var swapped = whole
        swapped.replaceSubrange(page(11), with: whole[page(12)])
        swapped.replaceSubrange(page(12), with: whole[page(11)])
        var zero = whole
        zero.replaceSubrange(page(11), with: [UInt8](repeating: 0, count: size))
        for changed in [swapped, zero, whole.dropLast(size), whole.dropLast(1_000), whole + whole.suffix(size)] {
            try file.write(changed, "")
            #expect(throws: StateError.self, "\(changed.count)") { try file.open() }
        }
    }

    @Test func `a page of another file with the same key is detected`() throws {
        let other = SealedViewsFile()
        try file.filled().close()
        try other.filled().close()
        var bytes = try file.bytes("")
        let range = 20 * SealedDatabase.pageSize..<21 * SealedDatabase.pageSize
        bytes.replaceSubrange(range, with: try other.bytes("")[range])
        try file.write(bytes, "")
        #expect(throws: StateError.self) { try file.open() }
    }

    // MARK: Keys

    @Test func `a different key or no key cannot open the views`() throws {
        try file.filled().close()
        #expect(throws: SQLiteState.ofAnotherKey) {
            try SQLiteState(path: file.path, key: SealedViewsFile.key(2), store: "test")
        }
        #expect(throws: StateError.self) { try SQLiteState(path: file.path, store: "test") }
        #expect(try file.open().bookkeeping.queries().count == SealedViewsFile.count)
    }

    @Test func `unencrypted views in place of encrypted ones are refused`() throws {
        try SealedViewsFile(key: nil, path: file.path).filled().close()
        #expect(throws: SQLiteState.ofAnotherKey) { try file.open() }
    }

    @Test func `the identifier of a key without its secret cannot open the views`() throws {
        try file.filled().close()
        let forged = ViewsKey(identifier: SealedViewsFile.key(1).identifier, secret: [UInt8](repeating: 9, count: 32))
        #expect(throws: StateError.self) { try SQLiteState(path: file.path, key: forged, store: "test") }
    }
}
