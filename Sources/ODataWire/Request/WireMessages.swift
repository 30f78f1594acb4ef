/// An HTTP request, on its own or as a part of a batch.
public struct WireRequest: Sendable, Hashable {
    /// The method, including `MERGE`.
    public var method: String
    /// The URL: relative to the service root (no leading slash), absolute, or beginning with `$<Content-ID>` inside of
    /// a change set.
    public var url: String
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; empty if there is none.
    public var body: [UInt8]

    /// Creates a request.
    public init(method: String, url: String, headers: HTTPHeaders = .empty, body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// An HTTP response, on its own or as a part of a batch.
public struct WireResponse: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; empty if there is none.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: Int, headers: HTTPHeaders = .empty, body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A Boolean value that indicates whether the status is from 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }
}
