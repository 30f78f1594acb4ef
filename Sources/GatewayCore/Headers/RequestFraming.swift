import ODataQuery
package import ODataWire

/// The reason why a request is refused before the origin receives anything.
package struct RequestRefusal: Error, Sendable, Hashable {
    package let status: Int
    /// A sentence for the client.
    package let message: String
    /// The fields of the response, such as Retry-After.
    package var headers = HTTPHeaders()

    package init(_ status: Int, _ message: String, headers: HTTPHeaders = .empty) {
        self.status = status
        self.message = message
        self.headers = headers
    }

    /// The body of the response: an OData error.
    package var body: [UInt8] {
        let escaped = message.replacingQuotes()
        return Array(#"{"error":{"code":"gateway","message":"\#(escaped)"}}"#.utf8)
    }
}

extension String {
    fileprivate func replacingQuotes() -> String {
        reduce(into: "") { text, character in
            switch character {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            default:
                let isControl = character.unicodeScalars.contains { $0.value < 0x20 }
                text.append(isControl ? " " : character)
            }
        }
    }
}

/// Checks the head of a request. A request that two HTTP implementations could read differently is refused, because it
/// could carry a second request past the gateway.
package enum RequestFraming {
    /// The length of the body that a head announces.
    package enum BodyLength: Sendable, Hashable {
        case none
        case known(Int)
        case chunked
    }

    /// - Parameter minor: The minor version of HTTP/1.
    package static func check(
        method: String, target: String, minor: Int, headers: HTTPHeaders, limits: GatewayLimits
    ) throws(RequestRefusal) -> BodyLength {
        guard target.utf8.count <= limits.targetBytes else { throw RequestRefusal(414, "The URL is too long.") }
        let size = headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= limits.headBytes else { throw RequestRefusal(431, "The header fields are too large.") }
        guard headers.obstacle(inBatch: false) == nil else { throw RequestRefusal(400, "A header field is malformed.") }
        let hosts = headers.values("Host")
        guard hosts.count == 1 || minor == 0 && hosts.isEmpty else {
            throw RequestRefusal(400, "A request must have exactly one Host field.")
        }
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), target.hasPrefix("/"), !target.contains("#") else {
            throw RequestRefusal(400, "The target of the request is not an absolute path.")
        }
        guard !["CONNECT", "TRACE"].contains(method) else { throw RequestRefusal(405, "The method is not allowed.") }
        for name in headers.connectionNames where !name.isEmpty && !HeaderRules.allowedInConnection.contains(name) {
            throw RequestRefusal(400, "The Connection field names an end-to-end field.")
        }
        return try bodyLength(minor, headers, limits)
    }

    private static func bodyLength(
        _ minor: Int, _ headers: HTTPHeaders, _ limits: GatewayLimits
    ) throws(RequestRefusal) -> BodyLength {
        let codings = headers.values("Transfer-Encoding")
        let lengths = headers.values("Content-Length")
        guard codings.isEmpty || lengths.isEmpty else {
            throw RequestRefusal(400, "A request must not have both Content-Length and Transfer-Encoding.")
        }
        if !codings.isEmpty {
            guard minor > 0, codings.count == 1, codings[0].equalsIgnoringCase("chunked") else {
                throw RequestRefusal(400, "The only transfer coding is chunked.")
            }
            return .chunked
        }
        guard let text = lengths.first else { return .none }
        guard lengths.count == 1, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(text)
        else { throw RequestRefusal(400, "The Content-Length is not one number.") }
        guard length <= limits.bodyBytes else {
            throw RequestRefusal(413, "The body has more than \(limits.bodyBytes) bytes.")
        }
        return length == 0 ? .none : .known(length)
    }
}
