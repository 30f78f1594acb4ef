/// Bounds on the time and the bytes that one exchange may take, so that no service can hold up an app for ever or use up its
/// memory. An exchange that exceeds one ends with ``TransportError/Code/timeout`` or ``TransportError/Code/tooLarge``.
public struct ResponseLimits: Sendable, Hashable {
    // MARK: Time

    /// For name resolution, connection and TLS handshake together.
    public var connectTimeout: Duration = .seconds(30)
    /// From the last byte of the request to the end of the response's head: the time in which the service prepares its
    /// response, and in which it sends the head. Nil for no limit. URLSession has ``idleTimeout`` instead.
    public var headTimeout: Duration? = .seconds(120)
    /// How long an exchange may be slower than ``minimumSpeed``, in steps of a second. It includes the time in which the
    /// service prepares its response.
    public var idleTimeout: Duration? = .seconds(120)
    /// In bytes per second. URLSession knows no speed: there it is one byte in the ``idleTimeout``.
    public var minimumSpeed = 128
    /// For the whole exchange; nil for no limit.
    public var totalTimeout: Duration? = .seconds(3_600)
    /// Instead of ``totalTimeout``, for the content of a media stream, which goes to a file.
    public var mediaTimeout: Duration? = .seconds(86_400)

    // MARK: Bytes

    /// The largest body that is held in memory, decoded: metadata, single entities, answers to batches.
    public var bufferedBytes: Int64 = 64 << 20
    /// The largest body that is read while it arrives, decoded: a page of a download.
    public var streamedBytes: Int64 = 1 << 30
    /// The largest content of a media stream, decoded.
    public var mediaBytes: Int64 = 16 << 30
    /// How much is received of the body of a failure (status 400 and up); the rest is cut off. Of a redirect's body no more
    /// is received either, and nearly nothing kept: a larger one is an error.
    public var refusalBytes: Int64 = 1 << 20
    /// How many times as large as what was received a body may become by decompression. It is looked at beyond the first
    /// 8 MiB.
    public var expansion: Int64 = 200

    public var maximumRedirects = 5

    public init() {}
}
