import HTTPTypes
import Testing

@testable import Transport

/// A suite of tests that send requests with libcurl.
protocol CurlRequests {
    var transport: CurlTransport { get }
}

extension CurlRequests {
    func request(
        _ method: String, _ url: String, _ fields: HTTPFields = [:]
    ) throws -> HTTPRequest {
        let method = try #require(HTTPRequest.Method(method))
        return try #require(HTTPRequest(method: method, url: url, headerFields: fields))
    }

    func failure(
        of request: HTTPRequest, body: [UInt8] = [], _ transport: CurlTransport? = nil
    ) async -> TransportError? {
        do throws(TransportError) {
            _ = try await (transport ?? self.transport).send(request, body: body)
            return nil
        } catch { return error }
    }
}
