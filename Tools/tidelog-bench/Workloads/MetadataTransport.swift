internal import HTTPTypes
internal import Tidelog

/// A transport that returns only the metadata.
struct MetadataTransport: HTTPTransport {
    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        (HTTPResponse(status: .ok), OrderModel.metadata())
    }
}
