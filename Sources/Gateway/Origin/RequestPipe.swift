internal import Synchronization
internal import Transport

/// A request body between the client's connection and the origin's. It holds at most about ``capacity`` bytes: a slow
/// origin slows the client down.
final class RequestPipe: RequestContent, OpenContent {
    private struct PipeState {
        var bytes: [UInt8] = []
        var offset = 0
        var isFinished = false
        var isFailed = false
        var isClosed = false
        var resume: (@Sendable () -> Void)?
        var isPaused = false
        var writer: CheckedContinuation<Void, Never>?
    }

    private static let capacity = 256 << 10

    /// -1 for a body of unknown length.
    let count: Int
    let path = "of the client"
    private let state = Mutex(PipeState())

    init(count: Int?) { self.count = count ?? -1 }

    // MARK: The client's side

    /// Appends bytes, and waits while the pipe is full.
    ///
    /// - Returns: Whether the origin still reads.
    func send(_ bytes: [UInt8]) async -> Bool {
        change { $0.bytes += bytes }
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isClosed || state.bytes.count - state.offset <= Self.capacity { return true }
                state.writer = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
        return state.withLock { !$0.isClosed }
    }

    func finish() { change { $0.isFinished = true } }

    /// Makes the request fail at the origin: the client has not sent its whole body.
    func fail() { change { $0.isFailed = true } }

    /// Ends the pipe: nothing is read any more.
    func close() {
        let writer = state.withLock { state in
            state.isClosed = true
            state.bytes = []
            state.offset = 0
            state.resume = nil
            defer { state.writer = nil }
            return state.writer
        }
        writer?.resume()
    }

    private func change(_ body: (inout PipeState) -> Void) {
        let resume = state.withLock { state -> (@Sendable () -> Void)? in
            if state.isClosed { return nil }
            body(&state)
            guard state.isPaused else { return nil }
            state.isPaused = false
            return state.resume
        }
        resume?()
    }

    // MARK: The origin's side

    func open() -> (any OpenContent)? { self }

    func open(resume: @escaping @Sendable () -> Void) -> (any OpenContent)? {
        state.withLock { $0.resume = resume }
        return self
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let (count, writer) = state.withLock { state -> (Int?, CheckedContinuation<Void, Never>?) in
            if state.isFailed || state.isClosed { return (nil, nil) }
            let available = state.bytes.count - state.offset
            if available == 0 {
                if state.isFinished { return (0, nil) }
                state.isPaused = true
                return (requestContentPause, nil)
            }
            let count = min(available, buffer.count)
            buffer.copyBytes(from: state.bytes[state.offset..<state.offset + count])
            state.offset += count
            if state.offset == state.bytes.count {
                state.bytes.removeAll(keepingCapacity: true)
                state.offset = 0
            }
            defer { state.writer = nil }
            return (count, state.writer)
        }
        writer?.resume()
        return count
    }

    /// A relayed request is never sent twice.
    func rewind() { fail() }
}
