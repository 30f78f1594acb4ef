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

    /// Everything that can be read, and what ended it.
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

    /// Commits of these sizes; the closure sees the files behind each, and the number of the next record.
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

    /// First segments, open and sealed, compressed and not.
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

    /// A log of several segments, the last one without its last bytes; its path; and the number of records in commits
    /// that are whole in front of these.
    static func written(cutting count: Int) -> (files: MemoryFileSystem, last: String, intact: UInt64) {
        let files = MemoryFileSystem()
        for (path, bytes) in template.content { files[path] = bytes }
        let bytes = template.content[template.last] ?? []
        let kept = max(bytes.count - count, 64)
        files[template.last] = Array(bytes.prefix(kept))
        return (files, template.last, template.ends.last { $0.bytes <= kept }?.records ?? template.first - 1)
    }

    /// What was cut, put back: with checksums made to hold, and as they are.
    static var tailSeeds: [[UInt8]] {
        let bytes = template.content[template.last] ?? []
        return [0, 40, 100].flatMap { cut in
            [UInt8(cut << 1), UInt8(cut << 1 | 1)].map { [$0] + bytes.suffix(cut) }
        }
    }

    private struct Template {
        var content: [String: [UInt8]] = [:]
        var last = ""
        /// The number with which the last segment begins.
        var first: UInt64 = 1
        /// Behind each commit of the last segment.
        var ends: [(bytes: Int, records: UInt64)] = []
    }

    private static let template: Template = {
        let files = MemoryFileSystem()
        var template = Template()
        // Stored, so that a tail can be made whole without zstd; the runs are compressed in other targets.
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
