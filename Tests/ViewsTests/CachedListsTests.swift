import Operations
import SyncCore
import Testing
import Views

/// Lists that the views have read are those of the file after each change and each rollback.
struct CachedListsTests {
    private struct RolledBack: Error {}

    private let file = ViewsFile()

    private func lists(of state: SQLiteState) throws -> [String] {
        [
            "\(try state.bookkeeping.queries())", "\(try state.bookkeeping.openBatches())",
            "\(try state.bookkeeping.openLinks())", "\(try state.bookkeeping.quarantine())",
            "\(try state.bookkeeping.events())", "\(try state.changedLinks())",
        ]
    }

    private func change(_ state: SQLiteState) throws {
        try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: "Q", query: "Orders"), run: 4))
        try state.bookkeeping.putOpenBatch(
            OpenBatch(BatchPrepared(batch: 3, changeSets: [[.init(contentID: "1", operation: 12)]])))
        try state.bookkeeping.putOpenLinks([
            OpenLink(query: "Q", set: "Orders", source: "Orders(1)", navigation: "Owner", target: "Customers(7)")
        ])
        try state.bookkeeping.putQuarantine([
            QuarantineEntry(
                sequence: 4, time: -5,
                entity: QuarantinedEntity(query: "Q", set: "Orders", reason: .withoutKey, message: "No key."))
        ])
        try state.bookkeeping.putEvents([StoreEvent(id: 5, kind: .download, time: -5, subset: [], mark: 3)])
        try state.putLink(
            LinkRow(
                relationship: "R", first: EntityID(rawValue: 1), second: EntityID(rawValue: 2), inBase: false,
                inLocal: true))
        try state.saveBase(EntityID(rawValue: 1), .absent)
    }

    @Test(arguments: [false, true])
    func `lists are those of the file after changes and rollbacks`(isShared: Bool) throws {
        let state = try file.open()
        func transaction(_ body: () throws -> Void) throws {
            if isShared { try state.inSharedTransaction(body) } else { try state.transaction(body) }
        }
        let empty = try lists(of: state)
        #expect(try state.drainBases(limit: 10).isEmpty)
        #expect(throws: RolledBack.self) {
            try transaction {
                try change(state)
                #expect(try zip(lists(of: state), empty).allSatisfy { $0 != $1 })
                throw RolledBack()
            }
        }
        #expect(try lists(of: state) == empty)
        try transaction {
            #expect(try state.drainBases(limit: 10).isEmpty)
            try change(state)
        }
        try state.commitSharedTransaction()
        let changed = try lists(of: state)
        #expect(zip(changed, empty).allSatisfy { $0 != $1 })
        // The rollback restores what the transaction has removed.
        #expect(throws: RolledBack.self) {
            try transaction {
                #expect(try state.drainBases(limit: 10).map(\.0.rawValue) == [1])
                #expect(try state.drainBases(limit: 10).isEmpty)
                try state.bookkeeping.removeQuery("Q")
                try state.bookkeeping.removeOpenBatch(3)
                try state.removeLink("R", first: EntityID(rawValue: 1), second: EntityID(rawValue: 2))
                #expect(try state.changedLinks().isEmpty)
                throw RolledBack()
            }
        }
        #expect(try lists(of: state) == changed)
        state.close()
        let reopened = try file.open()
        #expect(try lists(of: reopened) == changed)
        #expect(try reopened.drainBases(limit: 10).map(\.0.rawValue) == [1])
        reopened.close()
    }
}
