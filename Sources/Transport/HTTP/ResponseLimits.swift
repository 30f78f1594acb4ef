/// Bounds on the duration and size of an exchange, so that no service can block an app or exhaust its memory.
///
/// An exchange that exceeds a bound ends with ``TransportError/Code/timeout`` or ``TransportError/Code/tooLarge``.
public struct ResponseLimits: Sendable, Hashable {
    // MARK: Time

    /// The time for name resolution, connection and TLS handshake together.
    public var connectTimeout: Duration = .seconds(30)
    /// The time from the last byte of the request to the end of the response's head, in which the service prepares
    /// the response. `nil` for no limit. URLSession uses ``idleTimeout`` instead.
    public var headTimeout: Duration? = .seconds(120)
    /// How long an exchange may be slower than ``minimumSpeed``, in steps of a second. Includes the time in which the
    /// service prepares its response.
    public var idleTimeout: Duration? = .seconds(120)
    /// The minimum speed in bytes per second. URLSession has no such limit and requires one byte per ``idleTimeout``.
    public var minimumSpeed = 128
    /// The time for the whole exchange; `nil` for no limit.
    public var totalTimeout: Duration? = .seconds(3_600)
    /// Replaces ``totalTimeout`` for the content of a media stream, which is written to a file.
    public var mediaTimeout: Duration? = .seconds(86_400)

    // MARK: Bytes

    /// The maximum decoded size of a body that is held in memory: metadata, single entities, responses to batches.
    public var bufferedBytes: Int64 = 64 << 20
    /// The maximum decoded size of a body that is read while it arrives: a page of a download.
    public var streamedBytes: Int64 = 1 << 30
    /// The maximum decoded size of the content of a media stream.
    public var mediaBytes: Int64 = 16 << 30
    /// The maximum number of bytes received of the body of a failure (status 400 and above); the rest is discarded.
    /// The limit also applies to the body of a redirect, of which little is kept; a larger one is an error.
    public var refusalBytes: Int64 = 1 << 20
    /// The maximum factor by which decompression may expand a body. Not checked for the first 8 MiB.
    public var expansion: Int64 = 200

    /// The maximum number of redirects that an exchange follows.
    public var maximumRedirects = 5

    /// Creates the default limits.
    public init() {}
}
