package import OperationLog

/// The size of a log on disk, and of its uncompressed records.
package struct LogSize: Sendable, Hashable {
    package let records: UInt64
    package let segments: Int
    package let blocks: Int
    /// The size of the encoded records with the log's framing of each.
    package let rawBytes: UInt64
    /// The size of the compressed records, without block headers.
    package let storedBytes: UInt64
    /// The size of the files, including headers.
    package let fileBytes: UInt64

    package init(_ verification: LogVerification) {
        records = verification.records
        segments = verification.segments.count
        blocks = verification.blocks
        rawBytes = verification.segments.reduce(0) { $0 + $1.rawBytes }
        storedBytes = verification.segments.reduce(0) { $0 + $1.storedBytes }
        fileBytes = verification.segments.reduce(0) { $0 + $1.fileBytes }
    }

    /// The compression ratio of the files, including headers; nil for an empty log.
    package var ratio: Double? {
        rawBytes > 0 && fileBytes > 0 ? Double(rawBytes) / Double(fileBytes) : nil
    }
}
