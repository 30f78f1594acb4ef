import EDM
internal import LogInspection
internal import Operations

/// The provenance of an entity's values, as tables and as JSON.
struct ProvenanceText {
    private let provenance: Provenance

    init(_ provenance: Provenance) { self.provenance = provenance }

    func history(_ changes: [Provenance.Change]) -> [String] {
        var table = TextTable([
            ("record", .right), ("time", .left), ("part", .left), ("value", .left), ("cause", .left),
        ])
        for change in changes {
            let value = Provenance.words(of: change.after)
            table.add([
                "\(change.sequence)", timeText(change.time), change.aspect.name ?? "entity",
                change.isVisible ? value : "(\(value))", provenance.words(of: change.cause),
            ])
        }
        return [heading] + table.lines
    }

    func blame(_ lines: [Provenance.Line]) -> [String] {
        var table = TextTable([
            ("part", .left), ("value", .left), ("record", .right), ("time", .left), ("written by", .left),
        ])
        for line in lines {
            table.add([
                line.aspect.name ?? "entity", Provenance.words(of: line.content), line.sequence.map { "\($0)" } ?? "",
                timeText(line.time), line.cause.map(provenance.words) ?? "no remaining record",
            ])
        }
        return [heading] + table.lines
    }

    private var heading: String {
        let id = provenance.reference.hasSuffix("(\(provenance.entity))") ? "" : " (\(provenance.entity))"
        let beginning = provenance.first > 1 ? "; the log begins with \(provenance.first)" : ""
        return oneLine("\(provenance.reference)\(id)\(provenance.exists ? "" : ", not in the store")\(beginning)")
    }

    private func timeText(_ time: Timestamp?) -> String { time.flatMap(HistoryEntry.timeText) ?? "" }

    static func json(_ reason: OperationReason) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", reason.sequence)
        json.member("fate", reason.outcome.name)
        if let batch = reason.outcome.batch { json.member("batch", batch) }
        if let refusal = reason.outcome.refusal {
            json.name("error")
            json.beginObject()
            json.member("status", refusal.status)
            json.member("code", refusal.code)
            json.member("message", refusal.message)
            json.endObject()
        }
        if let hold = reason.hold { json.member("held", hold) }
        write(reason.sentences, to: &json)
        json.endObject()
        return json.text
    }

    static func json(_ sentences: [String], _ provenance: Provenance, _ name: String) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("entity", provenance.entity.rawValue)
        json.member("readLink", provenance.reference)
        json.member("name", name)
        write(sentences, to: &json)
        json.name("lines")
        json.beginArray()
        for line in provenance.lines where line.aspect.name == name { json.raw(provenance.json(line)) }
        json.endArray()
        json.endObject()
        return json.text
    }

    private static func write(_ sentences: [String], to json: inout JSONWriter) {
        json.name("sentences")
        json.beginArray()
        for sentence in sentences { json.string(sentence) }
        json.endArray()
    }
}
