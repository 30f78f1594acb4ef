public import OperationLog

/// What a log takes on disk, and what its records would take without compression.
public struct LogSize: Sendable, Hashable {
    public let records: UInt64
    public let segments: Int
    public let blocks: Int
    /// The records as they were encoded, with the log's own framing of each.
    public let rawBytes: UInt64
    /// What is kept of them: compressed, without block headers.
    public let storedBytes: UInt64
    /// The files, headers and all.
    public let fileBytes: UInt64

    public init(_ verification: LogVerification) {
        records = verification.records
        segments = verification.segments.count
        blocks = verification.blocks
        rawBytes = verification.segments.reduce(0) { $0 + $1.rawBytes }
        storedBytes = verification.segments.reduce(0) { $0 + $1.storedBytes }
        fileBytes = verification.segments.reduce(0) { $0 + $1.fileBytes }
    }

    /// How many times smaller the records are in the files, headers counted; nil for an empty log.
    public var ratio: Double? {
        rawBytes > 0 && fileBytes > 0 ? Double(rawBytes) / Double(fileBytes) : nil
    }
}
