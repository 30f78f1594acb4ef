import EDM
import Operations
import SyncCore
import TestSupport
import Testing
import Views
@testable import OfflineStore

struct FailedViewsTests {
    @Test func `an operation in the log takes effect even if the views cannot commit`() async throws {
        let shop = try await Shop(.v4)
        try await shop.store.refuseCommits()
        let link = try await shop.create("Customers", ["Name": .string("Once")])
        await #expect(throws: StateError.self) { try await shop.store.flushViews() }
        #expect(try await shop.store.isBehind())
        try await shop.store.allowCommits()
        #expect(try await shop.store.load(.link(link)).values["Name"] == .string("Once"))
        #expect(try await shop.store.queue.pendingOperations().count == 1)
    }
}

extension LocalStore {
    /// Adds a constraint that SQLite checks at the end of each transaction, and that no pending operation satisfies.
    fileprivate func refuseCommits() throws {
        try core.storedViews.connection.execute(
            """
            PRAGMA foreign_keys = ON;
            CREATE TABLE parents (id INTEGER PRIMARY KEY);
            CREATE TABLE children (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);
            CREATE TRIGGER refuse AFTER INSERT ON pending BEGIN INSERT INTO children VALUES (1); END
            """)
    }

    fileprivate func flushViews() throws { _ = try core.views }

    fileprivate func isBehind() throws -> Bool { try core.storedViews.pendingOperations().isEmpty }

    fileprivate func allowCommits() throws { try core.storedViews.connection.execute("DROP TRIGGER refuse") }
}
