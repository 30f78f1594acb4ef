import Dispatch

/// Runs an actor on a separate queue, because SQLite and fsync block, which the shared pool must not.
final class SerialQueueExecutor: SerialExecutor {
    private let queue: DispatchQueue
    /// A key that identifies this queue.
    private let mark = DispatchSpecificKey<Void>()

    init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: mark, value: ())
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Whether the caller runs on this executor.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    func checkIsolated() { precondition(isCurrent, "The store is used outside its queue.") }

    /// Waits until the current job pauses, and runs `body` in between. If no job is running, it runs on the calling
    /// thread.
    func wait<T>(_ body: () -> T) -> T { isCurrent ? body() : queue.sync(execute: body) }
}
