internal import GatewayCore
internal import Synchronization

/// The transfer of a body from a client to a service while it arrives.
final class BodyTransfer: Sendable {
    private let pipe: RequestPipe
    private let limit: Int
    private let failure = Mutex<RequestRefusal?>(nil)

    /// - Parameter limit: The maximum size in bytes.
    init(into pipe: RequestPipe, limit: Int) {
        self.pipe = pipe
        self.limit = limit
    }

    /// The reason if the transfer has failed because of the client.
    var refusal: RequestRefusal? { failure.withLock { $0 } }

    /// Transfers the body. Ends early if the service does not read the rest.
    func run(_ body: IncomingBody) async {
        var count = 0
        do throws(IncomingBody.Failure) {
            while let chunk = try await body.next() {
                count += chunk.count
                guard count <= limit else { return fail(RequestRefusal(413, "The body has more than \(limit) bytes.")) }
                guard await pipe.send(chunk) else { return body.discard() }
            }
            pipe.finish()
        } catch {
            fail(error.refusal)
        }
    }

    /// The request at the service fails after this, which then finds the reason.
    private func fail(_ refusal: RequestRefusal) {
        failure.withLock { $0 = refusal }
        pipe.fail()
    }
}
