/// A file that contains the state before a record, so that reading can begin with that record.
package struct SnapshotFile: Sendable, Hashable {
    /// The first record that the state does not include, with which reading continues.
    package let sequence: UInt64
    package let path: String
    package let bytes: UInt64

    package init(sequence: UInt64, path: String, bytes: UInt64) {
        self.sequence = sequence
        self.path = path
        self.bytes = bytes
    }
}

/// The totals of a snapshot that was read.
package struct SnapshotContents: Sendable, Hashable {
    package internal(set) var items: UInt64 = 0
    package internal(set) var blocks = 0
    /// The size of the items uncompressed, and the size of their blocks in the file without headers.
    package internal(set) var rawBytes: UInt64 = 0
    package internal(set) var storedBytes: UInt64 = 0
}
