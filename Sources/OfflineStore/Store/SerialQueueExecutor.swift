import Dispatch
import Synchronization

/// Runs actors on a separate queue, because SQLite and fsync block, which the shared pool must not for long.
///
/// A short call can run on its caller's thread instead if the queue is idle; see ``runIfIdle(_:)``.
///
/// It can also be a task executor, so that a simulation runs all its actors and tasks on one queue, without changes of
/// the thread.
package final class SerialQueueExecutor: SerialExecutor, TaskExecutor {
    let queue: DispatchQueue
    /// A key that identifies this queue.
    private let mark = DispatchSpecificKey<Void>()
    /// The number of jobs and calls that run or wait.
    private let outstanding = Atomic<Int>(0)
    /// Whether tasks prefer this executor. Swift enqueues a task at each call between two actors of an executor if the
    /// task does not prefer the task executor on which it runs, or prefers one and does not run on it.
    private let isTaskExecutor: Bool

    package init(label: String, isTaskExecutor: Bool = false) {
        self.isTaskExecutor = isTaskExecutor
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: mark, value: ())
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        outstanding.add(1, ordering: .relaxed)
        queue.async {
            if self.isTaskExecutor {
                job.runSynchronously(
                    isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
            } else {
                job.runSynchronously(on: self.asUnownedSerialExecutor())
            }
            self.outstanding.subtract(1, ordering: .relaxed)
        }
    }

    /// Whether the caller runs on this executor.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    package func checkIsolated() { precondition(isCurrent, "The store is used outside its queue.") }

    /// Waits until the current job pauses, and runs `body` in between. If no job is running, it runs on the calling
    /// thread.
    func wait<T>(_ body: () -> T) -> T {
        if isCurrent { return body() }
        outstanding.add(1, ordering: .relaxed)
        defer { outstanding.subtract(1, ordering: .relaxed) }
        return queue.sync(execute: body)
    }

    /// Runs `body` on the calling thread if no job is running or waiting, otherwise returns nil.
    ///
    /// Jobs that are enqueued meanwhile wait until it returns.
    func runIfIdle<T>(_ body: () -> T) -> T? {
        // The queue orders the memory accesses; the counter only predicts that it is free.
        guard outstanding.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged else { return nil }
        defer { outstanding.subtract(1, ordering: .relaxed) }
        return queue.sync(execute: body)
    }
}
