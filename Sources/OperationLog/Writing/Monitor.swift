#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A lock whose holder can wait for another thread to change what it guards.
///
/// `Synchronization.Mutex` cannot be waited on, and a queue would cost a change of threads for each commit.
final class Monitor: @unchecked Sendable {
    enum Condition {
        /// The sync with this number has ended. Those who wait for the one that runs, and for the next, are told apart.
        case sync(UInt64)
        /// No sync runs.
        case idle

        fileprivate var index: Int {
            switch self {
            case .sync(let round): round % 2 == 0 ? 0 : 1
            case .idle: 2
            }
        }
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let conditions = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 3)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        conditions.initialize(repeating: pthread_cond_t(), count: 3)
        pthread_mutex_init(mutex, nil)
        for index in 0..<3 { pthread_cond_init(conditions + index, nil) }
    }

    deinit {
        for index in 0..<3 { pthread_cond_destroy(conditions + index) }
        pthread_mutex_destroy(mutex)
        conditions.deallocate()
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }

    func unlock() { pthread_mutex_unlock(mutex) }

    /// Lets go of the lock until the condition is announced, or for no reason: ask again what was waited for.
    func wait(_ condition: Condition) { pthread_cond_wait(conditions + condition.index, mutex) }

    func wakeAll(_ condition: Condition) { pthread_cond_broadcast(conditions + condition.index) }

    func wakeOne(_ condition: Condition) { pthread_cond_signal(conditions + condition.index) }
}
