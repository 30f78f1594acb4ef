import Operations
import SyncCore
import Testing
import Views

/// The views are locked while a store has them open.
struct ExclusiveViewsTests {
    private let file = ViewsFile()

    private func add(_ name: String, to state: SQLiteState) throws {
        try state.transaction {
            try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: name, query: "Orders")))
        }
    }

    @Test func `views that another process has open cannot be read, and the error states the reason`() throws {
        let state = try file.open()
        try add("A", to: state)
        #expect(throws: StateError(.unavailable, "The views are open in another process.")) {
            _ = try SQLiteState(path: file.path, store: "test", readOnly: true).bookkeeping.queries()
        }
        state.close()
        #expect(
            try SQLiteState(path: file.path, store: "test", readOnly: true).bookkeeping.queries().map(\.query.name) == [
                "A"
            ])
    }

    @Test func `views that another process is reading can be opened and written`() throws {
        let first = try file.open()
        try add("A", to: first)
        first.close()
        let reader = try SQLiteState(path: file.path, store: "test", readOnly: true)
        try reader.reading {
            #expect(try reader.bookkeeping.queries().map(\.query.name) == ["A"])
            let writer = try file.open()
            try add("B", to: writer)
            #expect(try writer.bookkeeping.queries().map(\.query.name) == ["A", "B"])
            #expect(try reader.bookkeeping.queries().map(\.query.name) == ["A"])
            writer.close()
        }
        #expect(try reader.reading { try reader.bookkeeping.queries().map(\.query.name) } == ["A", "B"])
    }
}
