package import ODataWire

/// Headers and cookies that the app adds to every request to the service, such as a tenant, device or trace ID.
///
/// They are sent to the service's origin only. A header that a request already has is not added. Their values never
/// appear in traces, errors or the log.
package struct SessionHeaders: Sendable, Hashable {
    package var headers: HTTPHeaders
    /// Cookies that are sent in addition to those that the service sets.
    package var cookies: [String: String]
    /// The header by which the service recognizes a registered client.
    package var registration = HTTPHeaders.empty

    package init(headers: HTTPHeaders = .empty, cookies: [String: String] = [:]) {
        self.headers = headers
        self.cookies = cookies
    }

    /// Returns the request with the headers that it does not have yet, and the cookies.
    func added(to request: WireRequest) -> WireRequest {
        var request = request
        for field in headers.fields + registration.fields where request.headers[field.name] == nil {
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
    package var description: String { "\(headers.fields.count) headers and \(cookies.count) cookies (hidden)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
