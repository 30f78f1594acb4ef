internal import GatewayCore
package import HTTPTypes
internal import ODataWire
package import Transport

/// The connections of a gateway to a service.
package protocol OriginTransport: HTTPTransport {
    /// Sends a request whose body is read while it is sent, and returns when the head of the response is complete.
    func stream(
        _ request: HTTPRequest, content: any RequestContent
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody)
}

extension CurlTransport: OriginTransport {}

/// The connections to one origin.
struct OriginClient: Sendable {
    private let endpoint: GatewayConfiguration.Endpoint
    private let relay: any OriginTransport
    /// For uploads in the ledger: the whole exchange ends before the lease of its row.
    private let uploads: any OriginTransport
    /// For questions for which a client waits: they end soon, so that a slow service keeps no places.
    private let probes: any OriginTransport

    init(_ endpoint: GatewayConfiguration.Endpoint, _ transport: any OriginTransport) {
        self.endpoint = endpoint
        (relay, uploads, probes) = (transport, transport, transport)
    }

    init(_ endpoint: GatewayConfiguration.Endpoint, _ limits: GatewayLimits) {
        self.endpoint = endpoint
        var options = TransportOptions()
        options.isRelay = true
        options.connectionsPerHost = limits.requestsPerEndpoint
        options.connection.serverTrust.authorities = endpoint.certificateAuthorities
        let timeout = Duration.milliseconds(endpoint.timeoutMilliseconds)
        options.limits.connectTimeout = min(.seconds(10), timeout)
        options.limits.headTimeout = timeout
        // It includes the time in which the service prepares its response.
        if let idle = options.limits.idleTimeout { options.limits.idleTimeout = max(idle, timeout + .seconds(10)) }
        options.limits.refusalBytes = .max
        options.limits.streamedBytes = .max
        options.limits.totalTimeout = .seconds(86_400)
        relay = CurlTransport(options)
        options.limits.totalTimeout = timeout
        options.limits.refusalBytes = 1 << 20
        uploads = CurlTransport(options)
        options.limits.totalTimeout = min(Self.probeTimeout, timeout)
        probes = CurlTransport(options)
    }

    private static let probeTimeout: Duration = .seconds(15)

    /// Sends a GET request whose content does not matter, and waits for the end of the response, or for its first MiB.
    func probe(_ target: String, _ headers: HTTPHeaders) async throws(TransportError) -> WireResponse {
        let (head, body) = try await probes.stream(try request("GET", target, headers), body: [])
        // A connection whose response was read can be used again.
        var count = 0
        for try await chunk in body {
            count += chunk.count
            if count > 1 << 20 { break }
        }
        return WireResponse(status: head.status.code, headers: Self.headers(head))
    }

    /// Sends a request of the ledger, and receives the whole response in memory.
    func upload(
        _ method: String, _ target: String, _ headers: HTTPHeaders, _ body: [UInt8]
    ) async throws(TransportError) -> WireResponse {
        let (head, body) = try await uploads.send(try request(method, target, headers), body: body)
        return WireResponse(status: head.status.code, headers: Self.headers(head), body: body)
    }

    /// Sends a request and streams the response.
    func stream(
        _ method: String, _ target: String, _ headers: HTTPHeaders, _ body: OriginBody
    ) async throws(TransportError) -> (head: WireResponse, body: ResponseBody) {
        let request = try request(method, target, headers)
        let (head, received) =
            switch body {
            case .bytes(let bytes): try await relay.stream(request, body: bytes)
            case .pipe(let pipe): try await relay.stream(request, content: pipe)
            }
        return (WireResponse(status: head.status.code, headers: Self.headers(head)), received)
    }

    enum OriginBody: Sendable {
        case bytes([UInt8])
        case pipe(RequestPipe)
    }

    private func request(
        _ method: String, _ target: String, _ headers: HTTPHeaders
    ) throws(TransportError) -> HTTPRequest {
        guard let method = HTTPRequest.Method(rawValue: method) else {
            throw TransportError(.invalidRequest, "The method is malformed.", mayHaveBeenSent: false)
        }
        var fields = HTTPFields()
        for field in headers.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            fields.append(HTTPField(name: name, value: field.value))
        }
        return HTTPRequest(
            method: method, scheme: endpoint.root.scheme, authority: endpoint.root.authority, path: target,
            headerFields: fields)
    }

    private static func headers(_ head: HTTPResponse) -> HTTPHeaders {
        HTTPHeaders(head.headerFields.map { ($0.name.rawName, $0.value) })
    }
}
