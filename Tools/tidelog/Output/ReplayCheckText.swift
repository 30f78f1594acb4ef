import EDM
internal import LogInspection
internal import SyncCore

/// The result of a check of a replay.
struct ReplayCheckText {
    private let check: ReplayCheck

    init(_ check: ReplayCheck) { self.check = check }

    var lines: [String] {
        var lines = ["\(counted(check.records, "record", "records")) folded, \(origin)."]
        if check.lostRecords > 0 {
            let verb = check.lostRecords == 1 ? "is" : "are"
            lines.append(
                TextColor.bad("\(counted(check.lostRecords, "record", "records")) of these \(verb) lost by damage."))
        }
        if let divergence = check.divergence {
            lines.append(TextColor.bad(Self.words(divergence)))
        } else {
            lines.append("State \(check.digest) after operation \(check.last), in memory and in SQLite.")
            if !check.snapshots.isEmpty {
                let count = counted(check.snapshots.count, "snapshot matches", "snapshots match")
                lines.append("\(count) and \(check.snapshots.count == 1 ? "results" : "result") in the same state.")
            }
        }
        if let views = check.storedViews, let sentence = StoredViewsText(views).sentence { lines.append(sentence) }
        if check.incomparableStates > 0 {
            let states = counted(check.incomparableStates, "state", "states")
            lines.append(
                "\(states) of the other replay cannot be compared: this log no longer contains the records of "
                    + "\(check.incomparableStates == 1 ? "it" : "them").")
        }
        lines += check.differentBatches.map { different in
            TextColor.bad(
                "Batch \(different.batch.batch) (operation \(different.sequence)): \(ReplayText.words(different.batch))."
            )
        }
        lines.append(batches)
        return lines
    }

    private var origin: String {
        switch check.origin {
        case .beginning: "from the first one"
        case .snapshot(let sequence): "from the snapshot before operation \(sequence)"
        }
    }

    private var batches: String {
        let all = check.identicalBatches + check.unknownBatches + check.differentBatches.count
        guard all > 0 else { return "No batch was sent." }
        let unbuildable = check.differentBatches.count { $0.batch.isUnbuildable }
        let different = check.differentBatches.count - unbuildable
        var text = "\(counted(all - unbuildable, "batch", "batches")) rebuilt: \(check.identicalBatches) as sent"
        if different > 0 { text += ", \(different) not as sent" }
        if check.unknownBatches > 0 { text += ", \(check.unknownBatches) that cannot be compared" }
        if unbuildable > 0 { text += "; \(unbuildable) cannot be rebuilt" }
        return text + "."
    }

    private static func words(_ divergence: ReplayCheck.Divergence) -> String {
        switch divergence {
        case .snapshot(let sequence):
            "The records before operation \(sequence) do not result in the state of the snapshot before it."
        case .origin(let snapshot, let record):
            "Operation \(record) results in another state if the replay begins with the snapshot before operation "
                + "\(snapshot)."
        case .views(let record): "Operation \(record) results in another state in SQLite than in memory."
        case .other(let record, let digest):
            "After operation \(record) the other replay had the state \(digest), and this one has another. Print more "
                + "operations in both to find the first that differs."
        case .ended(let record):
            "The other replay continues to operation \(record), which this log does not contain."
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
        if let views = check.storedViews { StoredViewsText(views).write(to: &json) }
        if check.lostRecords > 0 { json.member("lostRecords", check.lostRecords) }
        if check.incomparableStates > 0 { json.member("incomparableStates", check.incomparableStates) }
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
        case .ended(let record):
            json.member("kind", "ended")
            json.member("sequence", record)
        }
        json.member("reason", Self.words(divergence))
        json.endObject()
    }
}

extension ReplayedBatch {
    fileprivate var isUnbuildable: Bool { if case .unbuildable = comparison { true } else { false } }
}
