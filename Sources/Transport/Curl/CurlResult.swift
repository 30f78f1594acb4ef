import CCurl

/// Maps libcurl's results to transport errors.
enum CurlResult {
    static func code(_ result: Int32) -> TransportError.Code {
        switch Int(result) {
        case CCURL_UNSUPPORTED_PROTOCOL, CCURL_URL_MALFORMAT: .invalidRequest
        case CCURL_COULDNT_RESOLVE_HOST, CCURL_COULDNT_RESOLVE_PROXY: .resolve
        case CCURL_COULDNT_CONNECT: .unreachable
        case CCURL_WEIRD_SERVER_REPLY, CCURL_BAD_CONTENT_ENCODING: .protocolViolation
        case CCURL_PARTIAL_FILE: .truncated
        case CCURL_OPERATION_TIMEDOUT: .timeout
        case CCURL_SSL_CONNECT_ERROR, CCURL_SSL_ENGINE_NOTFOUND, CCURL_SSL_CERTPROBLEM, CCURL_SSL_CIPHER,
            CCURL_PEER_FAILED_VERIFICATION, CCURL_SSL_CACERT_BADFILE:
            .tls
        case CCURL_GOT_NOTHING, CCURL_SEND_ERROR, CCURL_RECV_ERROR, CCURL_HTTP2, CCURL_HTTP2_STREAM: .disconnected
        default: .other
        }
    }

    /// Whether libcurl failed because headers exceed its limits: 100 KiB for one, 300 KiB for all of them.
    ///
    /// - Parameters:
    ///   - detail: libcurl's error text.
    ///   - inHead: whether the head of the response is incomplete.
    static func isTooLarge(_ result: Int32, detail: String, inHead: Bool) -> Bool {
        switch Int(result) {
        case CCURL_TOO_LARGE: true
        // No other unbounded part of a response needs much memory.
        case CCURL_OUT_OF_MEMORY: inHead
        case CCURL_RECV_ERROR: detail.hasPrefix("Too large response headers")
        default: false
        }
    }

    static func sentence(_ code: TransportError.Code) -> String {
        switch code {
        case .invalidRequest: "the URL is not valid"
        case .resolve: "the host name cannot be resolved"
        case .unreachable: "the server refused the connection"
        case .tls: "no secure connection could be established"
        case .disconnected: "the connection was lost"
        case .truncated: "the response ended too early"
        case .timeout: "it timed out"
        case .tooLarge: "a header of the response exceeds the limit of libcurl (100 KiB)"
        case .protocolViolation: "the response is not valid HTTP"
        default: "it failed"
        }
    }
}
