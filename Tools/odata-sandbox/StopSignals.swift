#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// SIGINT and SIGTERM, kept back from the moment this is made until somebody waits for them: none is lost in between.
struct StopSignals {
    private var signals = sigset_t()

    /// To be made before any thread is: threads inherit what is blocked.
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
