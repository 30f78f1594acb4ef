/// Decides on the requests of a background session: when they start, and which result each receives. Pure.
///
/// The system continues the tasks of a background session when the process has ended. A later process cannot use their
/// responses: the upload that waited for them has ended, and the pages are out of date. It also must not send anything
/// while they run, because the store would decide about operations in doubt although a request can still take effect.
/// Therefore, the tasks of an earlier process are cancelled, and the first request starts when all of them have ended.
struct BackgroundTransfers {
    /// The identifier of a request and of its task, unique for all processes.
    typealias ID = String

    enum Event: Sendable {
        /// The session has reported its tasks, which are those of earlier processes.
        case restored([ID])
        /// The store has a request.
        case requested(ID)
        /// The store no longer needs the result of a request.
        case cancelled(ID)
        /// A task has ended. No further event has its identifier.
        case ended(ID, BackgroundOutcome)
        /// The system has reported all events for which it has started or resumed the app.
        case eventsReported
    }

    enum Action: Sendable, Hashable {
        case start(ID)
        case cancel(ID)
        /// Passes the result to the store.
        case deliver(ID, BackgroundOutcome)
        /// Removes the file of a response that has no receiver.
        case discard(BackgroundOutcome)
        /// Removes the files of earlier processes. No task uses them.
        case removeLeftovers
        case resumeWaiters
    }

    private enum Phase {
        /// The tasks of earlier processes are unknown.
        case restoring
        /// These tasks of earlier processes have not ended.
        case draining(Set<ID>)
        case open
    }

    private var phase = Phase.restoring
    /// The requests that have not started, in order.
    private var waiting: [ID] = []
    private var running: Set<ID> = []
    /// The tasks that ended before they were reported.
    private var endedEarly: Set<ID> = []

    /// Processes an event, and returns the actions that follow, in order.
    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .restored(let tasks): restore(tasks)
        case .requested(let id): request(id)
        case .cancelled(let id): cancel(id)
        case .ended(let id, let outcome): end(id, outcome)
        case .eventsReported: [.resumeWaiters]
        }
    }

    private mutating func restore(_ tasks: [ID]) -> [Action] {
        guard case .restoring = phase else { return [] }
        let left = Set(tasks).subtracting(endedEarly)
        endedEarly = []
        if left.isEmpty { return open() }
        phase = .draining(left)
        return left.sorted().map { .cancel($0) }
    }

    private mutating func open() -> [Action] {
        phase = .open
        let started = waiting
        waiting = []
        running.formUnion(started)
        return [.removeLeftovers] + started.map { .start($0) }
    }

    private mutating func request(_ id: ID) -> [Action] {
        guard case .open = phase else {
            waiting.append(id)
            return []
        }
        running.insert(id)
        return [.start(id)]
    }

    /// A task that runs delivers its result when it has ended: until then its request can take effect.
    private mutating func cancel(_ id: ID) -> [Action] {
        if let index = waiting.firstIndex(of: id) {
            waiting.remove(at: index)
            return [.deliver(id, .failure(.cancelled, mayHaveBeenSent: false))]
        }
        return running.contains(id) ? [.cancel(id)] : []
    }

    private mutating func end(_ id: ID, _ outcome: BackgroundOutcome) -> [Action] {
        if running.remove(id) != nil { return [.deliver(id, outcome)] }
        switch phase {
        case .restoring: endedEarly.insert(id)
        case .open: break
        case .draining(var left):
            left.remove(id)
            phase = .draining(left)
            if left.isEmpty { return [.discard(outcome)] + open() }
        }
        return [.discard(outcome)]
    }
}
