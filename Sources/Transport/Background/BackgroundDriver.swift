/// Performs the decisions of ``BackgroundTransfers`` with a session.
actor BackgroundDriver {
    private let session: any BackgroundSession
    private let leftovers: @Sendable () -> Void
    private var transfers = BackgroundTransfers()
    private var requests: [String: BackgroundRequest] = [:]
    private var receivers: [String: CheckedContinuation<BackgroundOutcome, Never>] = [:]
    private var isListening = false
    /// Whether the system has reported all events and no caller knows yet.
    private var wereEventsReported = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// - Parameter leftovers: Removes the files of earlier processes.
    init(_ session: any BackgroundSession, leftovers: @escaping @Sendable () -> Void) {
        self.session = session
        self.leftovers = leftovers
    }

    /// Executes a request. If the task is cancelled, returns when the transfer has ended.
    func outcome(of request: BackgroundRequest) async -> BackgroundOutcome {
        listen()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                requests[request.id] = request
                receivers[request.id] = continuation
                handle(.requested(request.id))
                if Task.isCancelled { handle(.cancelled(request.id)) }
            }
        } onCancel: {
            Task { await self.handle(.cancelled(request.id)) }
        }
    }

    /// Returns when the system has reported all events for which it has started or resumed the app.
    func eventsReported() async {
        listen()
        if wereEventsReported {
            wereEventsReported = false
        } else {
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    private func listen() {
        guard !isListening else { return }
        isListening = true
        let events = session.events
        Task { [weak self] in
            for await event in events { await self?.receive(event) }
        }
    }

    private func receive(_ event: BackgroundEvent) {
        switch event {
        case .restored(let tasks): handle(.restored(tasks))
        case .ended(let id, let outcome): handle(.ended(id, outcome))
        case .eventsReported: handle(.eventsReported)
        }
    }

    private func handle(_ event: BackgroundTransfers.Event) {
        for action in transfers.handle(event) { perform(action) }
    }

    private func perform(_ action: BackgroundTransfers.Action) {
        switch action {
        case .start(let id):
            if let request = requests.removeValue(forKey: id) { session.start(request) }
        case .cancel(let id): session.cancel(id)
        case .deliver(let id, let outcome):
            requests[id] = nil
            receivers.removeValue(forKey: id)?.resume(returning: outcome)
        case .discard(let outcome):
            if let file = outcome.file { BackgroundFile.remove(file) }
        case .removeLeftovers: leftovers()
        case .resumeWaiters:
            wereEventsReported = waiters.isEmpty
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
    }
}
