internal import EDM
internal import LogInspection
internal import ODataQuery
internal import Operations
internal import SyncCore

/// A step of a replay: number, digest of the state, summary of the record, and its changes.
struct ReplayText {
    private let step: Replay.Step

    init(_ step: Replay.Step) { self.step = step }

    var line: String {
        let entry = step.entry
        let digest = step.digest.map(TextColor.faint) ?? ""
        return "\(padded(entry.sequence))  \(digest)  \(entry.summary)\(batchWords)"
    }

    private var batchWords: String {
        guard let batch = step.batch else { return "" }
        return " · \(Self.words(batch))"
    }

    static func words(_ batch: ReplayedBatch) -> String {
        let bytes = counted(batch.bytes.count, "byte", "bytes")
        switch batch.comparison {
        case .identical: return "\(bytes), as they were sent"
        case .different: return "\(bytes), NOT as they were sent"
        case .unknown: return "\(bytes); the log does not contain the bytes that were sent"
        case .unbuildable(let reason): return "cannot be rebuilt: \(oneLine(reason))"
        }
    }

    private func padded(_ sequence: SequenceNumber) -> String {
        let text = String(sequence)
        return String(repeating: " ", count: max(0, 6 - text.count)) + text
    }

    /// The bytes of a batch, indented.
    var batchLines: [String] {
        guard let batch = step.batch else { return [] }
        let text = String(decoding: batch.bytes, as: UTF8.self)
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
            "        " + oneLine(String($0))
        }
    }

    // MARK: Changes

    func changes(_ replay: Replay) -> [String] {
        step.changes.flatMap { Self.lines($0, replay) }.map { "        \(oneLine($0))" }
    }

    private static func lines(_ change: StateChange, _ replay: Replay) -> [String] {
        switch change {
        case .entity(let from, let to): return lines(from, to, replay)
        case .link(let link, let isThere):
            let ends = "\(replay.reference(link.first)) → \(replay.reference(link.second))"
            return ["\(isThere ? "+" : "-") \(link.relationship): \(ends)"]
        case .operation(let sequence, let from, let to):
            return ["~ operation \(sequence): \(from.map(words) ?? "new") → \(to.map(words) ?? "ended")"]
        }
    }

    private static func lines(_ from: EntityRow?, _ to: EntityRow?, _ replay: Replay) -> [String] {
        guard let row = to ?? from else { return [] }
        let name = replay.reference(row.id)
        guard let to else { return ["- \(name)"] }
        guard let from else {
            return ["+ \(name)"] + to.values.map { "    \($0.name): \(text($0.value))" }
        }
        var lines = ["~ \(name)"]
        for (property, value) in to.values where from.values[property] != value {
            lines.append("    \(property): \(from.values[property].map(text) ?? "unset") → \(text(value))")
        }
        for (property, value) in from.values where to.values[property] == nil {
            lines.append("    \(property): \(text(value)) → unset")
        }
        if from.etag != to.etag { lines.append("    ETag: \(from.etag ?? "none") → \(to.etag ?? "none")") }
        if from.origin != to.origin { lines.append("    \(words(from.origin)) → \(words(to.origin))") }
        return lines
    }

    private static func text(_ value: Value) -> String {
        let text = PrimitiveLiteral.format(value, version: .v4, form: .url)
        return text.count > 60 ? text.prefix(59) + "…" : text
    }

    private static func words(_ status: PendingOperation.Status) -> String {
        switch status {
        case .pending: "pending"
        case .inFlight(let batch): "in flight in batch \(batch)"
        case .inDoubt(let batch, _): "in doubt since batch \(batch)"
        case .rejected(let refusal): "rejected (\(refusal.status))"
        case .deferred: "postponed"
        }
    }

    private static func words(_ origin: EntityRow.Origin) -> String {
        switch origin {
        case .local: "known only here"
        case .service: "known to the service"
        case .gone: "no longer at the service"
        case .serviceWithStaleETag: "known to the service, its ETag must be read again"
        }
    }

    // MARK: JSON

    func json(withBytes: Bool) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", step.entry.sequence)
        if let digest = step.digest { json.member("digest", digest.description) }
        json.member("kind", step.entry.kind)
        json.member("summary", step.entry.summary)
        if let batch = step.batch {
            json.name("batch")
            Self.write(batch, withBytes: withBytes, &json)
        }
        json.endObject()
        return json.text
    }

    static func write(_ batch: ReplayedBatch, withBytes: Bool, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("batch", batch.batch)
        json.member("bytes", batch.bytes.count)
        switch batch.comparison {
        case .identical: json.member("comparison", "identical")
        case .different: json.member("comparison", "different")
        case .unknown: json.member("comparison", "unknown")
        case .unbuildable(let reason):
            json.member("comparison", "unbuildable")
            json.member("reason", reason)
        }
        if withBytes { json.member("text", String(decoding: batch.bytes, as: UTF8.self)) }
        json.endObject()
    }

    /// Returns the digests in a file that contains the output of ``json(withBytes:)``.
    static func digests(inFile path: String) throws -> [(record: SequenceNumber, digest: StateDigest)] {
        var reader = try LineReader(path: path)
        var digests: [(record: SequenceNumber, digest: StateDigest)] = []
        var number = 0
        while let line = try reader.next() {
            number += 1
            if line.isEmpty { continue }
            guard let json = try? JSONValue.parse(line), let sequence = json["sequence"]?.integer, sequence >= 0,
                let digest = json["digest"]?.string.flatMap({ StateDigest($0) })
            else {
                throw CommandFailure(
                    "Line \(number) of \(reader.name) is not a line of 'tidelog replay --json'.",
                    recovery: "Create the file with 'tidelog replay --json'.")
            }
            digests.append((SequenceNumber(sequence), digest))
        }
        guard !digests.isEmpty else {
            throw CommandFailure(
                "\(reader.name) is empty, so it cannot be compared.",
                recovery: "Create the file with 'tidelog replay --json'.")
        }
        return digests
    }

    /// Returns a line about the snapshot from which the replay started, or nil for the start of the log.
    static func origin(_ replay: Replay, asked: SequenceNumber) -> String? {
        guard case .snapshot(let sequence) = replay.origin else { return nil }
        return "From the snapshot before operation \(sequence)."
    }
}
