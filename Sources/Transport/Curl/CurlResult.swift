import CCurl

/// The one place where libcurl's results become ours.
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

    static func sentence(_ code: TransportError.Code) -> String {
        switch code {
        case .invalidRequest: "the URL cannot be used"
        case .resolve: "the host name has no address"
        case .unreachable: "nothing answers there"
        case .tls: "no secure connection could be made"
        case .disconnected: "the connection broke"
        case .truncated: "the response ended too early"
        case .timeout: "it took too long"
        case .protocolViolation: "what came back is not HTTP as it should be"
        default: "it failed"
        }
    }
}
