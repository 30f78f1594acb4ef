/// A stream that lies in the store.
public struct LocalStream: Sendable, Hashable {
    /// The file that holds its bytes. It never changes, and goes when neither the service's data nor a pending operation
    /// needs it any more: copy what is to stay.
    public let path: String
    /// In bytes.
    public let byteCount: Int
    public let mediaType: String
    /// Whether it was written here and the service does not have it yet.
    public let isPending: Bool
}
