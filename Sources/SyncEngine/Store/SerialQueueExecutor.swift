import Dispatch

/// Runs an actor's work on a queue of its own: SQLite and fsync block, and the shared pool must not.
final class SerialQueueExecutor: SerialExecutor {
    private let queue: DispatchQueue
    /// What tells this queue from others.
    private let mark = DispatchSpecificKey<Void>()

    init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: mark, value: ())
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    private var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    func checkIsolated() { precondition(isCurrent, "The store is used from outside of its queue.") }

    /// Waits until the work that is under way pauses, and runs `body` in between. Where nothing is under way it runs on the
    /// thread that calls.
    func wait<T>(_ body: () -> T) -> T { isCurrent ? body() : queue.sync(execute: body) }
}
