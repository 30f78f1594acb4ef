internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// SIGINT and SIGTERM as the ordinary end of a command that otherwise goes on for ever: it finishes its line.
enum Interruption {
    private static let flag = Atomic<Bool>(false)

    /// From here on the signals end nothing by themselves.
    static func prepare() {
        // Also makes the flag before a handler looks at it.
        flag.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in Interruption.flag.store(true, ordering: .relaxed) }
        }
        unblock()
    }

    /// Lets the signals come to this thread: who started the program from a thread that blocks them, as a thread pool's do, has
    /// handed that on.
    static func unblock() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    static var hasCome: Bool { flag.load(ordering: .relaxed) }

    /// Ends early when a signal comes.
    static func wait(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }
}
