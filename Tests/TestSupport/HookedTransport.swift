package import HTTPTypes
package import Transport

/// A transport with a hook that receives each request first, and may delay it or respond in place of the service.
package struct HookedTransport: HTTPTransport {
    package typealias Hook =
        @Sendable (_ request: HTTPRequest, _ body: String) async -> (response: HTTPResponse, body: [UInt8])?

    private let inner: any HTTPTransport
    private let hook: Hook

    package init(_ inner: any HTTPTransport, hook: @escaping Hook) {
        self.inner = inner
        self.hook = hook
    }

    package func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        if let answer = await hook(request, String(decoding: body, as: UTF8.self)) { return answer }
        return try await inner.send(request, body: body)
    }
}
