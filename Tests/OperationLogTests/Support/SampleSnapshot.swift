import DiskSimulation
import OperationLog

/// Items that contain the number of their snapshot, so that a wrong, missing or foreign item is detected.
enum SampleSnapshot {
    static func items(_ sequence: UInt64, count: Int = 5) -> [LogRecord] {
        (0..<UInt64(count)).map { index in
            LogRecord(
                sequence: sequence + index, kind: UInt8(truncatingIfNeeded: index % 7),
                payload: Sample.payload(sequence &* 1000 &+ index, size: 60))
        }
    }

    @discardableResult
    static func write(_ log: OperationLog, count: Int = 5) throws -> SnapshotFile {
        let next = log.nextSequence
        return try log.writeSnapshot { writer in
            for item in items(next, count: count) { try writer.add(kind: item.kind, payload: item.payload) }
        }
    }

    static func read(
        _ disk: SimulatedDisk, _ snapshot: SnapshotFile, keys: [LogKey] = []
    ) throws -> [LogRecord] {
        try read(LogReader(directory: Sample.directory, keys: keys, fileSystem: disk), snapshot)
    }

    static func read(_ reader: LogReader, _ snapshot: SnapshotFile) throws -> [LogRecord] {
        let cursor = try reader.snapshot(snapshot)
        var items: [LogRecord] = []
        while let item = try cursor.next() {
            items.append(
                LogRecord(
                    sequence: snapshot.sequence + UInt64(items.count), kind: item.kind, payload: Array(item.bytes)))
        }
        return items
    }

    /// Returns the path of the snapshot before this record.
    static func path(_ sequence: UInt64) -> String {
        Sample.segment(sequence).replacing(".segment", with: ".snapshot")
    }
}
