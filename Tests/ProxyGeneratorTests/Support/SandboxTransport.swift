import HTTPTypes
import ODataSandbox
import ODataWire
import Synchronization
import Transport

/// The sandbox service in the same process. Keeps cookies as a browser would.
final class SandboxTransport: HTTPTransport {
    private struct Service {
        var sandbox: Sandbox
        var cookie: String?
    }

    private let service: Mutex<Service>

    init(_ sandbox: Sandbox) { service = Mutex(Service(sandbox: sandbox)) }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        let answer = service.withLock { service in
            if let cookie = service.cookie { headers["Cookie"] = cookie }
            let answer = service.sandbox.handle(
                WireRequest(
                    method: request.method.rawValue, url: request.path ?? "/", headers: headers, body: body))
            if let cookie = answer.headers["Set-Cookie"] { service.cookie = String(cookie.prefix { $0 != ";" }) }
            return answer
        }
        var response = HTTPResponse(status: .init(code: answer.status))
        for field in answer.headers.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            response.headerFields.append(HTTPField(name: name, value: field.value))
        }
        return (response, answer.body)
    }
}
