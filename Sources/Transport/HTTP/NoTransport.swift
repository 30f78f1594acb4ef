package import HTTPTypes

/// Sends nothing: for work that needs no network, so that a damaged or manipulated store cannot cause requests.
package struct NoTransport: HTTPTransport {
    private let message: String

    package init(_ message: String = "This command does not access the service.") { self.message = message }

    package func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        throw TransportError(.unreachable, message, mayHaveBeenSent: false)
    }
}
