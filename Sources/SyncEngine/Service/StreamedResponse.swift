public import ODataWire
import Transport

/// An answer whose body comes in chunks where it is a success, and at once otherwise.
public struct StreamedResponse: Sendable {
    /// Status and headers and, where the status is no success, the beginning of the body: what the service says of its
    /// refusal. Longer than ``errorLimit`` it is cut off.
    public let response: WireResponse
    /// The body of a success; empty otherwise.
    public let body: StreamedBody

    /// In bytes.
    public static let errorLimit = 1 << 20
}

/// The body of a success in chunks, as they arrive. It is read once, by one task; a reader that is slow slows the service
/// down. When the last reference is gone before the end, the rest is not received.
public struct StreamedBody: Sendable {
    private let reading: Reading

    init(_ reading: Reading) { self.reading = reading }

    init() { reading = Reading(ResponseBody([]), tell: { _, _, _ in }) }

    /// The next chunk, which is not empty; nil at the end. Throws where the body breaks off, a second time too.
    public func next() async throws(TidelogError) -> [UInt8]? {
        do throws(TransportError) { return try await reading.next() } catch { throw TidelogError(error) }
    }

    /// Says of each chunk that it came, and once it is known what it came to.
    ///
    /// `@unchecked Sendable` because one task at a time reads, as ``StreamedBody`` demands.
    final class Reading: @unchecked Sendable {
        /// - Parameter error: nil where the body ended, or nobody read on.
        typealias Tell = @Sendable (_ count: Int, _ beginning: [UInt8], _ error: TransportError?) -> Void

        private var chunks: ResponseBody.Iterator
        private var count = 0
        private var beginning: [UInt8] = []
        private var hasEnded = false
        private let chunkCame: @Sendable (_ count: Int) -> Void
        private let tell: Tell

        init(
            _ body: ResponseBody, chunkCame: @escaping @Sendable (_ count: Int) -> Void = { _ in }, tell: @escaping Tell
        ) {
            self.chunkCame = chunkCame
            chunks = body.makeAsyncIterator()
            self.tell = tell
        }

        deinit { end(nil) }

        func next() async throws(TransportError) -> [UInt8]? {
            do throws(TransportError) {
                guard let chunk = try await chunks.next() else {
                    end(nil)
                    return nil
                }
                count += chunk.count
                chunkCame(chunk.count)
                if beginning.count < RequestTrace.bodyLimit {
                    beginning += chunk.prefix(RequestTrace.bodyLimit - beginning.count)
                }
                return chunk
            } catch {
                end(error)
                throw error
            }
        }

        private func end(_ error: TransportError?) {
            guard !hasEnded else { return }
            hasEnded = true
            tell(count, beginning, error)
        }
    }
}
