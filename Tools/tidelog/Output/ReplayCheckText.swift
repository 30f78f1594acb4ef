internal import LogInspection
internal import ODataWire
internal import SyncCore

/// What a check of a replay has found.
struct ReplayCheckText {
    private let check: ReplayCheck

    init(_ check: ReplayCheck) { self.check = check }

    var lines: [String] {
        var lines = ["\(counted(check.records, "record", "records")) folded, \(origin)."]
        if let divergence = check.divergence {
            lines.append(Paint.bad(Self.words(divergence)))
        } else {
            lines.append("State \(check.digest) behind operation \(check.last), in memory and in SQLite.")
            if !check.snapshots.isEmpty {
                let count = counted(check.snapshots.count, "snapshot holds", "snapshots hold")
                lines.append("\(count) and \(check.snapshots.count == 1 ? "leads" : "lead") to the same.")
            }
        }
        lines += check.differentBatches.map { different in
            Paint.bad(
                "Batch \(different.batch.batch) (operation \(different.sequence)): \(ReplayText.words(different.batch))."
            )
        }
        lines.append(batches)
        return lines
    }

    private var origin: String {
        switch check.origin {
        case .beginning: "from the first one"
        case .snapshot(let sequence): "from the snapshot in front of operation \(sequence)"
        }
    }

    private var batches: String {
        let built = check.identicalBatches + check.unknownBatches + check.differentBatches.count
        guard built > 0 else { return "No batch was sent." }
        var text = "\(counted(built, "batch", "batches")) built again: \(check.identicalBatches) as sent"
        if !check.differentBatches.isEmpty { text += ", \(check.differentBatches.count) not as sent" }
        if check.unknownBatches > 0 { text += ", \(check.unknownBatches) with nothing to compare" }
        return text + "."
    }

    private static func words(_ divergence: ReplayCheck.Divergence) -> String {
        switch divergence {
        case .snapshot(let sequence):
            "The records before operation \(sequence) do not lead to the state that the snapshot in front of it holds."
        case .origin(let snapshot, let record):
            "Operation \(record) leads to another state where the replay begins with the snapshot in front of operation "
                + "\(snapshot)."
        case .views(let record): "Operation \(record) leads to another state in SQLite than in memory."
        case .other(let record, let digest):
            "Behind operation \(record) the other replay had the state \(digest), and this one has another. Show more "
                + "operations in both to see the first that differs."
        }
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sound", check.isSound)
        json.member("records", check.records)
        json.member("lastSequence", check.last)
        json.member("digest", check.digest.description)
        json.numbers("snapshots", check.snapshots)
        json.member("identicalBatches", check.identicalBatches)
        json.member("unknownBatches", check.unknownBatches)
        json.name("differentBatches")
        json.beginArray()
        for different in check.differentBatches {
            json.beginObject()
            json.member("sequence", different.sequence)
            json.name("batch")
            ReplayText.write(different.batch, withBytes: true, &json)
            json.endObject()
        }
        json.endArray()
        if let divergence = check.divergence {
            json.name("divergence")
            write(divergence, &json)
        }
        json.endObject()
        return json.text
    }

    private func write(_ divergence: ReplayCheck.Divergence, _ json: inout JSONWriter) {
        json.beginObject()
        switch divergence {
        case .snapshot(let sequence):
            json.member("kind", "snapshot")
            json.member("snapshot", sequence)
        case .origin(let snapshot, let record):
            json.member("kind", "origin")
            json.member("snapshot", snapshot)
            json.member("sequence", record)
        case .views(let record):
            json.member("kind", "views")
            json.member("sequence", record)
        case .other(let record, let digest):
            json.member("kind", "other")
            json.member("sequence", record)
            json.member("otherDigest", digest.description)
        }
        json.member("reason", Self.words(divergence))
        json.endObject()
    }
}
