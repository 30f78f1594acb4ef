package import HTTPTypes

/// A request that was checked and can be sent.
package struct OutgoingRequest: Sendable {
    let method: String
    let url: RequestURL
    let headerFields: HTTPFields
    let body: [UInt8]
    /// The content to send instead of ``body``.
    let file: (any RequestContent)?

    package init(_ request: HTTPRequest, body: [UInt8], file: (any RequestContent)? = nil) throws(TransportError) {
        method = request.method.rawValue
        let path = request.path ?? "/"
        guard
            let url = RequestURL(
                scheme: request.scheme ?? "", authority: request.authority ?? "", target: path.isEmpty ? "/" : path)
        else {
            throw TransportError(
                .invalidRequest,
                "The \(method) request has no valid URL: it must be http or https, without credentials,"
                    + " and percent-encoded.",
                mayHaveBeenSent: false)
        }
        self.url = url
        headerFields = request.headerFields
        self.body = body
        self.file = file
    }

    /// The request for messages.
    var name: String { "\(method) \(url.redacted)" }

    /// Whether sending the request twice is harmless (RFC 9110, section 9.2.1: the safe methods).
    var isSafe: Bool { method == "GET" || method == "HEAD" || method == "OPTIONS" }

    package enum RedirectDecision: Equatable {
        case returnResponse
        case follow
        case refuse(target: String)
    }

    /// Whether the sender of this redirect may have acted on the request: a 303 leads to the result, all other
    /// redirects to the URL where the request is to be sent instead (RFC 9110, section 15.4).
    package static func mayHaveBeenDone(status: Int) -> Bool { status == 303 }

    /// Returns how to handle a response that may be a redirect.
    package func decision(status: Int, location: String) -> RedirectDecision {
        guard [301, 302, 303, 307, 308].contains(status) else { return .returnResponse }
        guard let target = RequestURL(location), target.origin == url.origin else {
            let host = RequestURL(location)?.origin.description ?? "a URL that is neither http nor https"
            return .refuse(target: host)
        }
        return method == "GET" || method == "HEAD" || status >= 307 ? .follow : .returnResponse
    }
}
