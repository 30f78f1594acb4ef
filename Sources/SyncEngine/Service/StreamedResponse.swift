package import ODataWire
package import OfflineStore
import Transport

/// A response whose body is streamed if the status is a success, and read at once otherwise.
package struct StreamedResponse: Sendable {
    /// The status and headers. If the status is not a success, it also contains the error body, truncated to
    /// ``errorLimit``.
    package let response: WireResponse
    /// The body of a success, otherwise empty.
    package let body: StreamedBody

    /// The largest size of an error body in bytes.
    package static let errorLimit = 1 << 20
}

/// The body of a success in chunks, as they arrive.
///
/// It is read once, by one task. A slow reader slows the service down. If the last reference is released before the
/// end, the rest is not received.
package struct StreamedBody: Sendable {
    private let reading: Reading

    init(_ reading: Reading) { self.reading = reading }

    init() { self.init([UInt8]()) }

    /// Creates a body of bytes that have arrived.
    init(_ bytes: [UInt8]) { reading = Reading(ResponseBody(bytes), completion: { _, _, _ in }) }

    /// Returns the next chunk, which is not empty, or nil at the end.
    ///
    /// - Throws: An error if the body breaks off. Further calls throw again.
    package func next() async throws(TidelogError) -> [UInt8]? {
        do throws(TransportError) { return try await reading.next() } catch { throw TidelogError(error) }
    }

    /// A body that reports each chunk, and its end.
    ///
    /// `@unchecked Sendable` because only one task at a time reads it, as ``StreamedBody`` requires.
    final class Reading: @unchecked Sendable {
        /// A function that reports the end of the body.
        ///
        /// - Parameter error: Nil if the body ended or was not read further.
        typealias Completion = @Sendable (_ count: Int, _ beginning: [UInt8], _ error: TransportError?) -> Void

        private var chunks: ResponseBody.Iterator
        private var count = 0
        private var beginning: [UInt8] = []
        private var hasEnded = false
        private let chunkCame: @Sendable (_ count: Int) -> Void
        private let completion: Completion

        init(
            _ body: ResponseBody, chunkCame: @escaping @Sendable (_ count: Int) -> Void = { _ in },
            completion: @escaping Completion
        ) {
            self.chunkCame = chunkCame
            chunks = body.makeAsyncIterator()
            self.completion = completion
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
            completion(count, beginning, error)
        }
    }
}
