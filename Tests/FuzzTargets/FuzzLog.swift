import OperationLog

/// A log in memory.
enum FuzzLog {
    static let directory = "/store/log"
    static let key = LogKey(Array(1...32))!
    private static let store = StoreIdentifier(bytes: Array(1...16))

    static func segment(_ first: UInt64) -> String {
        let digits = String(first)
        return directory + "/" + String(repeating: "0", count: 20 - digits.count) + digits + ".segment"
    }

    /// Returns all readable records, and the error that ended reading.
    static func read(
        _ files: MemoryFileSystem, from first: UInt64 = 1, keys: [LogKey] = []
    ) -> (records: [LogRecord], failure: LogError?) {
        var records: [LogRecord] = []
        do throws(LogError) {
            let cursor = try LogReader(directory: directory, keys: keys, fileSystem: files).records(from: first)
            while let record = try cursor.next() { records.append(record) }
            return (records, nil)
        } catch {
            return (records, error)
        }
    }

    /// Appends commits of these sizes. After each one, calls the closure with the number of the next record.
    private static func write(
        _ files: MemoryFileSystem, _ options: OperationLog.Options, commits: [Int],
        _ body: (UInt64) -> Void = { _ in }
    ) {
        var options = options
        options.storeIdentifier = store
        do throws(LogError) {
            let log = try OperationLog.open(directory: directory, options: options, fileSystem: files).log
            for count in commits {
                let next = log.nextSequence
                try log.append(
                    (0..<UInt64(count)).map { (kind: UInt8(3), payload: Array("operation \(next + $0)".utf8)) })
                body(log.nextSequence)
            }
            log.close()
        } catch {
            preconditionFailure("a log in memory can be written: \(error)")
        }
    }

    // MARK: Segments

    /// First segments, open and sealed, compressed and uncompressed.
    static func seeds(keys: [LogKey]) -> [[UInt8]] {
        let compressions: [OperationLog.Options.Compression] = [.stored, .zstd(level: 3)]
        return compressions.flatMap { compression in
            [UInt64(200), 1_000_000].compactMap { size in
                let files = MemoryFileSystem()
                let options = OperationLog.Options(
                    compression: compression, segmentSize: size, runSize: 60, keys: keys)
                write(files, options, commits: [1, 2, 1, 1, 3, 1])
                return files[segment(1)]
            }
        }
    }

    // MARK: Tails

    /// Returns a log of several segments whose last segment is cut by `count` bytes, the path of this segment, and the
    /// number of records in the commits before the cut.
    static func written(cutting count: Int) -> (files: MemoryFileSystem, last: String, intact: UInt64) {
        let files = MemoryFileSystem()
        for (path, bytes) in template.content { files[path] = bytes }
        let bytes = template.content[template.last] ?? []
        let kept = max(bytes.count - count, 64)
        files[template.last] = Array(bytes.prefix(kept))
        return (files, template.last, template.ends.last { $0.bytes <= kept }?.records ?? template.first - 1)
    }

    /// The bytes that were cut, once with corrected and once with unchanged checksums.
    static var tailSeeds: [[UInt8]] {
        let bytes = template.content[template.last] ?? []
        return [0, 40, 100].flatMap { cut in
            [UInt8(cut << 1), UInt8(cut << 1 | 1)].map { [$0] + bytes.suffix(cut) }
        }
    }

    private struct Template {
        var content: [String: [UInt8]] = [:]
        var last = ""
        /// The number of the first record in the last segment.
        var first: UInt64 = 1
        /// The size of the last segment and the number of the last record after each commit.
        var ends: [(bytes: Int, records: UInt64)] = []
    }

    private static let template: Template = {
        let files = MemoryFileSystem()
        var template = Template()
        // The blocks are stored uncompressed, so that a tail can be completed without zstd. Other targets test
        // compressed runs.
        let options = OperationLog.Options(compression: .stored, segmentSize: 300, runSize: 100)
        write(files, options, commits: [2, 1, 3, 1, 2, 1, 1, 3]) { next in
            let last = files.content.keys.max() ?? ""
            let before = template.ends.last?.records ?? 0
            if last != template.last { (template.last, template.first, template.ends) = (last, before + 1, []) }
            template.ends.append((files[last]?.count ?? 0, next - 1))
        }
        template.content = files.content
        return template
    }()
}
