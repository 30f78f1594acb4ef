import OperationLog

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A program for tests to kill: appends commits for ever and notes each one that was acknowledged.
///
///     LogWriter STORE MODE RUN
///
/// The log is in STORE/log. What was acknowledged is in STORE/acknowledged: eight bytes, the number of the last commit.
@main struct LogWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let mode = WriterMode(rawValue: arguments[2]), let run = UInt32(arguments[3]) else {
            print("usage: LogWriter STORE MODE RUN")
            exit(64)
        }
        let store = arguments[1]
        let note = open(store + "/acknowledged", O_WRONLY | O_CREAT, 0o666)
        let log = try OperationLog.open(directory: store + "/log", options: mode.options).log
        for commit in UInt32(1)... {
            try log.append(WrittenCommit(run: run, commit: commit).records)
            withUnsafeBytes(of: UInt64(commit).littleEndian) { bytes in
                _ = pwrite(note, bytes.baseAddress, bytes.count, 0)
            }
        }
    }
}

/// How the program writes.
enum WriterMode: String, CaseIterable, Sendable {
    case everyCommit, none

    /// Segments are sealed often.
    var options: OperationLog.Options {
        switch self {
        case .everyCommit: OperationLog.Options(durability: .everyCommit, segmentSize: 5000)
        case .none: OperationLog.Options(durability: .none, segmentSize: 20000)
        }
    }
}

/// A commit of three records that say which one it is, so that a wrong, missing or repeated one is noticed.
struct WrittenCommit: Equatable {
    let run: UInt32
    let commit: UInt32

    var records: [(kind: UInt8, payload: [UInt8])] {
        (0..<3).map { part in
            var payload = Array("run \(run), commit \(commit), part \(part): ".utf8)
            payload += repeatElement(UInt8(truncatingIfNeeded: commit), count: Int(commit % 50))
            return (kind: UInt8(part), payload: payload)
        }
    }
}
