import HTTPTypes
import ODataSandbox
import ODataWire
import Synchronization
import Transport

/// Leads to a service in this process. Keeps cookies, and what was asked.
final class SandboxTransport: HTTPTransport {
    private struct State {
        var sandbox: Sandbox
        var cookies: [String: String] = [:]
        var requests: [WireRequest] = []

        mutating func reply(to request: WireRequest) -> Reply {
            var request = request
            if !cookies.isEmpty {
                request.headers["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")
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

    init(_ sandbox: sending Sandbox) { state = Mutex(State(sandbox: sandbox)) }

    /// The service as it is now.
    var sandbox: Sandbox { state.withLock { $0.sandbox } }

    /// Every request so far.
    var requests: [WireRequest] { state.withLock { $0.requests } }

    func change(_ body: (inout Sandbox) -> Void) { state.withLock { body(&$0.sandbox) } }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        let wire = WireRequest(
            method: request.method.rawValue, url: request.path ?? "/", headers: headers, body: body)
        switch state.withLock({ $0.reply(to: wire) }) {
        case .cut:
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
