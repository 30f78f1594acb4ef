import EDM
import OfflineStore
import OperationLog
import Operations
import SyncCore

/// Encodes the content for the page's script: columns, with dictionaries for repeated values and differences for
/// ascending ones.
struct ReportEncoding {
    private let content: ReportContent
    private let cut: TextTruncation

    init(_ content: ReportContent, cut: TextTruncation) {
        self.content = content
        self.cut = cut
    }

    var json: [UInt8] {
        var writer = HistoryJSONWriter()
        writer.object {
            $0.array("notices", content.notices + cut.notices(for: content)) { $0.json.string($1) }
            $0.array("facts", content.facts) { writer, fact in
                writer.json.beginArray()
                writer.json.string(fact.label)
                writer.json.string(fact.value)
                writer.json.endArray()
            }
            rows(&$0)
            entities(&$0)
            $0.array("batches", content.batches) { batch($1, &$0) }
            $0.array("conflicts", content.conflicts) { conflict($1, &$0) }
            $0.array("errors", content.errors) { error($1, &$0) }
            sizes(&$0)
        }
        return writer.json.bytes
    }

    // MARK: Columns

    private func rows(_ writer: inout HistoryJSONWriter) {
        let rows = content.rows
        deltas("seq", rows.map { Int64(truncatingIfNeeded: $0.sequence) }, &writer)
        // A record without a time gets the time of its neighbour.
        var last: Timestamp = rows.lazy.compactMap(\.time).first ?? 0
        deltas(
            "time",
            rows.map {
                last = $0.time ?? last
                return last
            }, &writer)
        column("kind", "kinds", rows.map(\.kind), first: "operation", &writer)
        column("fate", "fates", rows.map(\.outcome), first: "", &writer)
        column("action", "actions", rows.map(\.action), first: "", &writer)
        writer.text("text", rows.map { cut.cut($0.text, to: cut.text) }.joined(separator: "\n"))
        writer.text("ents", rows.map { Self.stretches($0.entities) }.joined(separator: "\n"))
    }

    private func entities(_ writer: inout HistoryJSONWriter) {
        let list = content.entities
        var names = [String: Int]()
        var sets: [String] = []
        let indexes = list.map { entity -> Int in
            if let index = names[entity.set] { return index }
            names[entity.set] = sets.count
            sets.append(entity.set)
            return sets.count - 1
        }
        writer.array("sets", sets) { $0.json.string($1) }
        writer.json.name("entity")
        writer.json.beginObject()
        deltas("id", list.map { Int64(truncatingIfNeeded: $0.id.rawValue) }, &writer)
        writer.array("set", indexes) { $0.json.integer(Int64($1)) }
        writer.text("name", list.map { RecordSummary.oneLine($0.name, limit: 80) }.joined(separator: "\n"))
        writer.json.endObject()
    }

    private func deltas(_ name: String, _ values: [Int64], _ writer: inout HistoryJSONWriter) {
        var before: Int64 = 0
        writer.array(name, values) {
            $0.json.integer($1 &- before)
            before = $1
        }
    }

    private func column(
        _ name: String, _ dictionary: String, _ values: [String], first: String, _ writer: inout HistoryJSONWriter
    ) {
        var indexes = [first: 0]
        var names = [first]
        writer.array(name, values) { writer, value in
            let index = indexes[value] ?? names.count
            if index == names.count {
                indexes[value] = index
                names.append(value)
            }
            writer.json.integer(Int64(index))
        }
        writer.array(dictionary, names) { $0.json.string($1) }
    }

    /// Returns ranges such as `5-8,11`.
    static func stretches(_ entities: [EntityID]) -> String {
        var parts: [String] = []
        var index = 0
        while index < entities.count {
            let first = entities[index].rawValue
            var length: UInt64 = 1
            while index + Int(length) < entities.count, first <= .max - length,
                entities[index + Int(length)].rawValue == first + length
            {
                length += 1
            }
            parts.append(length == 1 ? "\(first)" : "\(first)-\(first + length - 1)")
            index += Int(length)
        }
        return parts.joined(separator: ",")
    }

    // MARK: Objects

