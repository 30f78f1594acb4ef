import CSQLite
import EDM
import Operations
import SyncCore
import Testing

@testable import Views

/// The tables that a transaction reports as changed. A live query runs again if one of its tables is reported. The report
/// follows from the statements, and is compared here with the tables whose content changes.
struct ChangedTablesTests {
    static let seeds = Array(UInt64(1)...6)
    private static let count = 200

    /// The tables in which SQLite reports a changed row.
    private final class Hook {
        var tables: Set<String> = []

        init(_ state: SQLiteState) {
            sqlite3_update_hook(
                state.connection.rawHandle,
                { hook, _, _, table, _ in
                    guard let hook, let table else { return }
                    Unmanaged<Hook>.fromOpaque(hook).takeUnretainedValue().tables.insert(String(cString: table))
                }, Unmanaged.passUnretained(self).toOpaque())
        }

        func take() -> Set<String> {
            defer { tables = [] }
            return tables
        }
    }

    /// Returns the content of each table.
    private func contents(_ state: SQLiteState) throws -> [String: Int] {
        var names: [String] = []
        try state.connection.query("SELECT name FROM sqlite_master WHERE type = 'table'") {
            names.append($0.text(0) ?? "")
        }
        var contents: [String: Int] = [:]
        for name in names {
            var hasher = Hasher()
            try state.connection.query("SELECT * FROM \(TableLayout.quoted(name))") { row in
                for column in 0..<row.count { hasher.combine("\(row[column])") }
            }
            contents[name] = hasher.finalize()
        }
        return contents
    }

    private func standings(_ state: WorkingSet) throws -> [PendingState] {
        try (UInt64(1)..<150).map { try state.pendingState(of: EntityID(rawValue: $0)) }
    }

    /// Returns the tables that must be reported: a pending operation on an entity counts as a change of its table.
    private func tables(
        from before: [PendingState], to after: [PendingState], _ views: SQLiteState
    ) throws -> Set<String> {
        var tables: Set<String> = []
        for (index, (old, new)) in zip(before, after).enumerated() where old != new {
            let set = try views.set(of: EntityID(rawValue: UInt64(index + 1)))
            if let table = set.flatMap({ views.tableName(ofSet: $0) }) { tables.insert(table) }
        }
        return tables
    }

    @Test(arguments: seeds)
    func `every table that a transaction changes is reported`(_ seed: UInt64) throws {
        struct Stop: Error {}
        let log = try FoldedLog(seed: seed &+ 300, count: Self.count)
        var random = RandomRecords(seed: seed &+ 6_000)
        let file = ViewsFile()
        let state = try file.openState(flushLimit: [1, 2, 17, .max][Int(seed % 4)])
        let views = try #require(state.backing as? SQLiteState)
        views.tracksPendingStates = true
        let hook = Hook(views)
        var fold = try Fold(storage: state)
        var (content, standing, index) = (try contents(views), try standings(state), 0)
        while index < log.records.count {
            if random.chance(20) {
                let before = fold
                try? state.transaction {
                    try log.apply(index..<index + 1, &fold)
                    throw Stop()
                }
                fold = before
                _ = hook.take()
            }
            let end = min(log.records.count, index + random.number(1..<4))
            let range = index..<end
            let isInstalled = log.records[range].contains {
                if case .serviceInstalled = $0.body { true } else { false }
            }
            // The next transaction commits them.
            let isGathered = !isInstalled && random.chance(30)
            if !isGathered { try state.commitSharedTransaction() }
            let body = { try log.apply(range, &fold) }
            if isGathered { try state.inSharedTransaction(body) } else { try state.transaction(body) }
            index = end
            let announced = try views.drainChangedTables()
            let (newContent, newStanding) = (try contents(views), try standings(state))
            let name = "seed \(log.seed), after record \(end)"
            // Other metadata change all tables.
            if !isInstalled {
                let changed = Set(newContent.keys.filter { newContent[$0] != content[$0] })
                #expect(changed.subtracting(announced).sorted() == [], "\(name)")
                #expect(hook.take().subtracting(announced).sorted() == [], "\(name): SQLite")
                let waiting = try tables(from: standing, to: newStanding, views)
                #expect(waiting.subtracting(announced).sorted() == [], "\(name): pending")
            }
            (content, standing) = (newContent, newStanding)
            _ = hook.take()
        }
    }
}
