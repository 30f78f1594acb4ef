import OperationLog
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

#if os(Linux) || os(macOS)
    /// A writer that is really killed: a child process appends and notes each acknowledgement in a file, until a timer
    /// kills it. Pages that it wrote stay with the system, so this proves the lock, the recovery and the order of
    /// write and acknowledgement; loss of power is ``CrashTests``'.
    @Suite(.serialized) struct KillTests {
        @Test func `a killed writer leaves each acknowledged record, a free lock, and nothing else`() async throws {
            let store = TemporaryDirectory()
            defer { store.remove() }
            var total: UInt64 = 0
            for _ in 0..<5 {
                await #expect(processExitsWith: .signal(SIGKILL)) { [path = store.path as String] in
                    try appendUntilKilled(path)
                }
                let acknowledged = acknowledgement(in: store.path)
                let (log, recovery) = try OperationLog.open(directory: store.path + "/log")
                log.close()
                let kept = recovery.nextSequence - 1
                #expect(kept >= acknowledged && kept % 3 == 0 && kept >= total)
                let records = try Sample.records(LogReader(directory: store.path + "/log").records())
                #expect(records == (kept == 0 ? [] : Sample.expected(1...kept)))
                #expect(try LogVerification.verify(directory: store.path + "/log").isSound)
                total = kept
            }
            print("kills: 5, records kept: \(total)")
            #expect(total > 0)
        }
    }

    private func appendUntilKilled(_ store: String) throws {
        let log = try OperationLog.open(directory: store + "/log", options: .init(segmentSize: 5000)).log
        let note = open(store + "/acknowledged", O_WRONLY | O_CREAT, 0o666)
        // Between two instructions of whatever the process is doing.
        signal(SIGALRM) { _ in kill(getpid(), SIGKILL) }
        ualarm(.random(in: 2000...60000), 0)
        while true {
            let last = try log.append(Sample.commit(from: log.nextSequence, count: 3)).upperBound
            withUnsafeBytes(of: last.littleEndian) { bytes in _ = pwrite(note, bytes.baseAddress, bytes.count, 0) }
        }
    }

    private func acknowledgement(in store: String) -> UInt64 {
        let note = open(store + "/acknowledged", O_RDONLY)
        defer { close(note) }
        var last: UInt64 = 0
        _ = withUnsafeMutableBytes(of: &last) { bytes in pread(note, bytes.baseAddress, bytes.count, 0) }
        return UInt64(littleEndian: last)
    }
#endif
