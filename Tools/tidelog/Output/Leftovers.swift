internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Files and directories that nobody needs when the program ends in the middle: where SIGINT, SIGTERM or SIGHUP ends it, they
/// are removed before.
enum Leftovers {
    private static let paths = Mutex<Set<String>>([])
    private static let watch: Void = begin()
    /// What a handler writes into. A handler may not do more than that: a thread of its own does the rest.
    private static let signals = Atomic<Int32>(-1)

    static func add(_ path: String) {
        _ = watch
        paths.withLock { _ = $0.insert(path) }
    }

    static func forget(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    private static func begin() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        let reading = ends[0]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        signals.store(ends[1], ordering: .sequentiallyConsistent)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let former = signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Leftovers.signals.load(ordering: .relaxed), &byte, 1)
            }
            // As nohup has it.
            if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
        }
        DispatchQueue(label: "signals").async { wait(reading) }
    }

    private static func wait(_ signals: Int32) {
        // All other threads may block them.
        Interruption.unblock()
        var byte: UInt8 = 0
        while read(signals, &byte, 1) != 1 { guard errno == EINTR else { return } }
        removeAll()
        // To end as without all this, so that a shell sees by what.
        signal(Int32(byte), SIG_DFL)
        kill(getpid(), Int32(byte))
    }

    /// The program goes on meanwhile, and may be writing into a directory that is being removed.
    private static func removeAll() {
        for path in paths.withLock({ $0 }) {
            for _ in 0..<100 {
                ScratchDirectory.remove(path)
                if access(path, F_OK) != 0 { break }
                usleep(10_000)
            }
        }
    }
}
