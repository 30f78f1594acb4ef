internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The unfinished files and directories of this process. When SIGINT, SIGTERM or SIGHUP ends the process, they are
/// removed first.
enum TemporaryFiles {
    private static let paths = Mutex<Set<String>>([])
    private static let watch: Void = begin()
    /// The descriptor to which a signal handler writes. A handler may do nothing else; a separate thread does the rest.
    private static let signals = Atomic<Int32>(-1)

    static func add(_ path: String) {
        _ = watch
        paths.withLock { _ = $0.insert(path) }
    }

    /// Creates a file or a directory and adds its path in one step: a signal is handled before or after both.
    ///
    /// - Parameter create: Returns the path of the created file, or nil if it created none.
    static func adding(_ create: () -> String?) {
        _ = watch
        paths.withLock { paths in
            if let path = create() { paths.insert(path) }
        }
    }

    static func unregister(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    private static func begin() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        let reading = ends[0]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        signals.store(ends[1], ordering: .sequentiallyConsistent)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let former = signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(TemporaryFiles.signals.load(ordering: .relaxed), &byte, 1)
            }
            // As nohup does.
            if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
        }
        DispatchQueue(label: "signals").async { wait(reading) }
    }

    private static func wait(_ signals: Int32) {
        // All other threads may block the signals.
        Interruption.unblock()
        var byte: UInt8 = 0
        while read(signals, &byte, 1) != 1 { guard errno == EINTR else { return } }
        // The lock is held to the end of the process, so that nothing new is created after the removal.
        paths.withLock { paths in
            for path in paths { remove(path) }
            // The default action ends the process, so that a shell sees the signal as the cause.
            signal(Int32(byte), SIG_DFL)
            kill(getpid(), Int32(byte))
        }
    }

    /// Removes a path. Retries, because the other threads continue and may write into a directory that is being
    /// removed.
    private static func remove(_ path: String) {
        for _ in 0..<100 {
            ScratchDirectory.remove(path)
            if access(path, F_OK) != 0 { break }
            usleep(10_000)
        }
    }
}
