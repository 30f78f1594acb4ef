#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A lock with condition variables.
///
/// `Synchronization.Mutex` has no condition variables, and a dispatch queue would require a thread switch for each
/// commit.
final class ConditionLock: @unchecked Sendable {
    enum Condition {
        /// The sync with this number has ended. Waiters for the running sync are distinguished from waiters for the
        /// next one.
        case sync(UInt64)
        /// No sync is running.
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
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        // Only in builds with assertions, because the checks take time: a missing lock, or a second one, is an error.
        assert(pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK)) == 0)
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
        for index in 0..<3 { pthread_cond_init(conditions + index, nil) }
    }

    deinit {
        for index in 0..<3 { pthread_cond_destroy(conditions + index) }
        pthread_mutex_destroy(mutex)
        conditions.deallocate()
        mutex.deallocate()
    }

    func lock() {
        let failure = pthread_mutex_lock(mutex)
        assert(failure == 0, "The thread has the lock already.")
    }

    func unlock() {
        let failure = pthread_mutex_unlock(mutex)
        assert(failure == 0, "The thread does not have the lock.")
    }

    /// Releases the lock until the condition is signaled. Spurious wakeups are possible: the caller must check its
    /// condition again.
    func wait(_ condition: Condition) { pthread_cond_wait(conditions + condition.index, mutex) }

    func wakeAll(_ condition: Condition) { pthread_cond_broadcast(conditions + condition.index) }

    func wakeOne(_ condition: Condition) { pthread_cond_signal(conditions + condition.index) }
}
