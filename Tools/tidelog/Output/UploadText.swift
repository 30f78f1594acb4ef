internal import ODataWire
internal import Operations
internal import SyncEngine
internal import Tidelog

/// What an upload came to, for a person or as JSON.
struct UploadText {
    let report: UploadReport

    var lines: [String] {
        if report.batches == 0, report.confirmed.isEmpty, report.inDoubt.isEmpty, report.conflicts.isEmpty {
            return ["Nothing to send."]
        }
        var lines = [
            "\(report.confirmed.count) confirmed, \(report.rejected.count) rejected, \(report.inDoubt.count) in doubt "
                + "(\(counted(report.batches, "batch", "batches")), \(counted(report.bytesSent, "byte", "bytes")) sent)."
        ]
        for (operation, refusal) in report.rejected {
            lines.append("Operation \(operation) was rejected: \(refusal.status) \(oneLine(refusal.message))")
        }
        for (operation, refusal) in report.deferred {
            lines.append("Operation \(operation) was put off: \(refusal.status) \(oneLine(refusal.message))")
        }
        for operation in report.inDoubt {
            lines.append("Operation \(operation) is in doubt: it is not known whether it took effect.")
        }
        if !report.rejected.isEmpty {
            lines.append("Rejected operations stay in the store; see 'tidelog status'. The next push tries them again.")
        }
        for conflict in report.conflicts {
            lines.append("\(oneLine(conflict.name)) waits: others have changed it as well; see 'tidelog conflicts'.")
        }
        if report.postponed != nil { lines.append("The next push sends again what was put off.") }
        if !report.inDoubt.isEmpty {
            lines.append("Run 'tidelog push --resend-in-doubt' to send what is in doubt again.")
        }
        return lines
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("batches", report.batches)
        json.member("bytesSent", report.bytesSent)
        json.numbers("confirmed", report.confirmed)
        json.name("rejected")
        json.beginArray()
        for (operation, refusal) in report.rejected {
            json.beginObject()
            json.member("sequence", operation)
            json.member("status", refusal.status)
            json.member("code", refusal.code)
            json.member("message", refusal.message)
            json.endObject()
        }
        json.endArray()
        if !report.deferred.isEmpty { json.numbers("deferred", report.deferred.map(\.operation)) }
        json.numbers("inDoubt", report.inDoubt)
        json.member("remaining", report.remaining)
        if !report.conflicts.isEmpty { json.numbers("conflicts", report.conflicts.map(\.entity.rawValue)) }
        if let postponed = report.postponed { json.member("notBefore", postponed.notBefore) }
        json.endObject()
        return json.text
    }

    func print(json isJSON: Bool) throws {
        for line in isJSON ? [json] : lines { try Console.print(line) }
    }
}
