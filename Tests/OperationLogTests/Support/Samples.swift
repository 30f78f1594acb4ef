import DiskSimulation
import OperationLog

/// Records that contain their own number, so that a wrong, moved or repeated record is detected.
enum Sample {
    static let directory = "/store/log"
    static let store = StoreIdentifier(bytes: Array(1...16))!
    /// The bytes 00 to 1F.
    static let key = LogKey(Array(0..<32))!
    static let otherKey = LogKey(Array(100..<132))!

    static func payload(_ sequence: UInt64, size: Int = 40) -> [UInt8] {
        var bytes = Array("operation \(sequence): ".utf8)
        var value = sequence &* 0x9E37_79B9_7F4A_7C15
        while bytes.count < size {
            bytes.append(value % 3 == 0 ? UInt8(truncatingIfNeeded: value >> 32) : 0x61 + UInt8(value % 7))
            value = value &* 6_364_136_223_846_793_005 &+ 1
        }
        return bytes
    }

    static func kind(_ sequence: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: sequence &* 7) }

    static func record(_ sequence: UInt64, size: Int = 40) -> LogRecord {
        LogRecord(sequence: sequence, kind: kind(sequence), payload: payload(sequence, size: size))
    }

    static func commit(from first: UInt64, count: Int, size: Int = 40) -> [(kind: UInt8, payload: [UInt8])] {
        (0..<UInt64(count)).map { (kind(first + $0), payload(first + $0, size: size)) }
    }

    static func open(
        _ disk: SimulatedDisk, _ options: OperationLog.Options = .init()
    ) throws(LogError) -> (log: OperationLog, recovery: RecoveryReport) {
        var options = options
        options.storeIdentifier = store
        return try OperationLog.open(directory: directory, options: options, fileSystem: disk)
    }

    /// Appends commits with these numbers of records, and closes the log.
    static func write(_ disk: SimulatedDisk, commits: [Int], _ options: OperationLog.Options = .init()) throws {
        let log = try open(disk, options).log
        for count in commits { try log.append(commit(from: log.nextSequence, count: count)) }
        log.close()
    }

    static let end = directory + "/END"

    /// Removes the recorded end, as for a log that was not closed or was written by an earlier version.
    static func forgetEnd(_ disk: SimulatedDisk) { disk.erase(end) }

    /// Whether the refused call was made to record the end: a call on the file, or on the directory because of the
    /// file.
    static func isOfEnd(_ refusedPaths: [String]) -> Bool {
        refusedPaths.last == end || refusedPaths == [end, directory]
    }

    static func read(_ disk: SimulatedDisk, from first: UInt64 = 1, keys: [LogKey] = []) throws -> [LogRecord] {
        try records(LogReader(directory: directory, keys: keys, fileSystem: disk).records(from: first))
    }

    static func records(_ cursor: LogCursor) throws -> [LogRecord] {
        var records: [LogRecord] = []
        while let record = try cursor.next() { records.append(record) }
        return records
    }

    static func expected(_ range: ClosedRange<UInt64>) -> [LogRecord] { range.map { record($0) } }

    /// Returns the path of the segment that begins with this record.
    static func segment(_ first: UInt64) -> String {
        let digits = String(first)
        return directory + "/" + String(repeating: "0", count: 20 - digits.count) + digits + ".segment"
    }
}
