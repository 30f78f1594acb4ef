import Testing

@testable import Transport

struct CurlResultTests {
    /// The error numbers are those in libcurl's documentation.
    @Test(
        arguments: [
            (1, TransportError.Code.invalidRequest), (3, .invalidRequest),
            (6, .resolve), (5, .resolve),
            (7, .unreachable), (8, .protocolViolation),
            (61, .protocolViolation), (18, .truncated),
            (28, .timeout), (35, .tls),
            (60, .tls), (52, .disconnected),
            (55, .disconnected), (56, .disconnected), (92, .disconnected),
            (27, .other), (9999, .other),
        ] as [(Int32, TransportError.Code)])
    func `each result of libcurl is mapped to an error code`(_ result: Int32, _ code: TransportError.Code) {
        #expect(CurlResult.code(result) == code)
    }
}
