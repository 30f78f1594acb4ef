import Gateway
import GatewayCore
import HTTPTypes
import ODataWire
import Transport

extension WireRequest {
    init(_ request: HTTPRequest, _ body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        self.init(method: request.method.rawValue, url: request.path ?? "/", headers: headers, body: body)
    }

    /// The request as a gateway's HTTP server receives it.
    var incoming: IncomingRequest {
        var headers = headers
        headers["Host"] = "gateway.test"
        if method != "GET" { headers["Content-Length"] = String(body.count) }
        return IncomingRequest(method: method, target: url, headers: headers, body: IncomingBody(body))
    }
}

extension HTTPResponse {
    init(_ response: WireResponse) {
        self.init(status: .init(code: response.status))
        for field in response.headers.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            headerFields.append(HTTPField(name: name, value: field.value))
        }
    }
}

extension WireResponse {
    /// Reads the whole response of a gateway.
    init(_ response: GatewayResponse) async throws(TransportError) {
        var bytes: [UInt8] = []
        switch response.body {
        case .bytes(let body): bytes = body
        case .stream(let stream, var rewriter):
            var chunks = stream.makeAsyncIterator()
            while let chunk = try await chunks.next() { bytes += rewriter?.rewrite(chunk) ?? chunk }
            bytes += rewriter?.finish() ?? []
        }
        response.end()
        self.init(status: response.status, headers: response.headers, body: bytes)
    }
}
