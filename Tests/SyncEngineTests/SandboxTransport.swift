import HTTPTypes
import ODataSandbox
import ODataWire
import Synchronization
import Transport

/// The sandbox service in the same process, behind the protocol that the engine speaks. Keeps cookies as a browser would.
final class SandboxTransport: HTTPTransport {
    private struct Service {
        var sandbox: Sandbox
        var cookie: String?
        var requests: [WireRequest] = []
    }

    private let service: Mutex<Service>

    init(_ sandbox: Sandbox) { service = Mutex(Service(sandbox: sandbox)) }

    /// Every request that arrived, or would have.
    var requests: [WireRequest] { service.withLock { $0.requests } }

    func forgetRequests() { service.withLock { $0.requests = [] } }

    func add(_ fault: Fault) { service.withLock { $0.sandbox.faults.append(fault) } }

    func change(_ body: (inout sending Sandbox) -> Void) { service.withLock { body(&$0.sandbox) } }

    /// Somebody else's request: it is not among ``requests``.
    @discardableResult
    func direct(_ method: String, _ url: String, _ body: String = "", headers: HTTPHeaders = .empty) -> WireResponse {
        var headers = headers
        if !body.isEmpty { headers["Content-Type"] = "application/json" }
        return service.withLock {
            $0.sandbox.handle(WireRequest(method: method, url: url, headers: headers, body: Array(body.utf8)))
        }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        let method = request.method.rawValue
        let url = request.path ?? "/"
        let reply = service.withLock { service in
            if let cookie = service.cookie { headers["Cookie"] = cookie }
            let request = WireRequest(method: method, url: url, headers: headers, body: body)
            service.requests.append(request)
            let reply = service.sandbox.reply(to: request)
            if case .response(let response) = reply, let cookie = response.headers["Set-Cookie"] {
                service.cookie = String(cookie.prefix { $0 != ";" })
            }
            return reply
        }
        switch reply {
        case .cut: throw TransportError(.disconnected, "The connection broke.", mayHaveBeenSent: true)
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
