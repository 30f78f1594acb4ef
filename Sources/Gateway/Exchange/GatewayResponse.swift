package import GatewayCore
package import ODataWire
package import Transport

/// A response to a client.
package struct GatewayResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A body that arrives from the origin, and the rewriter of its links.
        case stream(ResponseBody, LinkRewriter?)
    }

    package var status: Int
    /// Without Content-Length and Transfer-Encoding, unless `body` is a stream whose length the origin has announced.
    package var headers: HTTPHeaders
    package var body: Body
    /// The kind of request, for counters.
    var kind = "refused"
    /// Called when the exchange is over.
    package private(set) var end: @Sendable () -> Void = {}

    package init(status: Int, headers: HTTPHeaders, body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates the response for a request that the origin does not receive.
    package init(_ refusal: RequestRefusal) {
        var headers = refusal.headers
        headers["Content-Type"] = "application/json"
        headers["Cache-Control"] = "no-store"
        self.init(status: refusal.status, headers: headers, body: .bytes(refusal.body))
    }

    /// Adds an action at the end of the exchange.
    func ended(_ action: @escaping @Sendable () -> Void) -> GatewayResponse {
        var response = self
        let previous = end
        response.end = {
            previous()
            action()
        }
        return response
    }
}
