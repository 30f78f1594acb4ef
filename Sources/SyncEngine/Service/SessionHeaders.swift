public import ODataWire

/// What the app wants to be sent with every request to the service: a tenant, a device, a trace.
///
/// It goes to the service's origin only. A header that a request has already is not sent twice. Nothing of it is told in
/// traces, errors or the log.
public struct SessionHeaders: Sendable, Hashable {
    public var headers: HTTPHeaders
    /// Beside those that the service sets.
    public var cookies: [String: String]

    public init(headers: HTTPHeaders = .empty, cookies: [String: String] = [:]) {
        self.headers = headers
        self.cookies = cookies
    }

    /// The request with all that it does not say by itself.
    func added(to request: WireRequest) -> WireRequest {
        var request = request
        for field in headers.fields where request.headers[field.name] == nil {
            request.headers.add(name: field.name, value: field.value)
        }
        if !cookies.isEmpty {
            let pairs = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            request.headers["Cookie"] = ([request.headers["Cookie"]].compactMap { $0 } + pairs).joined(separator: "; ")
        }
        return request
    }
}

extension SessionHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(headers.fields.count) headers and \(cookies.count) cookies (hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
