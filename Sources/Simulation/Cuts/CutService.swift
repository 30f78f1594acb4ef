import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Synchronization
import Transport

/// The fault that is applied to the next modification request.
package enum ConnectionCut: String, Sendable, Hashable, CaseIterable {
    /// The connection breaks before the service receives the request.
    case lostRequest
    /// The connection breaks after the service has executed the request.
    case lostAnswer
    /// The service receives the request after the client has given up, within the waiting time.
    case lateRequest
    /// Like `lateRequest` but after the waiting time: the remaining case that no client can prevent.
    case muchTooLate
}

/// A service that generates keys and supports no repeatability, with the connections to it.
final class CutService: Sendable {
    private struct WorldState {
        var service: SimulatedService
        var cut: ConnectionCut?
        var late: [(due: Int64, request: WireRequest, client: Int)] = []
        /// The elapsed time in seconds. Setting the clock back does not change it.
        var elapsed: Int64 = 0
        var delay: Int64 = 0
    }

    private let state: Mutex<WorldState>
    let clock: VirtualClock

    init(_ sandbox: Sandbox, seed: UInt64) {
        state = Mutex(WorldState(service: SimulatedService(sandbox)))
        clock = VirtualClock(seed: seed)
    }

    /// Sets the fault for the next modification.
    ///
    /// - Parameter delay: The delay of a late request, in seconds.
    func cut(_ cut: ConnectionCut, delay: Int64) { state.withLock { ($0.cut, $0.delay) = (cut, delay) } }

    func pass(seconds: Int64) {
        clock.advance(milliseconds: seconds * 1_000)
        state.withLock { state in
            state.elapsed += seconds
            let due = state.late.filter { $0.due <= state.elapsed }
            state.late.removeAll { $0.due <= state.elapsed }
            for (_, request, client) in due { _ = state.service.handle(request, from: client) }
        }
    }

    func contents(of set: String) -> [PropertyValues] {
        state.withLock { state in state.service.sandbox.contents(of: set).map(\.values) }
    }

    /// The entities and their links as lines.
    var lines: [String] { state.withLock { $0.service.lines } }

    fileprivate func handle(_ request: WireRequest, from client: Int) throws(TransportError) -> WireResponse {
        let answer = state.withLock { state -> WireResponse? in
            guard request.method != "GET", let cut = state.cut else {
                return state.service.handle(request, from: client)
            }
            state.cut = nil
            switch cut {
            case .lostRequest: break
            case .lostAnswer: _ = state.service.handle(request, from: client)
            case .lateRequest, .muchTooLate: state.late.append((state.elapsed + state.delay, request, client))
            }
            return nil
        }
        guard let answer else { throw TransportError(.disconnected, "Simulated.", mayHaveBeenSent: true) }
        return answer
    }

    /// A client's connection to the service.
    struct Network: HTTPTransport {
        let world: CutService
        let client: Int

        func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            var headers = HTTPHeaders()
            for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
            let answer = try world.handle(
                WireRequest(method: request.method.rawValue, url: request.path ?? "/", headers: headers, body: body),
                from: client)
            var response = HTTPResponse(status: .init(code: answer.status))
            for field in answer.headers.fields {
                guard let name = HTTPField.Name(field.name) else { continue }
                response.headerFields.append(HTTPField(name: name, value: field.value))
            }
            return (response, answer.body)
        }
    }
}
