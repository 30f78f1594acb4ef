import EDM
internal import LogInspection
internal import OperationLog

/// The result of reading every byte of a log.
struct VerificationText {
    private let verification: LogVerification
    private let description: DescriptionCheck
    private let size: LogSize
    /// Whether there are media streams next to the log, which were not verified.
    private let hasStreams: Bool

    /// The result for the views, or nil if they were not checked.
    private let views: StoredViews?

    init(
        _ verification: LogVerification, description: DescriptionCheck, hasStreams: Bool, views: StoredViews? = nil
    ) {
        self.views = views
        self.hasStreams = hasStreams
        self.verification = verification
        self.description = description
        size = LogSize(verification)
    }

    /// Whether the log and the files next to it are intact.
    var isSound: Bool { verification.isSound && !description.isDamaged && views?.isWrong != true }

    var lines: [String] {
        var lines = [
            [
                counted(size.segments, "segment", "segments"), counted(size.blocks, "block", "blocks"),
                counted(size.records, "record", "records"),
            ].joined(separator: ", ") + ".",
            "\(size.rawBytes) bytes raw, \(size.storedBytes) stored, \(size.fileBytes) in the files"
                + (ratio.map { ": \($0) times smaller." } ?? "."),
        ]
        if let tail = verification.tail {
            lines.append(
                "\(tail.path), offset \(tail.offset): \(counted(tail.bytes, "byte", "bytes")) of an incomplete commit "
                    + "(\(tail.reason)). No damage: the next writer removes them.")
        }
        for damage in verification.damages { lines.append(oneLine(damage.description)) }
        if verification.damages.count >= LogVerification.maximumDamages {
            lines.append("There is more damage; the search ended here.")
        }
        if let sentence = description.sentence { lines.append(sentence) }
        guard verification.isSound else {
            return lines + [
                "The log is damaged in \(counted(verification.damages.count, "place", "places")). Run 'tidelog log' to list the "
                    + "readable records, and 'tidelog repair' to recover them."
            ]
        }
        if let sentence = views.flatMap({ StoredViewsText($0).sentence }) { lines.append(sentence) }
        if hasStreams {
            lines.append("The streams were not checked. Run 'tidelog media verify' to check them.")
        }
        return lines + [
            verification.depth == .deep ? "The log has no damage." : "A fast verification found no damage in the log."
        ]
    }

    /// The compression ratio with one decimal; nil if headers outweigh the savings, and if records are missing.
    private var ratio: String? {
        guard verification.isSound, let ratio = size.ratio, ratio >= 1, ratio < 1e6 else { return nil }
        return tenths(ratio)
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sound", isSound)
        json.member("depth", verification.depth == .deep ? "deep" : "fast")
        json.member("segments", size.segments)
        json.member("blocks", size.blocks)
        json.member("records", size.records)
        json.member("rawBytes", size.rawBytes)
        json.member("storedBytes", size.storedBytes)
        json.member("fileBytes", size.fileBytes)
        if let tail = verification.tail {
            json.name("tail")
            json.beginObject()
            json.member("path", tail.path)
            json.member("offset", tail.offset)
            json.member("bytes", tail.bytes)
            json.member("reason", tail.reason.description)
            json.endObject()
        }
        json.name("damages")
        json.beginArray()
        for damage in verification.damages {
            json.beginObject()
            json.member("path", damage.path)
            json.member("offset", damage.offset)
            json.member("fault", damage.fault.description)
            json.member("sequence", damage.sequence)
            json.endObject()
        }
        json.endArray()
        if let views { StoredViewsText(views).write(to: &json) }
        if hasStreams { json.member("streamsVerified", false) }
        if let sentence = description.sentence { json.member("description", sentence) }
        json.endObject()
        return json.text
    }
}
