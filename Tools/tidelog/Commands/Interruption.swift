internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// SIGINT and SIGTERM as the normal end of a command that otherwise never ends: it completes its current line.
enum Interruption {
    private static let flag = Atomic<Bool>(false)

    /// Starts to record the signals, which do not end the process from now on.
    static func prepare() {
        // Also initializes the flag before a handler reads it.
        flag.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in Interruption.flag.store(true, ordering: .relaxed) }
        }
        unblock()
    }

    /// Unblocks the signals in this thread. A parent that starts the program from a thread that blocks them, such as
    /// one of a thread pool, passes this state on.
    static func unblock() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    static var hasCome: Bool { flag.load(ordering: .relaxed) }

    /// Waits. A signal ends the wait early.
    static func wait(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }
}
