import EDM
internal import LogInspection
import ServiceReplay

/// The outcomes of a session's operations after they were run again.
enum SessionReplayText {
    static func lines(_ operations: [ReplayedOperation], json isJSON: Bool) -> [String] {
        if isJSON { return operations.map(json) }
        var table = TextTable([("operation", .right), ("then", .left), ("now", .left), ("what", .left)])
        for operation in operations {
            table.add([
                "\(operation.sequence)", words(operation.then), operation.isSame ? "the same" : words(operation.now),
                operation.summary,
            ])
        }
        let different = operations.count { !$0.isSame }
        return (operations.isEmpty ? [] : table.lines + [""]) + [
            "\(counted(operations.count, "operation", "operations")), \(different) with another outcome."
        ]
    }

    private static func words(_ outcome: ReplayedOperation.Outcome) -> String {
        switch outcome {
        case .confirmed: "confirmed"
        case .rejected(let status, let code): "rejected: \(status) \(code)"
        case .open(let state): state
        case .impossible(let reason): "not performed: \(reason)"
        }
    }

    private static func json(_ operation: ReplayedOperation) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", operation.sequence)
        json.member("summary", operation.summary)
        json.member("same", operation.isSame)
        json.name("then")
        write(operation.then, &json)
        json.name("now")
        write(operation.now, &json)
        json.endObject()
        return json.text
    }

    private static func write(_ outcome: ReplayedOperation.Outcome, _ json: inout JSONWriter) {
        json.beginObject()
        switch outcome {
        case .confirmed: json.member("outcome", "confirmed")
        case .rejected(let status, let code):
            json.member("outcome", "rejected")
            json.member("status", status)
            json.member("code", code)
        case .open(let state): json.member("outcome", state)
        case .impossible(let reason):
            json.member("outcome", "impossible")
            json.member("reason", reason)
        }
        json.endObject()
    }
}