    private func batch(_ batch: ReportContent.Batch, _ writer: inout HistoryJSONWriter) {
        writer.object {
            $0.number("id", batch.id)
            if let prepared = batch.prepared { $0.number("prepared", prepared) }
            if let ended = batch.ended { $0.number("ended", ended) }
            if batch.isInterrupted { $0.flag("interrupted") }
            $0.text("state", batch.state)
            $0.text("summary", batch.summary)
            $0.text("reason", batch.reason)
            $0.text("note", batch.note)
            var before: Int64 = 0
            $0.array("ops", batch.operations) {
                let operation = Int64(truncatingIfNeeded: $1)
                $0.json.integer(operation &- before)
                before = operation
            }
            $0.objects("outcomes", batch.outcomes) { writer, outcome in
                writer.number("operation", outcome.operation)
                writer.text("result", outcome.result)
                if let refusal = outcome.refusal {
                    writer.number("status", refusal.status)
                    writer.text("code", cut.cut(refusal.code, to: 200))
                    writer.text("message", cut.cut(refusal.message, to: max(100, cut.text)))
                }
                writer.text("message", outcome.reason.map { cut.cut($0, to: max(100, cut.text)) })
            }
            $0.objects("requests", batch.requests) { writer, request in
                writer.text("method", request.method)
                writer.text("url", cut.cut(request.url, to: 2_000))
                writer.text("headers", cut.cut(request.headers, to: max(200, cut.body)))
                writer.text("body", cut.cut(request.body, to: cut.body))
            }
        }
    }

    private func conflict(_ conflict: Conflict, _ writer: inout HistoryJSONWriter) {
        writer.object {
            $0.number("entity", conflict.entity.rawValue)
            $0.text("name", conflict.name)
            switch conflict.kind {
            case .changed: $0.text("kind", "was changed by another client too")
            case .deletedByOthers: $0.text("kind", "was deleted by another client")
            case .deletedHere: $0.text("kind", "was deleted here and changed by another client")
            }
            $0.numbers("operations", conflict.operations)
            let values = conflict.properties.map { [$0.name] + [$0.base, $0.mine, $0.theirs].map(text) }
            let links = conflict.links.map { link in
                [link.navigation] + [link.base, link.mine, link.theirs].map { $0.map { "\($0)" } ?? "" }
            }
            $0.array("properties", values + links) { writer, cells in
                writer.json.beginArray()
                for cell in cells { writer.json.string(cell) }
                writer.json.endArray()
            }
        }
    }

    private func text(_ value: Value?) -> String {
        guard let value else { return "" }
        return cut.cut(RecordSummary.oneLine(RecordSummary.text(of: value), limit: 400), to: max(40, cut.text))
    }

    private func error(_ error: ErrorArchiveEntry, _ writer: inout HistoryJSONWriter) {
        writer.object {
            $0.number("operation", error.requestID)
            $0.text("state", error.state.rawValue)
            $0.text("action", error.action)
            $0.number("entity", error.entity.rawValue)
            $0.text("name", error.affectedEntity)
            if let status = error.httpStatusCode { $0.number("status", status) }
            $0.text("code", cut.cut(error.code, to: 200))
            $0.text("message", cut.cut(error.message, to: 1_000))
            $0.text("method", error.requestMethod)
            $0.text("url", cut.cut(error.requestURL, to: 1_000))
            $0.text("body", error.requestBody.map { cut.cut($0, to: max(400, cut.body)) })
        }
    }

    // MARK: Sizes

    private func sizes(_ writer: inout HistoryJSONWriter) {
        writer.json.name("sizes")
        let statistics = content.statistics
        writer.object {
            $0.array("kinds", statistics?.kinds ?? []) { writer, kind in
                size(kind.name, kind.records, kind.rawBytes, kind.storedBytes, &writer)
            }
            for (name, list) in [("segments", statistics?.segments), ("snapshots", statistics?.snapshots)] {
                $0.array(name, list ?? []) { writer, segment in
                    let file = segment.path.split(separator: "/").last.map(String.init) ?? ""
                    size(
                        "\(file.drop { $0 == "0" })", segment.records, segment.rawBytes, segment.storedBytes, &writer)
                }
            }
        }
    }

    private func size(
        _ name: String, _ records: UInt64, _ raw: UInt64, _ stored: UInt64, _ writer: inout HistoryJSONWriter
    ) {
        writer.object {
            $0.text("name", name)
            $0.number("records", records)
            $0.number("raw", raw)
            $0.number("stored", stored)
        }
    }
}
