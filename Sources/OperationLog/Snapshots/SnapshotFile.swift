/// A file that contains the state before a record, so that reading can begin with that record.
public struct SnapshotFile: Sendable, Hashable {
    /// The first record that the state does not include, with which reading continues.
    public let sequence: UInt64
    public let path: String
    public let bytes: UInt64

    public init(sequence: UInt64, path: String, bytes: UInt64) {
        self.sequence = sequence
        self.path = path
        self.bytes = bytes
    }
}

/// The totals of a snapshot that was read.
public struct SnapshotContents: Sendable, Hashable {
    public internal(set) var items: UInt64 = 0
    public internal(set) var blocks = 0
    /// The size of the items uncompressed, and the size of their blocks in the file without headers.
    public internal(set) var rawBytes: UInt64 = 0
    public internal(set) var storedBytes: UInt64 = 0
}
