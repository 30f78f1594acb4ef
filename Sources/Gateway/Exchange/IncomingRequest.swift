package import ODataWire
internal import Synchronization

/// A request of a client. The body is read while it arrives.
package struct IncomingRequest: Sendable {
    package var method: String
    package var target: String
    /// The minor version of HTTP/1.
    package var minorVersion: Int
    package var headers: HTTPHeaders
    /// The address of the client, without its port.
    package var peer: String
    package var body: IncomingBody

    package init(
        method: String, target: String, minorVersion: Int = 1, headers: HTTPHeaders, peer: String = "",
        body: IncomingBody
    ) {
        self.method = method
        self.target = target
        self.minorVersion = minorVersion
        self.headers = headers
        self.peer = peer
        self.body = body
    }
}

/// The body of a request between the event loop and the task that reads it. When it is full, the connection is no longer
/// read.
package final class IncomingBody: Sendable {
    package enum Failure: Error {
        case disconnected
        /// The client sends too slowly.
        case tooSlow
    }

    private struct BodyState {
        var bytes: [UInt8] = []
        var isFinished = false
        var failure: Failure?
        var discards = false
        var isPaused = false
        var reader: CheckedContinuation<Void, Never>?
    }

    private static let capacity = 256 << 10
    private let state = Mutex(BodyState())
    /// Makes the connection be read again.
    private let resume: @Sendable () -> Void
    /// Called before the first read: the client may wait for it.
    private let begin: @Sendable () -> Void
    private let hasBegun = Atomic(false)

    package init(resume: @escaping @Sendable () -> Void = {}, begin: @escaping @Sendable () -> Void = {}) {
        self.resume = resume
        self.begin = begin
    }

    /// Creates a complete body.
    package convenience init(_ bytes: [UInt8]) {
        self.init()
        _ = receive(bytes)
        finish()
    }

    // MARK: The event loop's side

    /// Returns whether the connection should be read on.
    package func receive(_ bytes: some Collection<UInt8>) -> Bool {
        change { state in
            if !state.discards { state.bytes.append(contentsOf: bytes) }
            state.isPaused = state.bytes.count > Self.capacity
        }
        return state.withLock { !$0.isPaused }
    }

    package func finish() { change { $0.isFinished = true } }

    package func fail(_ failure: Failure = .disconnected) {
        change { if !$0.isFinished, $0.failure == nil { $0.failure = failure } }
    }

    /// Whether the connection is not read, because the bytes that have arrived are not read.
    package var isPaused: Bool { state.withLock { $0.isPaused } }

    private func change(_ body: (inout BodyState) -> Void) {
        let reader = state.withLock { state in
            body(&state)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    // MARK: The reader's side

    package var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Returns the next bytes, or `nil` at the end.
    package func next() async throws(Failure) -> [UInt8]? {
        if !hasBegun.exchange(true, ordering: .relaxed) { begin() }
        while true {
            let (result, wasPaused) = state.withLock { state -> (Result<[UInt8]?, Failure>?, Bool) in
                if !state.bytes.isEmpty {
                    defer { (state.bytes, state.isPaused) = ([], false) }
                    return (.success(state.bytes), state.isPaused)
                }
                if let failure = state.failure { return (.failure(failure), false) }
                return (state.isFinished ? .success(nil) : nil, false)
            }
            if wasPaused { resume() }
            if let result { return try result.get() }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.bytes.isEmpty || state.failure != nil || state.isFinished { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    /// Drops the rest of the body as it arrives.
    package func discard() {
        let wasPaused = state.withLock { state in
            defer { state.isPaused = false }
            state.discards = true
            state.bytes = []
            return state.isPaused
        }
        if wasPaused { resume() }
    }
}
