internal import ODataWire
internal import OperationLog

/// The plan or the result of a repair.
struct RepairText {
    enum Content {
        case nothing
        case plan(RepairPlan)
        case cut(RecoveryReport)
        case made(RepairPlan.Salvage, directory: String)
        case replaced(RepairPlan.Salvage, kept: String)
    }

    private let content: Content

    init(_ content: Content) {
        if case .plan(.nothing) = content { self.content = .nothing } else { self.content = content }
    }

    /// Whether the store is still damaged.
    var leavesDamage: Bool { if case .plan(.salvage) = content { true } else { false } }

    private static let shownPlaces = 5

    var lines: [String] {
        switch content {
        case .nothing, .plan(.nothing): ["Nothing is damaged."]
        case .plan(.tornTail(let tail)):
            [
                "\(oneLine(tail.path)), offset \(tail.offset): \(counted(tail.bytes, "byte", "bytes")) of an incomplete commit. No "
                    + "damage: the next command that opens the store removes them, and so does 'tidelog repair --in-place'."
            ]
        case .cut(let report): [oneLine(report.description)]
        case .plan(.salvage(let salvage)):
            salvage.damages.prefix(Self.shownPlaces).map { oneLine($0.description) }
                + (salvage.damages.count > Self.shownPlaces
                    ? ["… and \(salvage.damages.count - Self.shownPlaces) more places; see 'tidelog verify'."] : [])
                + summary(salvage)
                + [
                    "Nothing was changed. 'tidelog repair --output NEW' makes a store of what can be read; 'tidelog repair "
                        + "--in-place' puts it in the place of this one and keeps the damaged log."
                ]
        case .made(let salvage, let directory):
            summary(salvage) + ["The store \(oneLine(directory)) was made. The damaged one was not changed."]
                + advice(salvage)
        case .replaced(let salvage, let kept):
            summary(salvage)
                + [
                    "The log was repaired. The damaged one is kept as \(oneLine(kept)); remove it when nothing is missed."
                ]
                + advice(salvage)
        }
    }

    private func summary(_ salvage: RepairPlan.Salvage) -> [String] {
        var lines = salvage.mended.prefix(Self.shownPlaces).map { bit in
            "\(oneLine(bit.path)): bit \(bit.bit) of the byte at offset \(bit.offset) had changed, and is put right."
        }
        if salvage.mended.count > Self.shownPlaces {
            lines.append("So are \(salvage.mended.count - Self.shownPlaces) more bits.")
        }
        lines += salvage.passedOver.map { "\(oneLine($0.path)) is passed over: \(oneLine($0.reason))." }
        let lost = salvage.lost
        guard lost.count > 0 else {
            return lines + ["All \(counted(salvage.readable, "record", "records")) can be read; none is lost."]
        }
        lines.append(
            "\(counted(salvage.readable, "record", "records")) can be read, \(lost.count) \(lost.count == 1 ? "is" : "are") lost: "
                + lost.words + ".")
        if salvage.isStateWhole {
            lines.append("The newest snapshot was made behind them: the state is whole, only the history is not.")
        }
        return lines
    }

    private func advice(_ salvage: RepairPlan.Salvage) -> [String] {
        guard salvage.lost.count > 0, !salvage.isStateWhole else { return [] }
        return [
            "Run 'tidelog status': operations in front of the lost records are in doubt, because their answers may be among "
                + "them; the next push finds out what it can. Then run 'tidelog pull' to read again what is missing."
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
