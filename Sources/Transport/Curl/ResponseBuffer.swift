import HTTPTypes
import Synchronization

/// The buffer between the receiving thread and the reading task.
final class ResponseBuffer: Sendable {
    private struct BufferState {
        var head: HTTPResponse?
        var bytes: [UInt8] = []
        var isPaused = false
        var end: Result<Void, TransportError>?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(BufferState())
    /// The size at which the sender is paused; `nil` for no limit.
    private let capacity: Int?

    init(capacity: Int?) { self.capacity = capacity }

    // MARK: The receiving side

    func receive(head: HTTPResponse) {
        change { $0.head = head }
    }

    /// Appends bytes. Returns `false` without appending if the buffer is full; the reader then requests them again.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isTaken = true
        change {
            if let capacity, $0.bytes.count >= capacity {
                $0.isPaused = true
                isTaken = false
            } else {
                $0.bytes.append(contentsOf: bytes)
            }
        }
        return isTaken
    }

    func finish(_ end: Result<Void, TransportError>) {
        change { if $0.end == nil { $0.end = end } }
    }

    private func change(_ body: (inout BufferState) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            let waiters = state.waiters
            state.waiters = []
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: The reading side

    func head() async -> Result<HTTPResponse, TransportError> {
        while true {
            let head = state.withLock { state -> Result<HTTPResponse, TransportError>? in
                if let head = state.head { return .success(head) }
                if case .failure(let error) = state.end { return .failure(error) }
                return nil
            }
            if let head { return head }
            await wait { $0.head != nil || $0.end != nil }
        }
    }

    /// Waits until both are complete, and returns head and body.
    func whole() async -> Result<(response: HTTPResponse, body: [UInt8]), TransportError> {
        while true {
            let whole = state.withLock { state -> Result<(response: HTTPResponse, body: [UInt8]), TransportError>? in
                switch state.end {
                case nil: return nil
                case .failure(let error): return .failure(error)
                case .success:
                    guard let head = state.head else { return nil }
                    return .success((head, state.bytes))
                }
            }
            if let whole { return whole }
            await wait { $0.end != nil }
        }
    }

    /// Waits for the next bytes; returns `nil` at the end. Calls `resume` if the sender is paused.
    func next(resume: () -> Void) async -> Result<[UInt8]?, TransportError> {
        while true {
            var wasPaused = false
            let chunk = state.withLock { state -> Result<[UInt8]?, TransportError>? in
                if !state.bytes.isEmpty {
                    wasPaused = state.isPaused
                    state.isPaused = false
                    let bytes = state.bytes
                    state.bytes = []
                    return .success(bytes)
                }
                return state.end.map { $0.map { nil } }
            }
            if wasPaused { resume() }
            if let chunk { return chunk }
            await wait { !$0.bytes.isEmpty || $0.end != nil }
        }
    }

    private func wait(until isReady: (BufferState) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if isReady(state) { return true }
                state.waiters.append(continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
