import Operations

/// A stream that lies in the store.
public struct LocalStream: Sendable, Hashable {
    /// The file that holds its bytes: as they are, or encrypted where the store is (``isEncrypted``). It never changes, and
    /// goes when neither the service's data nor a pending operation needs it any more: copy what is to stay.
    public let path: String
    /// In bytes.
    public let byteCount: Int
    public let mediaType: String
    /// Whether it was written here and the service does not have it yet.
    public let isPending: Bool
    private let content: StreamContent
    private let key: StreamKey?

    init(_ content: StreamContent, at place: (path: String, key: StreamKey?), isPending: Bool) {
        self.content = content
        self.isPending = isPending
        path = place.path
        key = place.key
        byteCount = Int(clamping: content.byteCount)
        mediaType = content.mediaType
    }

    /// Whether the file is encrypted. Then its bytes come from ``bytes(in:)`` and ``read(_:)`` only.
    public var isEncrypted: Bool { key != nil }

    /// Gives the bytes, chunk after chunk.
    ///
    /// - Throws: `damaged` where the file is gone or is not what was written, and what `take` throws. Of a file that is not
    ///   encrypted only the length is looked at.
    public func read(_ take: ([UInt8]) throws -> Void) throws {
        let reader = try reader()
        while true {
            guard let chunk = reader.next() else { throw damage }
            if chunk.isEmpty { return }
            try take(chunk)
        }
    }

    /// The bytes of a range, which is cut to those that there are.
    ///
    /// Cost: reads the range, of an encrypted stream the chunks of 64 KiB that it touches.
    /// - Throws: as ``read(_:)``.
    public func bytes(in range: Range<Int>) throws(TidelogError) -> [UInt8] {
        let range = range.clamped(to: 0..<byteCount)
        guard let bytes = try reader().bytes(in: UInt64(range.lowerBound)..<UInt64(range.upperBound)) else {
            throw damage
        }
        return bytes
    }

    /// All of them.
    public func bytes() throws(TidelogError) -> [UInt8] { try bytes(in: 0..<byteCount) }

    private func reader() throws(TidelogError) -> StreamReader {
        guard let reader = StreamReader(path, content, key) else { throw damage }
        return reader
    }

    private var damage: TidelogError {
        TidelogError(
            .damaged, "The file of a stream is gone or is not what was written.", place: path,
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
