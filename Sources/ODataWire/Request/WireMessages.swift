/// An HTTP request, on its own or as a part of a batch.
public struct WireRequest: Sendable, Hashable {
    /// The method, including `MERGE`.
    public var method: String
    /// The URL: relative to the service root (no leading slash), absolute, or beginning with `$<Content-ID>` inside of
    /// a change set.
    public var url: String
    public var headers: HTTPHeaders
    public var body: [UInt8]

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
    public var headers: HTTPHeaders
    public var body: [UInt8]

    public init(status: Int, headers: HTTPHeaders = .empty, body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A Boolean value that indicates whether the status is from 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }
}
