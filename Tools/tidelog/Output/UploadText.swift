internal import OfflineStore
internal import Operations
internal import Tidelog

/// The result of an upload, as lines or as JSON.
struct UploadText {
    let report: UploadReport
    /// Whether the upload was completed. If not, the error describes the rest.
    var isWhole = true

    var lines: [String] {
        guard !isEmpty else { return ["No operations to send."] + waiting }
        var lines = [
            "\(report.confirmed.count) confirmed, \(report.rejected.count) rejected, \(report.inDoubt.count) in doubt"
                + (report.conflicts.isEmpty ? " " : ", \(report.conflicts.count) in conflict ")
                + "(\(counted(report.batches, "batch", "batches")), \(counted(report.bytesSent, "byte", "bytes")) sent)."
        ]
        if !report.elided.isEmpty {
            let elided = counted(report.elided.count, "operation", "operations")
            lines.append("\(elided) cancelled each other out and were not sent.")
        }
        for (operation, refusal) in report.rejected {
            lines.append("Operation \(operation) was rejected: \(refusal.status) \(oneLine(refusal.message))")
        }
        for (operation, refusal) in report.deferred {
            lines.append("Operation \(operation) was postponed: \(refusal.status) \(oneLine(refusal.message))")
        }
        for message in report.messages {
            let text = oneLine(message.text)
            lines.append("The service reported about operation \(message.operation) (\(message.severity)): \(text)")
        }
        for operation in report.inDoubt {
            let look = report.nextLooks[operation].map {
                "; its request may still be running, and a push after \(StatusText.time($0)) sends it again if it did not take effect"
            }
            lines.append("Operation \(operation) is in doubt: it is not known whether it took effect\(look ?? "").")
        }
        for batch in report.awaited {
            lines.append(
                "\(counted(batch.operations.count, "operation", "operations")) accepted without a result yet: "
                    + "\(oneLine(batch.reason)). The next push requests the result again.")
        }
        if !report.rejected.isEmpty {
            lines.append("Rejected operations stay in the store; see 'tidelog errors'. The next push tries them again.")
        }
        for conflict in report.conflicts {
            let others =
                switch conflict.kind {
                case .changed: "another client changed it too"
                case .deletedByOthers: "another client deleted it"
                case .deletedHere: "another client changed it, and it is deleted here"
                }
            lines.append("\(oneLine(conflict.name)) waits: \(others); see 'tidelog conflicts'.")
        }
        if report.postponed != nil { lines.append("The next push sends postponed operations again.") }
        lines += waiting
        if !report.adopted.isEmpty {
            let adopted = counted(report.adopted.count, "confirmed operation was", "confirmed operations were")
            lines.append("\(adopted) found at the service by content; see 'tidelog why'.")
        }
        if report.inDoubt.contains(where: { report.nextLooks[$0] == nil }) {
            lines.append(
                isWhole
                    ? "Check the service, and set the outcome with 'tidelog settle', for a new entity with its address; "
                        + "'tidelog push --resend-in-doubt' sends operations in doubt again."
                    : "The next push determines the outcome if possible.")
        }
        return lines
    }

    /// The lines about operations that were not sent and are not listed individually.
    private var waiting: [String] {
        let reported = Set(report.rejected.map(\.operation) + report.deferred.map(\.operation) + report.inDoubt)
            .union(report.conflicts.flatMap(\.operations)).union(report.awaited.flatMap(\.operations))
        let others = report.remaining - reported.count
        var lines: [String] = []
        if others > 0, isWhole {
            lines.append("\(counted(others, "operation", "operations")) not sent; see 'tidelog status'.")
        }
        if isEmpty, report.heldBack > 0 {
            let kept = counted(report.heldBack, "operation", "operations")
            lines.append("\(kept) not to be sent: drafts or local-only.")
        }
        return lines
    }

    private var isEmpty: Bool {
        report.batches == 0 && report.confirmed.isEmpty && report.rejected.isEmpty && report.deferred.isEmpty
            && report.elided.isEmpty && report.inDoubt.isEmpty && report.conflicts.isEmpty && report.awaited.isEmpty
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
        if !report.elided.isEmpty { json.numbers("elided", report.elided) }
        json.numbers("inDoubt", report.inDoubt)
        if !report.adopted.isEmpty { json.numbers("adopted", report.adopted) }
        if let look = report.nextLooks.values.max() { json.member("nextLook", look) }
        if !report.awaited.isEmpty { json.numbers("awaited", report.awaited.flatMap(\.operations)) }
        json.member("remaining", report.remaining)
        if report.heldBack > 0 { json.member("heldBack", report.heldBack) }
        if !report.conflicts.isEmpty { json.numbers("conflicts", report.conflicts.map(\.entity.rawValue)) }
        if let postponed = report.postponed { json.member("notBefore", postponed.notBefore) }
        json.endObject()
        return json.text
    }

    /// Uploads, and prints the result. If the upload fails, the result until then is printed before the error.
    static func printing(
        _ provider: OfflineODataProvider, json: Bool, _ upload: () async throws -> UploadReport
    ) async throws -> ExitStatus {
        let report: UploadReport
        do {
            report = try await SyncProgressLine.showing(provider, upload)
        } catch let error as TidelogError {
            if let reached = error.upload.map({ UploadText(report: $0, isWhole: false) }), !reached.isEmpty {
                try reached.print(json: json)
            }
            throw error
        }
        try UploadText(report: report).print(json: json)
        let isUndecided = report.inDoubt.contains { report.nextLooks[$0] == nil }
        guard report.rejected.isEmpty, !isUndecided, report.conflicts.isEmpty else { return .failed }
        return report.postponed == nil && report.awaited.isEmpty && report.inDoubt.isEmpty ? .done : .later
    }

    private func print(json isJSON: Bool) throws {
        for line in isJSON ? [json] : lines { try Console.print(line) }
    }
}
