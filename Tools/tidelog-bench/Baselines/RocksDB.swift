internal import CBench

/// RocksDB with zstd for its write-ahead log and its tables, otherwise with its defaults.
final class RocksDB {
    private let database: OpaquePointer
    private var nextKey: UInt64 = 1

    /// The reason why RocksDB is not available, or nil if it is.
    static var missing: String? { bench_rocksdb_missing().map { String(cString: $0) } }

    init(path: String) throws {
        database = try Self.message { error, room in bench_rocksdb_open(path, error, room) }
    }

    deinit { bench_rocksdb_close(database) }

    /// Writes a batch: the payloads of the records with ascending keys.
    func write(_ records: EncodedRecords, _ range: Range<Int>, isSynced: Bool) throws {
        try Self.message { error, room in
            records.withRaw(range) { bytes, lengths in
                bench_rocksdb_write(database, nextKey, bytes, lengths, range.count, isSynced ? 1 : 0, error, room) == 0
                    ? () : nil
            }
        }
        nextKey += UInt64(range.count)
    }

    func compact() throws {
        try Self.message { error, room in bench_rocksdb_compact(database, error, room) == 0 ? () : nil }
    }

    /// Returns the number of entries, after reading all of them.
    func scan() -> Int {
        var bytes: UInt64 = 0
        return Int(bench_rocksdb_scan(database, &bytes))
    }

    /// Makes a call that returns nil and a message if it fails.
    private static func message<Result>(_ call: (UnsafeMutablePointer<CChar>, Int) -> Result?) throws -> Result {
        try MessageBuffer.call("RocksDB", call)
    }
}
