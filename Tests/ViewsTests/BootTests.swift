import DiskSimulation
import EDM
import Operations
import SyncCore
import Testing
import Views

/// Views that were being written when the machine stopped. Their content does not show whether they are complete.
struct BootTests {
    private let file = ViewsFile()

    private func open(_ boot: String?) throws -> SQLiteState {
        try SQLiteState(path: file.path, store: "test", boot: boot)
    }

    private func write(_ state: SQLiteState) throws {
        try state.transaction {
            try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: "Q", query: "Orders")))
        }
    }

    /// Leaves the views on the disk as a crash does while they are open.
    private func stopped(in boot: String) throws {
        let state = try open(boot)
        try write(state)
        state.connection.close()
    }

    @Test func `views that were being written when the machine stopped are reported as damaged`() throws {
        try stopped(in: "Monday")
        #expect {
            try open("Tuesday")
        } throws: { error in
            (error as? StateError)?.code == .damaged
        }
    }

    @Test func `views that were being written when only the process ended are used`() throws {
        try stopped(in: "Monday")
        #expect(try open("Monday").bookkeeping.queries().count == 1)
    }

    @Test func `views that were closed are used after a restart of the machine`() throws {
        let state = try open("Monday")
        try write(state)
        state.close()
        #expect(try open("Tuesday").bookkeeping.queries().count == 1)
    }

    @Test func `views that were opened after the end of a process and closed are complete`() throws {
        try stopped(in: "Monday")
        try open("Monday").close()
        #expect(try open("Tuesday").bookkeeping.queries().count == 1)
    }

    @Test func `views that were only read are complete after any stop of the machine`() throws {
        try open("Monday").close()
        let state = try open("Monday")
        _ = try state.bookkeeping.queries()
        state.connection.close()
        #expect(try open("Tuesday").bookkeeping.queries() == [])
    }

    /// How many calls of the disk it takes to open views with so many pending operations and to close them again.
    private func callsOfNothing(pending count: UInt64) throws -> Int {
        let views = ViewsOnDisk(isSealed: false)
        let state = try views.openState()
        try FoldedLog(seed: 1, count: 1).fold(0..<1, into: state)
        var fold = try Fold(storage: state)
        try state.transaction {
            for number in 1...count {
                let creation = Creation(
                    entity: EntityID(rawValue: number), set: "Customers", type: "S.Customer", values: [:])
                try fold.apply(
                    Record(time: 0, body: .operation(Operation(.create(creation, parent: nil)))), sequence: number + 1)
            }
            try fold.finishRebase()
        }
        state.close()
        let before = views.disk.calls
        let opened = try views.open()
        #expect(try opened.hasEffects() == (count > 256))
        opened.close()
        return views.disk.calls - before
    }

    @Test func `unchanged views are not written when they are closed`() throws {
        #expect(try callsOfNothing(pending: 300) == callsOfNothing(pending: 1))
    }
}
