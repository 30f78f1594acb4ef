/// A file that holds the state in front of a record, so that reading can begin with that record.
public struct SnapshotFile: Sendable, Hashable {
    /// The first record that the state does not include. Who has the state goes on with the records from here on.
    public let sequence: UInt64
    public let path: String
    public let bytes: UInt64

    public init(sequence: UInt64, path: String, bytes: UInt64) {
        self.sequence = sequence
        self.path = path
        self.bytes = bytes
    }
}

/// What reading a whole snapshot showed.
public struct SnapshotContents: Sendable, Hashable {
    public internal(set) var items: UInt64 = 0
    public internal(set) var blocks = 0
    /// What the items take uncompressed, and what their blocks take in the file without headers.
    public internal(set) var rawBytes: UInt64 = 0
    public internal(set) var storedBytes: UInt64 = 0
}
