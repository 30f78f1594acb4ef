import HTTPTypes
import Transport

/// A proxy of a service that may respond itself or fail.
struct FailingTransport: HTTPTransport {
    typealias Hook = @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse?

    private let service: any HTTPTransport
    private let hook: Hook

    init(_ service: any HTTPTransport, hook: @escaping Hook) {
        self.service = service
        self.hook = hook
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        if let response = try hook(request) { return (response, []) }
        return try await service.send(request, body: body)
    }
}

/// A proxy of a service that changes requests.
struct ChangingTransport: HTTPTransport {
    private let service: any HTTPTransport
    private let change: @Sendable (inout HTTPRequest) -> Void

    init(_ service: any HTTPTransport, change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        self.service = service
        self.change = change
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        var request = request
        change(&request)
        return try await service.send(request, body: body)
    }
}
