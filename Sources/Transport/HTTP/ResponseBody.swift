import Synchronization

/// A body in chunks as they arrive. It is read once, by one task; a slow reader slows the sender down.
///
/// If the last reference is released before the end, the rest is not received.
public struct ResponseBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    /// The error with which the body breaks off.
    public typealias Failure = TransportError

    private let nextChunk: @Sendable () async -> Result<[UInt8]?, TransportError>

    /// Creates a body. `nextChunk` returns `nil` at the end.
    public init(nextChunk: @escaping @Sendable () async -> Result<[UInt8]?, TransportError>) {
        self.nextChunk = nextChunk
    }

    /// Creates a body that consists of one chunk.
    public init(_ bytes: [UInt8]) {
        let rest = OneChunk(bytes)
        self.init { .success(rest.take()) }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(nextChunk: nextChunk) }

    /// The iterator of a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let nextChunk: @Sendable () async -> Result<[UInt8]?, TransportError>

        /// Waits for the next chunk. Returns `nil` at the end of the body.
        ///
        /// - Throws: A ``TransportError`` if the body breaks off or exceeds the limits.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TransportError) -> [UInt8]? {
            try await nextChunk().get()
        }
    }
}

private final class OneChunk: Sendable {
    private let bytes: Mutex<[UInt8]?>

    init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes.isEmpty ? nil : bytes) }

    func take() -> [UInt8]? {
        bytes.withLock {
            let bytes = $0
            $0 = nil
            return bytes
        }
    }
}
