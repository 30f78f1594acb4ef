import Operations
import SyncCore
import Testing
import Views

/// Several changes in one transaction of the views.
struct DeferredChangesTests {
    private let file = ViewsFile()
    private let state: SQLiteState

    init() throws { state = try file.open() }

    private func add(_ name: String) throws {
        try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: name, query: "Orders")))
    }

    /// Returns the names that the views would contain if the process ended now.
    private func committed() throws -> [String] {
        let (_, state) = try file.openCopy()
        defer { state.close() }
        return try state.bookkeeping.queries().map(\.query.name)
    }

    private func names() throws -> [String] { try state.bookkeeping.queries().map(\.query.name) }

    @Test func `deferred changes are visible at once, and in the file after the commit`() throws {
        try state.inSharedTransaction { try add("A") }
        try state.inSharedTransaction { try add("B") }
        #expect(try names() == ["A", "B"])
        #expect(try committed() == [])
        try state.commitSharedTransaction()
        #expect(try committed() == ["A", "B"])
    }

    @Test func `a query that is written again keeps its position, and one that was removed becomes the last`() throws {
        try state.transaction { for name in ["B", "A", "C", "B"] { try add(name) } }
        #expect(try names() == ["B", "A", "C"])
        try state.transaction {
            try state.bookkeeping.removeQuery("B")
            for name in ["A", "B", "D"] { try add(name) }
        }
        #expect(try names() == ["A", "C", "B", "D"])
    }

    @Test func `a failed change rolls back all deferred changes`() throws {
        struct Failure: Error {}
        try state.transaction { try add("A") }
        try state.inSharedTransaction {
            try add("B")
            var header = try state.header()
            header.applied = 7
            try state.setHeader(header)
        }
        #expect(throws: Failure.self) {
            try state.inSharedTransaction {
                try add("C")
                throw Failure()
            }
        }
        #expect(try names() == ["A"])
        #expect(try state.header().applied == 0)
        try state.inSharedTransaction { try add("D") }
        try state.commitSharedTransaction()
        #expect(try committed() == ["A", "D"])
    }

    @Test func `a separate transaction that fails does not roll back the deferred changes`() throws {
        struct Failure: Error {}
        try state.inSharedTransaction { try add("A") }
        #expect(throws: Failure.self) {
            try state.transaction {
                try add("B")
                throw Failure()
            }
        }
        #expect(try names() == ["A"])
        #expect(try committed() == ["A"])
    }

    @Test func `closing the views commits the deferred changes`() throws {
        try state.inSharedTransaction { try add("A") }
        state.close()
        #expect(try committed() == ["A"])
    }
}
