package import Operations

/// The content of a media stream in a file: in the store or, online, in a temporary file.
public struct LocalStream: Sendable, Hashable {
    /// The path of the file, which is encrypted if the store is (``isEncrypted``).
    ///
    /// The file never changes. It is removed when neither the service's version nor a pending operation needs it any
    /// more, and a temporary file with the last copy of this value, so copy it to keep it.
    public let path: String
    /// The size of the content in bytes.
    public let byteCount: Int
    /// The media type, such as `image/jpeg`.
    public let mediaType: String
    /// A Boolean value that indicates whether the content was written locally and not uploaded yet.
    public let isPending: Bool
    package let content: StreamContent
    private let key: StreamKey?
    /// Keeps a temporary file.
    private let owner: TransientStream?

    init(
        _ content: StreamContent, at place: (path: String, key: StreamKey?), isPending: Bool,
        owner: TransientStream? = nil
    ) {
        self.content = content
        self.owner = owner
        self.isPending = isPending
        path = place.path
        key = place.key
        byteCount = Int(clamping: content.byteCount)
        mediaType = content.mediaType
    }

    /// A Boolean value that indicates whether the file is encrypted. If so, only ``bytes(in:)`` and ``read(_:)`` return
    /// its content.
    public var isEncrypted: Bool { key != nil }

    /// Passes the bytes in chunks.
    ///
    /// - Throws: `damaged` if the file is missing or has changed, and the errors of `take`. For an unencrypted file
    ///   only the length is checked.
    public func read(_ take: ([UInt8]) throws -> Void) throws {
        let reader = try reader()
        while true {
            guard let chunk = reader.next() else { throw damage }
            if chunk.isEmpty { return }
            try take(chunk)
        }
    }

    /// Returns the bytes of a range, clamped to the content.
    ///
    /// Cost: reads the range; for an encrypted stream, the chunks of 64 KiB that overlap it.
    /// - Throws: The errors of ``read(_:)``.
    public func bytes(in range: Range<Int>) throws(TidelogError) -> [UInt8] {
        let range = range.clamped(to: 0..<byteCount)
        guard let bytes = try reader().bytes(in: UInt64(range.lowerBound)..<UInt64(range.upperBound)) else {
            throw damage
        }
        return bytes
    }

    /// Returns all bytes.
    ///
    /// - Throws: `damaged` if the file is missing or was changed.
    public func bytes() throws(TidelogError) -> [UInt8] { try bytes(in: 0..<byteCount) }

    private func reader() throws(TidelogError) -> StreamReader {
        guard let reader = StreamReader(path, content, key) else { throw damage }
        return reader
    }

    private var damage: TidelogError {
        TidelogError(
            .damaged, "The file of a stream is missing or was changed after it was written.", place: path,
            recovery: isPending ? "Write the stream again." : "Download the stream again.")
    }

    public static func == (one: LocalStream, other: LocalStream) -> Bool {
        one.path == other.path && one.content == other.content && one.isPending == other.isPending
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(isPending)
    }
}
