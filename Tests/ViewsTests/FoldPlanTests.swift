import Operations
import SyncCore
import Testing
import Views

/// The cost of a fold does not grow with the size of the store.
struct FoldPlanTests {
    @Test func `folding operations and responses scans no whole table or relationship`() throws {
        let state = try SQLiteState(path: ":memory:", store: "test")
        let changes = WorkingSet(over: state)
        var fold = try Fold(storage: changes)
        var random = RandomRecords(seed: 3)
        var sequence: SequenceNumber = 0
        var plans: Set<String> = []
        for _ in 0..<400 {
            let record = random.next()
            sequence += 1
            // These records read whole tables: metadata changes, and the removal of entities that no query covers any
            // more.
            switch record.body {
            case .serviceInstalled, .definingQueryRemoved, .downloadFinished:
                try fold.apply(record, sequence: sequence)
                try changes.flush()
                continue
            default: break
            }
            let explanation = try state.explaining {
                try fold.apply(record, sequence: sequence)
                try fold.finishRebase()
                try changes.flush()
                return 0
            }
            for statement in explanation.statements {
                for line in statement.plan where Self.readsAll(line, statement.sql) {
                    plans.insert("\(statement.sql): \(line)")
                }
            }
        }
        #expect(plans.sorted() == [])
    }

    /// Whether a statement reads a table that grows with the downloads, without a condition on an entity, a key or an
    /// end.
    private static func readsAll(_ line: String, _ sql: String) -> Bool {
        let line = line.drop { $0 == " " }
        for table in ["links", "keys", "entities", "coverage"] + RandomRecords.sets.map({ "set_\($0)" }) {
            if line == "SCAN \(table)" || line.hasPrefix("SCAN \(table) USING PRIMARY KEY") { return true }
        }
        return line.hasPrefix("SEARCH links") && line.hasSuffix("(relationship=?)")
            || line.hasPrefix("SEARCH keys") && line.hasSuffix("(set_number=?)")
    }
}
