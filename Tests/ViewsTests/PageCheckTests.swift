import EDM
import Foundation
import Operations
import SeededRandom
import SyncCore
import Testing

@testable import Views

/// Changed pages in the file of the views are detected.
struct PageCheckTests {
    private let file = ViewsFile()

    /// Fills the views so that they contain overflow pages and inner pages of indexes.
    private func fill() throws {
        let state = try file.open()
        try state.transaction {
            for number in 0..<400 {
                let text = "Orders?$filter=Note eq '" + String(repeating: "\(number) ", count: number * 4) + "'"
                try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: "Q\(number)", query: text)))
            }
        }
        state.close()
    }

    private func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file.path))) }

    private func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: file.path)) }

    @Test func `a file with intact pages opens, and each page has a checksum`() throws {
        try fill()
        #expect(try bytes().count > 100 * PageChecks.pageSize)
        #expect(PageChecks.firstWrongPage(of: file.path, limit: .max) == nil)
        let state = try file.open()
        #expect(try state.bookkeeping.queries().count == 400)
        try ViewsVerification(state).verify()
    }

    @Test func `one changed bit in any page is detected when the file is opened`() throws {
        try fill()
        let whole = try bytes()
        var generator = SeededRandom(seed: .testSeed())
        for page in 0..<whole.count / PageChecks.pageSize {
            let place = page * PageChecks.pageSize + Int.random(in: 0..<PageChecks.pageSize, using: &generator)
            var changed = whole
            changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try write(changed)
            // A page that was never written must contain only zeros.
            #expect(PageChecks.firstWrongPage(of: file.path, limit: .max) == page + 1, "byte \(place)")
            if page % 16 == 0 {
                #expect(throws: StateError.self, "byte \(place)") { try file.open() }
            }
        }
    }

    @Test func `a changed page that was not checked on opening is detected when it is read`() throws {
        try fill()
        var bytes = try bytes()
        // A change in the text of an overflow page, which only the checksum detects.
        let places = stride(from: 2_000, to: bytes.count, by: PageChecks.pageSize).filter { place in
            bytes[place..<place + 8].allSatisfy { $0 == 0x20 || (0x30...0x39).contains($0) }
        }
        let place = try #require(places.last)
        bytes[place] ^= 1
        try write(bytes)
        let connection = try Connection(path: file.path)
        #expect {
            try connection.first("SELECT query FROM queries ORDER BY query")
        } throws: { error in
            (error as? SQLiteError)?.code == 11
        }
        #expect(connection.hasMetDamage)
    }

    @Test func `two exchanged pages are detected`() throws {
        try fill()
        var bytes = try bytes()
        let size = PageChecks.pageSize
        let (one, other) = (Array(bytes[10 * size..<11 * size]), Array(bytes[11 * size..<12 * size]))
        bytes.replaceSubrange(10 * size..<12 * size, with: other + one)
        try write(bytes)
        #expect(PageChecks.firstWrongPage(of: file.path, limit: .max) == 11)
    }

    @Test func `a page without a checksum is detected unless it contains only zeros`() throws {
        try fill()
        let whole = try bytes()
        let size = PageChecks.pageSize
        for page in [0, 1, whole.count / size - 1] {
            var changed = whole
            changed.replaceSubrange(
                (page + 1) * size - PageChecks.reservedBytes..<(page + 1) * size,
                with: repeatElement(0, count: PageChecks.reservedBytes))
            try write(changed)
            #expect(PageChecks.firstWrongPage(of: file.path, limit: .max) == page + 1)
            changed.replaceSubrange(page * size..<(page + 1) * size, with: repeatElement(0, count: size))
            try write(changed)
            // The first page contains the header of the database.
            #expect(PageChecks.firstWrongPage(of: file.path, limit: .max) == (page == 0 ? 1 : nil))
        }
    }

    @Test func `a file that ends within a page is detected`() throws {
        try fill()
        try write(Array(try bytes().dropLast(1_000)))
        #expect(throws: StateError.self) { try file.open() }
    }

    @Test func `new views are accessible only for their owner`() throws {
        try? FileManager.default.removeItem(atPath: file.path)
        let state = try file.open()
        try state.transaction {
            try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: "Q", query: "Orders")))
        }
        for name in ["", "-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }
}
