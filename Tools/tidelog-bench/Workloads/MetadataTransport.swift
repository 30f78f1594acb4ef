internal import HTTPTypes
internal import Tidelog

/// Knows the metadata and nothing else.
struct MetadataTransport: HTTPTransport {
    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        (HTTPResponse(status: .ok), OrderModel.metadata())
    }
}
