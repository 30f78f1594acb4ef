import HTTPTypes
import Synchronization
import TestSupport
import Transport

/// A proxy of a service that responds to requests of one method itself, or changes the service's responses.
final class BusyTransport: HTTPTransport {
    enum Turn: Sendable {
        case answer(Int, [(name: String, value: String)])
        /// The address is unreachable.
        case unreachable
        /// The service's response, with this status in place of each 400 within the batch.
        case replacing400(by: Int)
        /// The service's response, unchanged.
        case pass
        /// No response until the task is cancelled.
        case hang
    }

    private let service: SandboxTransport
    private let turns: Mutex<[Turn]>
    private let method: HTTPRequest.Method
    private let count = Mutex(0)
    /// Yields a value when a request hangs.
    let hanging: AsyncStream<Void>
    private let hangs: AsyncStream<Void>.Continuation

    init(_ service: SandboxTransport, _ turns: [Turn] = [], of method: HTTPRequest.Method = .post) {
        self.service = service
        self.method = method
        self.turns = Mutex(turns)
        (hanging, hangs) = AsyncStream.makeStream()
    }

    func add(_ turns: Turn...) { self.turns.withLock { $0 += turns } }

    /// Number of requests of the method, by default POST.
    var posts: Int { count.withLock { $0 } }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        guard request.method == method else { return try await service.send(request, body: body) }
        count.withLock { $0 += 1 }
        switch turns.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        case nil, .pass: return try await service.send(request, body: body)
        case .answer(let status, let fields):
            var response = HTTPResponse(status: .init(code: status))
            for field in fields {
                guard let name = HTTPField.Name(field.name) else { continue }
                response.headerFields.append(HTTPField(name: name, value: field.value))
            }
            // The service's own error: a 503 of a gateway would leave open whether the service received the request.
            return (response, status == 503 ? Array(#"{"error":{"code":"","message":"busy"}}"#.utf8) : [])
        case .unreachable:
            throw TransportError(.unreachable, "Nothing answers.", mayHaveBeenSent: false)
        case .replacing400(let status):
            let (response, body) = try await service.send(request, body: body)
            let text = String(decoding: body, as: UTF8.self).replacing("HTTP/1.1 400", with: "HTTP/1.1 \(status)")
            return (response, Array(text.utf8))
        case .hang:
            hangs.yield()
            do { try await Task.sleep(for: .seconds(600)) } catch {
                throw TransportError(.cancelled, "It was cancelled.", mayHaveBeenSent: true)
            }
            throw TransportError(.timeout, "Nobody cancelled.", mayHaveBeenSent: true)
        }
    }
}
