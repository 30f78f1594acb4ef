internal import LogInspection
internal import OperationLog

extension Bench {
    static let inspect = Bench(
        name: "inspect", summary: "Inspection of a log of 1 million operations: verify, blame, history, follow."
    ) { surroundings in
        let operations = surroundings.operations ?? InspectionBench.operations
        let store = try surroundings.directory.fresh("store")
        try Directory.create(store)
        surroundings.say("inspect: writing a log of \(operations) operations")
        let records = try InspectedLog(operations: operations).write(store: store)
        var report = Report()
        for part in [LogReadingBench.measure, ReplayBench.measure] {
            report.cases += try await part(store, surroundings)
        }
        let bytes = try Directory.bytes(at: store + "/log") { $0.hasSuffix(".segment") }
        report.notes.append("\(operations) operations in \(records) records and \(bytes) bytes of segments.")
        return report
    }
}

enum InspectionBench {
    /// The default number of operations.
    static let operations = 1_000_000
}
