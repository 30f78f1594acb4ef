import EDM
internal import OperationLog

/// The plan or the result of a repair.
struct RepairText {
    enum RepairContent {
        case nothing
        case plan(RepairPlan)
        case cut(RecoveryReport)
        case made(RepairPlan.Salvage, directory: String)
        case replaced(RepairPlan.Salvage, kept: String)
    }

    private let content: RepairContent

    init(_ content: RepairContent) {
        if case .plan(.nothing) = content { self.content = .nothing } else { self.content = content }
    }

    /// Whether the store is still damaged.
    var leavesDamage: Bool { if case .plan(.salvage) = content { true } else { false } }

    private static let shownPlaces = 5

    var lines: [String] {
        switch content {
        case .nothing, .plan(.nothing): ["No damage was found."]
        case .plan(.tornTail(let tail)):
            [
                "\(oneLine(tail.path)), offset \(tail.offset): \(counted(tail.bytes, "byte", "bytes")) of an incomplete commit. No "
                    + "damage: the next command that opens the store removes them, as does 'tidelog repair --in-place'."
            ]
        case .cut(let report): [oneLine(report.description)]
        case .plan(.salvage(let salvage)):
            salvage.damages.prefix(Self.shownPlaces).map { oneLine($0.description) }
                + (salvage.damages.count > Self.shownPlaces
                    ? ["… and \(salvage.damages.count - Self.shownPlaces) more places; see 'tidelog verify'."] : [])
                + summary(salvage)
                + [
                    "Nothing was changed. 'tidelog repair --output NEW' creates a store from the readable records; 'tidelog repair "
                        + "--in-place' replaces the log of this store and keeps the damaged log."
                ]
        case .made(let salvage, let directory):
            summary(salvage) + ["Created the store \(oneLine(directory)). The damaged store was not changed."]
                + advice(salvage)
        case .replaced(let salvage, let kept):
            summary(salvage)
                + [
                    "The log was repaired. The damaged log is kept as \(oneLine(kept)); remove it if no data is missing."
                ]
                + advice(salvage)
        }
    }

    private func summary(_ salvage: RepairPlan.Salvage) -> [String] {
        var lines = salvage.mended.prefix(Self.shownPlaces).map { bit in
            "\(oneLine(bit.path)): bit \(bit.bit) of the byte at offset \(bit.offset) was changed, and is corrected."
        }
        if salvage.mended.count > Self.shownPlaces {
            lines.append("\(salvage.mended.count - Self.shownPlaces) more bits are corrected.")
        }
        lines += salvage.passedOver.map { "\(oneLine($0.path)) is skipped: \(oneLine($0.reason))." }
        let lost = salvage.lost
        guard lost.count > 0 else {
            return lines + ["All \(counted(salvage.readable, "record", "records")) can be read; none is lost."]
        }
        lines.append(
            "\(counted(salvage.readable, "record", "records")) can be read, \(lost.count) \(lost.count == 1 ? "is" : "are") lost: "
                + lost.words + ".")
        if salvage.isStateWhole {
            lines.append("The newest snapshot follows them: the state is complete, only the history is not.")
        }
        return lines
    }

    private func advice(_ salvage: RepairPlan.Salvage) -> [String] {
        guard salvage.lost.count > 0, !salvage.isStateWhole else { return [] }
        return [
            "Run 'tidelog status': operations before the lost records are in doubt, because their responses may be among "
                + "them; the next push determines their outcomes if possible. Then run 'tidelog pull' to download missing entities again."
        ]
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        switch content {
        case .nothing, .plan(.nothing): json.member("plan", "nothing")
        case .plan(.tornTail(let tail)):
            json.member("plan", "cut")
            json.member("path", tail.path)
            json.member("offset", tail.offset)
            json.member("bytes", tail.bytes)
        case .cut(let report):
            json.member("plan", "cut")
            if let cut = report.cut {
                json.member("path", cut.path)
                json.member("offset", cut.offset)
                json.member("bytes", cut.bytes)
            }
            json.member("done", true)
        case .plan(.salvage(let salvage)): members(of: salvage, &json)
        case .made(let salvage, let directory):
            members(of: salvage, &json)
            json.member("made", directory)
        case .replaced(let salvage, let kept):
            members(of: salvage, &json)
            json.member("kept", kept)
        }
        json.endObject()
        return json.text
    }

    private func members(of salvage: RepairPlan.Salvage, _ json: inout JSONWriter) {
        json.member("plan", "salvage")
        json.member("damages", salvage.damages.count)
        json.member("mendedBits", salvage.mended.count)
        json.member("firstSequence", salvage.firstSequence)
        json.member("readable", salvage.readable)
        json.member("lost", salvage.lost.count)
        json.name("lostRanges")
        json.beginArray()
        for range in salvage.lost.ranges {
            json.beginArray()
            json.raw(String(range.lowerBound))
            json.raw(String(range.upperBound))
            json.endArray()
        }
        json.endArray()
        json.name("passedOver")
        json.beginArray()
        for file in salvage.passedOver {
            json.beginObject()
            json.member("path", file.path)
            json.member("reason", file.reason)
            json.endObject()
        }
        json.endArray()
        json.numbers("snapshots", salvage.snapshots)
        json.member("stateIsWhole", salvage.isStateWhole)
    }
}
