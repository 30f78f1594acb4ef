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
        // Whoever started the program may have blocked them in the thread that did so.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        for number in [SIGINT, SIGTERM] {
            sigaddset(&numbers, number)
            signal(number) { _ in Interruption.flag.store(true, ordering: .relaxed) }
        }
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
        // Who started this process from a thread that blocks signals, as a thread pool's do, has handed that on.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    static var hasCome: Bool { flag.load(ordering: .relaxed) }

    /// Ends early when a signal comes.
    static func wait(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }
}
