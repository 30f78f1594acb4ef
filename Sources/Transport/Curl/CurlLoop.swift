import CCurl
import Synchronization

/// The thread that executes all transfers of one transport.
///
/// `@unchecked Sendable` because only the loop's thread uses the handles, except to wake it, which happens under the
/// lock and not after `isStopped`.
final class CurlLoop: @unchecked Sendable {
    private enum Command {
        case start(CurlTransfer)
        case cancel(CurlTransfer)
        case resume(CurlTransfer)
    }

    private struct LoopState {
        var commands: [Command] = []
        var isStopping = false
        var isStopped = false
    }

    private let state = Mutex(LoopState())
    private let multi: OpaquePointer
    private let share: OpaquePointer

    /// Loads libcurl if it is not loaded yet.
    init(connectionsPerHost: Int) throws(TransportError) {
        if let reason = ccurl_load() {
            throw TransportError(.libraryMissing, String(cString: reason), mayHaveBeenSent: false)
        }
        guard let multi = ccurl_multi_create(max(1, connectionsPerHost)), let share = ccurl_cookie_share_create() else {
            throw TransportError(.other, "libcurl is out of memory.", mayHaveBeenSent: false)
        }
        self.multi = multi
        self.share = share
        let started = ccurl_start_thread(
            { Unmanaged<CurlLoop>.fromOpaque($0).takeRetainedValue().run() }, Unmanaged.passRetained(self).toOpaque())
        if started != 0 {
            Unmanaged.passUnretained(self).release()
            ccurl_multi_destroy(multi)
            ccurl_share_destroy(share)
            throw TransportError(.other, "The thread for network requests cannot be started.", mayHaveBeenSent: false)
        }
    }

    func start(_ transfer: CurlTransfer) { send(.start(transfer)) }

    /// Cancels a transfer. Called before `start`, it prevents sending.
    func cancel(_ transfer: CurlTransfer) {
        transfer.isCancelled.store(true, ordering: .releasing)
        send(.cancel(transfer))
    }

    func resume(_ transfer: CurlTransfer) { send(.resume(transfer)) }

    /// Ends the thread and cancels all transfers.
    func stop() {
        state.withLock {
            $0.isStopping = true
            if !$0.isStopped { _ = ccurl_multi_wake(multi) }
        }
    }

    private func send(_ command: Command) {
        let isStopped = state.withLock { state in
            if !state.isStopped {
                state.commands.append(command)
                _ = ccurl_multi_wake(multi)
            }
            return state.isStopped
        }
        if isStopped, case .start(let transfer) = command { transfer.cancel() }
    }

    private func run() {
        var active: [OpaquePointer: CurlTransfer] = [:]
        while true {
            let (commands, isStopping) = state.withLock { state in
                let commands = state.commands
                state.commands = []
                return (commands, state.isStopping)
            }
            for command in commands { obey(command, &active) }
            if isStopping { break }
            if ccurl_multi_perform(multi) != 0 {
                removeAll(&active) { $0.fail("libcurl failed") }
            }
            collect(&active)
            _ = ccurl_multi_wait(multi, Int32(endLate(&active).wholeMilliseconds))
        }
        removeAll(&active) { $0.cancel() }
        let late = state.withLock { state in
            state.isStopped = true
            return state.commands
        }
        for case .start(let transfer) in late { transfer.cancel() }
        ccurl_multi_destroy(multi)
        ccurl_share_destroy(share)
    }

    /// Ends the transfers whose response has not begun in time. Returns the remaining time of the next one.
    private func endLate(_ active: inout [OpaquePointer: CurlTransfer]) -> Duration {
        var next = Duration.seconds(60)
        let now = ContinuousClock.now
        for (easy, transfer) in active {
            guard let left = transfer.timeForHead(now) else { continue }
            if left > .zero {
                next = min(next, left)
            } else {
                active[easy] = nil
                _ = ccurl_multi_remove(multi, easy)
                transfer.timeOut()
            }
        }
        return next
    }

    private func obey(_ command: Command, _ active: inout [OpaquePointer: CurlTransfer]) {
        switch command {
        case .start(let transfer):
            if transfer.isCancelled.load(ordering: .acquiring) {
                transfer.cancel()
            } else if let easy = transfer.open(
                share: share,
                resume: { [weak self, weak transfer] in
                    if let self, let transfer { self.resume(transfer) }
                })
            {
                add(easy, transfer, &active)
            }
        case .cancel(let transfer):
            guard let easy = transfer.easy, active.removeValue(forKey: easy) != nil else { return }
            _ = ccurl_multi_remove(multi, easy)
            transfer.cancel()
        case .resume(let transfer):
            if let easy = transfer.easy { _ = ccurl_resume(easy) }
        }
    }

    private func collect(_ active: inout [OpaquePointer: CurlTransfer]) {
        var result: Int32 = 0
        while let easy = ccurl_multi_next_done(multi, &result) {
            _ = ccurl_multi_remove(multi, easy)
            guard let transfer = active.removeValue(forKey: easy) else { continue }
            if transfer.finish(result) { add(easy, transfer, &active) }
        }
    }

    private func add(_ easy: OpaquePointer, _ transfer: CurlTransfer, _ active: inout [OpaquePointer: CurlTransfer]) {
        if ccurl_multi_add(multi, easy) == 0 {
            active[easy] = transfer
        } else {
            transfer.fail("libcurl did not accept the request")
        }
    }

    private func removeAll(_ active: inout [OpaquePointer: CurlTransfer], _ end: (CurlTransfer) -> Void) {
        for (easy, transfer) in active {
            _ = ccurl_multi_remove(multi, easy)
            end(transfer)
        }
        active = [:]
    }
}
