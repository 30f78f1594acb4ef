package import HTTPTypes
package import ODataSandbox
package import ODataWire
import Synchronization
package import Transport

/// The sandbox in the same process, as a transport of the engine. Stores cookies as a browser does, and records the
/// requests.
package final class SandboxTransport: HTTPTransport {
    private struct State {
        var sandbox: Sandbox
        var cookies: [String: String] = [:]
        var requests: [WireRequest] = []

        mutating func reply(to request: WireRequest) -> Reply {
            var request = request
            if !cookies.isEmpty {
                let kept = cookies.map { "\($0.key)=\($0.value)" }.sorted()
                request.headers["Cookie"] = (request.headers.values("Cookie") + kept).joined(separator: "; ")
            }
            requests.append(request)
            let reply = sandbox.reply(to: request)
            if case .response(let response) = reply {
                for field in response.headers.values("Set-Cookie") {
                    let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                    if pair.count == 2 { cookies[String(pair[0])] = String(pair[1]) }
                }
            }
            return reply
        }
    }

    private let state: Mutex<State>

    package init(_ sandbox: sending Sandbox) { state = Mutex(State(sandbox: sandbox)) }

    /// The current state of the service.
    package var sandbox: Sandbox { state.withLock { $0.sandbox } }

    /// All requests so far.
    package var requests: [WireRequest] { state.withLock { $0.requests } }

    package func forgetRequests() { state.withLock { $0.requests = [] } }

    package func add(_ fault: Fault) { change { $0.faults.append(fault) } }

    package func change(_ body: (inout Sandbox) -> Void) { state.withLock { body(&$0.sandbox) } }

    /// Performs a request of another client, which is not added to ``requests``.
    @discardableResult
    package func direct(
        _ method: String, _ url: String, _ body: String = "", headers: HTTPHeaders = .empty
    ) -> WireResponse {
        var headers = headers
        if !body.isEmpty { headers["Content-Type"] = "application/json" }
        return state.withLock {
            $0.sandbox.handle(WireRequest(method: method, url: url, headers: headers, body: Array(body.utf8)))
        }
    }

    package func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        let wire = WireRequest(
            method: request.method.rawValue, url: request.path ?? "/", headers: headers, body: body)
        switch state.withLock({ $0.reply(to: wire) }) {
        case .cut, .cutOff:
            throw TransportError(.disconnected, "The connection was cut.", mayHaveBeenSent: true)
        case .response(let answer):
            var response = HTTPResponse(status: .init(code: answer.status))
            for field in answer.headers.fields {
                guard let name = HTTPField.Name(field.name) else { continue }
                response.headerFields.append(HTTPField(name: name, value: field.value))
            }
            return (response, answer.body)
        }
    }
}
