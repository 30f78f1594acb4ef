import EDM
internal import LogInspection

/// The files of a log, one in each line.
struct LogFilesText {
    private let files: LogFiles

    init(_ files: LogFiles) { self.files = files }

    var lines: [String] {
        var table = TextTable([
            ("first", .right), ("last", .right), ("state", .left), ("from", .left), ("to", .left), ("records", .right),
            ("raw", .right), ("file", .right), ("ratio", .right),
        ])
        for file in files.files {
            table.add([
                "\(file.firstSequence)", file.lastSequence.map { "\($0)" } ?? "",
                file.state + (file.isEncrypted ? ", encrypted" : ""),
                file.firstTime.flatMap(HistoryEntry.timeText) ?? "",
                file.lastTime.flatMap(HistoryEntry.timeText) ?? "", "\(file.records)", "\(file.rawBytes)",
                "\(file.fileBytes)", file.ratio.map(tenths) ?? "",
            ])
        }
        return table.lines
    }

    /// One object in each line.
    var json: [String] {
        files.files.map { file in
            var json = JSONWriter()
            json.beginObject()
            json.member("path", file.path)
            json.member("firstSequence", file.firstSequence)
            if let last = file.lastSequence { json.member("lastSequence", last) }
            json.member("state", file.state)
            json.member("encrypted", file.isEncrypted)
            if let time = file.firstTime.flatMap(HistoryEntry.timeText) { json.member("firstTime", time) }
            if let time = file.lastTime.flatMap(HistoryEntry.timeText) { json.member("lastTime", time) }
            json.member("records", file.records)
            json.member("rawBytes", file.rawBytes)
            json.member("fileBytes", file.fileBytes)
            json.endObject()
            return json.text
        }
    }
}
