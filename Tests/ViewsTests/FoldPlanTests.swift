import Operations
import SyncCore
import Testing
import Views

/// What a fold costs must not grow with the store.
struct FoldPlanTests {
    @Test func `folding operations and answers reads no table and no relationship whole`() throws {
        let state = try SQLiteState(path: ":memory:", store: "test")
        let changes = WorkingSet(over: state)
        var fold = try Fold(storage: changes)
        var random = RandomRecords(seed: 3)
        var sequence: SequenceNumber = 0
        var plans: Set<String> = []
        for _ in 0..<400 {
            let record = random.next()
            sequence += 1
            // Other metadata are, and what leaves a query is looked for among all that it brought.
            switch record.body {
            case .serviceInstalled, .definingQueryRemoved, .downloadFinished:
                try fold.apply(record, sequence: sequence)
                try changes.flush()
                continue
            default: break
            }
            let explanation = try state.explaining {
                try fold.apply(record, sequence: sequence)
                try fold.settle()
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

    /// Tables that grow with what was downloaded, without a condition on an entity, a key or an end.
    private static func readsAll(_ line: String, _ sql: String) -> Bool {
        let line = line.drop { $0 == " " }
        for table in ["links", "keys", "entities", "coverage"] + RandomRecords.sets.map({ "set_\($0)" }) {
            if line == "SCAN \(table)" || line.hasPrefix("SCAN \(table) USING PRIMARY KEY") { return true }
        }
        return line.hasPrefix("SEARCH links") && line.hasSuffix("(relationship=?)")
            || line.hasPrefix("SEARCH keys") && line.hasSuffix("(set_number=?)")
    }
}
