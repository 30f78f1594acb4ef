#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// SIGINT and SIGTERM, blocked from the initialization until ``wait()``, so that none is lost.
struct StopSignals {
    private var signals = sigset_t()

    /// Must be called before any thread is created, because threads inherit the blocked signals.
    init() {
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    func wait() {
        var signals = signals
        var received: Int32 = 0
        sigwait(&signals, &received)
    }
}
