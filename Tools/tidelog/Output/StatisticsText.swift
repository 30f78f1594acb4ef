import EDM
internal import LogInspection
internal import OperationLog

/// The distribution of a log's bytes, as tables and as JSON.
struct StatisticsText {
    private let statistics: LogStatistics

    init(_ statistics: LogStatistics) { self.statistics = statistics }

    var lines: [String] {
        var lines = segmentTable.lines + [""] + kindTable.lines + [""]
        if !statistics.snapshots.isEmpty { lines += snapshotTable.lines + [""] }
        let size = statistics.size
        lines.append(
            "\(counted(size.records, "record", "records")), \(size.rawBytes) bytes raw, \(size.storedBytes) stored, "
                + "\(size.fileBytes) in the files"
                + (size.ratio.map { ": \(tenths($0)) times smaller." } ?? "."))
        if let bytes = statistics.bytesPerOperation {
            lines.append(
                "\(counted(statistics.operations, "operation", "operations")) of \(tenths(bytes)) bytes each, compressed."
            )
        }
        if statistics.damages > 0 {
            lines.append(
                "\(counted(statistics.damages, "place", "places")) cannot be read and \(statistics.damages == 1 ? "is" : "are") not "
                    + "counted; see 'tidelog verify'.")
        }
        return lines
    }

    private var segmentTable: TextTable {
        var table = TextTable([
            ("segment", .right), ("last", .right), ("state", .left), ("blocks", .right), ("raw", .right),
            ("stored", .right), ("file", .right), ("ratio", .right), ("size", .left),
        ])
        let largest = statistics.segments.map { max($0.rawBytes, $0.fileBytes) }.max() ?? 0
        for segment in statistics.segments {
            table.add([
                "\(segment.firstSequence)", segment.lastSequence.map { "\($0)" } ?? "",
                segment.state + (segment.isEncrypted ? ", encrypted" : ""),
                "\(segment.blocks)", "\(segment.rawBytes)", "\(segment.storedBytes)", "\(segment.fileBytes)",
                segment.rawBytes > 0 ? tenths(Double(segment.rawBytes) / Double(segment.fileBytes)) : "",
                SizeBar.text(stored: segment.fileBytes, raw: segment.rawBytes, largest: largest),
            ])
        }
        return table
    }

    private var snapshotTable: TextTable {
        var table = TextTable([
            ("snapshot", .right), ("state", .left), ("items", .right), ("raw", .right), ("stored", .right),
            ("file", .right),
        ])
        for snapshot in statistics.snapshots {
            table.add([
                "\(snapshot.firstSequence)", snapshot.isEncrypted ? "encrypted" : "plain", "\(snapshot.records)",
                "\(snapshot.rawBytes)", "\(snapshot.storedBytes)", "\(snapshot.fileBytes)",
            ])
        }
        return table
    }

    private var kindTable: TextTable {
        var table = TextTable([
            ("kind", .left), ("records", .right), ("raw", .right), ("stored", .right), ("stored each", .right),
            ("ratio", .right), ("size", .left),
        ])
        let largest = statistics.kinds.map { max($0.rawBytes, $0.storedBytes) }.max() ?? 0
        for kind in statistics.kinds {
            table.add([
                kind.name == "unknown" ? "unknown (\(kind.number))" : kind.name, "\(kind.records)", "\(kind.rawBytes)",
                "\(kind.storedBytes)", kind.storedBytesPerRecord.map(tenths) ?? "",
                kind.storedBytes > 0 ? tenths(Double(kind.rawBytes) / Double(kind.storedBytes)) : "",
                SizeBar.text(stored: kind.storedBytes, raw: kind.rawBytes, largest: largest),
            ])
        }
        return table
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.name("segments")
        json.beginArray()
        for segment in statistics.segments {
            json.beginObject()
            json.member("path", segment.path)
            json.member("firstSequence", segment.firstSequence)
            if let last = segment.lastSequence { json.member("lastSequence", last) }
            json.member("state", segment.state)
            json.member("encrypted", segment.isEncrypted)
            json.member("records", segment.records)
            json.member("blocks", segment.blocks)
            json.member("rawBytes", segment.rawBytes)
            json.member("storedBytes", segment.storedBytes)
            json.member("fileBytes", segment.fileBytes)
            json.endObject()
        }
        json.endArray()
        json.name("kinds")
        json.beginArray()
        for kind in statistics.kinds {
            json.beginObject()
            json.member("kind", kind.name)
            json.member("number", kind.number)
            json.member("records", kind.records)
            json.member("rawBytes", kind.rawBytes)
            json.member("storedBytes", kind.storedBytes)
            json.endObject()
        }
        json.endArray()
        json.name("snapshots")
        json.beginArray()
        for snapshot in statistics.snapshots {
            json.beginObject()
            json.member("path", snapshot.path)
            json.member("sequence", snapshot.firstSequence)
            json.member("encrypted", snapshot.isEncrypted)
            json.member("items", snapshot.records)
            json.member("rawBytes", snapshot.rawBytes)
            json.member("storedBytes", snapshot.storedBytes)
            json.member("fileBytes", snapshot.fileBytes)
            json.endObject()
        }
        json.endArray()
        json.member("records", statistics.size.records)
        json.member("operations", statistics.operations)
        json.member("rawBytes", statistics.size.rawBytes)
        json.member("storedBytes", statistics.size.storedBytes)
        json.member("fileBytes", statistics.size.fileBytes)
        json.member("damages", statistics.damages)
        json.endObject()
        return json.text
    }
}
