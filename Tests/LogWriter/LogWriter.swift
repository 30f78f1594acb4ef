import Dispatch
import OperationLog

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A program for tests to kill. It appends commits endlessly and stores the number of each acknowledged commit.
///
///     LogWriter STORE MODE RUN
///     LogWriter STORE read
///
/// The log is in STORE/log. The acknowledgements are in STORE/acknowledged: for each thread eight bytes, the number of
/// its last commit.
///
/// The second form reads the log in every available way and stores its memory use in STORE/peak: eight bytes, the
/// number of kilobytes.
@main struct LogWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[2] == "read" { return MemoryReading.run(store: arguments[1]) }
        guard arguments.count == 4, let mode = WriterMode(rawValue: arguments[2]), let run = UInt32(arguments[3]) else {
            print("usage: LogWriter STORE MODE RUN")
            exit(64)
        }
        let store = arguments[1]
        let note = open(store + "/acknowledged", O_WRONLY | O_CREAT, 0o666)
        let log = try OperationLog.open(directory: store + "/log", options: mode.options).log
        let first = log.nextSequence
        // Enough commits for the program to be killed in between. If a test is late, the log still has a limited size.
        let mostCommits: UInt32 = 5000
        DispatchQueue.concurrentPerform(iterations: mode.threads) { thread in
            for number in 1...mostCommits {
                let commit = WrittenCommit(run: run, thread: UInt32(thread), number: number)
                // Only a bug in the log can cause a failure here. It ends the process, and the test detects that.
                guard (try? log.append(commit.records)) != nil else { exit(1) }
                withUnsafeBytes(of: UInt64(number).littleEndian) { bytes in
                    _ = pwrite(note, bytes.baseAddress, bytes.count, off_t(thread * 8))
                }
                if mode == .compacted, number % 40 == 0 { compact(log, commit, keepingFrom: first) }
            }
        }
        while true { pause() }
    }

    /// Compacts only records of earlier runs, because the test checks the commits of this run.
    private static func compact(_ log: OperationLog, _ commit: WrittenCommit, keepingFrom first: UInt64) {
        do {
            let snapshot = try log.writeSnapshot { writer in
                for record in commit.records { try writer.add(kind: record.kind, payload: record.payload) }
            }
            try log.compact(keepingFrom: min(first, snapshot.sequence))
        } catch {
            exit(1)
        }
    }
}

/// The mode of writing.
enum WriterMode: String, CaseIterable, Sendable {
    case everyCommit, grouped, interval, none, encrypted, compacted

    var threads: Int {
        switch self {
        // More threads than processors would only wait.
        case .grouped, .interval: min(3, max(2, DispatchQueue.processors))
        case .everyCommit, .none, .encrypted, .compacted: 1
        }
    }

    /// The options of the log. The segments are so small that they are sealed often.
    var options: OperationLog.Options {
        var options = OperationLog.Options(segmentSize: 5000)
        switch self {
        case .everyCommit, .compacted: break
        case .grouped: options.durability = .grouped
        case .interval: options.durability = .interval(milliseconds: 2)
        case .none: (options.durability, options.segmentSize) = (.none, 20000)
        case .encrypted: options.keys = [Self.key]
        }
        return options
    }

    static let key = LogKey(Array(1...32))!
}

extension DispatchQueue {
    /// The number of processors, which is also the number of threads that `concurrentPerform` uses.
    fileprivate static var processors: Int { Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

/// A commit of three records that contain its identification, so that a wrong, missing or repeated record is detected.
struct WrittenCommit: Hashable {
    let run: UInt32
    let thread: UInt32
    let number: UInt32

    var records: [(kind: UInt8, payload: [UInt8])] {
        (0..<3).map { part in
            var payload = Array("run \(run), thread \(thread), commit \(number), part \(part): ".utf8)
            payload += repeatElement(UInt8(truncatingIfNeeded: number), count: Int(number % 50))
            return (kind: UInt8(part), payload: payload)
        }
    }
}
