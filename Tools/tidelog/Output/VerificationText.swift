internal import LogInspection
internal import ODataWire
internal import OperationLog

/// What reading every byte of a log has shown.
struct VerificationText {
    private let verification: LogVerification
    private let size: LogSize

    init(_ verification: LogVerification) {
        self.verification = verification
        size = LogSize(verification)
    }

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
            lines.append("There is more; not searched further.")
        }
        guard !verification.isSound else { return lines + ["The log is sound."] }
        return lines + [
            "The log is damaged in \(counted(verification.damages.count, "place", "places")). Run 'tidelog log' to see what can "
                + "be read; keep a copy of the directory before anything else."
        ]
    }

    /// With one digit behind the point. Nil where headers outweigh what compression saved, and where records are missing.
    private var ratio: String? {
        guard verification.isSound, let ratio = size.ratio, ratio >= 1, ratio < 1e6 else { return nil }
        let tenths = Int((ratio * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sound", verification.isSound)
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
        json.endObject()
        return json.text
    }
}
