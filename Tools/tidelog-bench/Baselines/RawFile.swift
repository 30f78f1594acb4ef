internal import CBench
internal import Foundation

/// Bytes written to the end of a file by plain C: what no log can be faster than.
final class RawFile {
    private let descriptor: Int32
    private var offset: UInt64 = 0

    init(path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o644)
        guard descriptor >= 0 else { throw Failure("\(path) cannot be made: error \(errno).") }
    }

    deinit { close(descriptor) }

    /// Writes pieces of these lengths, each by one call, and syncs behind each if `isSynced`.
    func write(_ bytes: UnsafePointer<UInt8>, lengths: UnsafePointer<UInt32>, count: Int, isSynced: Bool) throws {
        let error = bench_write_pieces(descriptor, bytes, lengths, count, offset, isSynced ? 1 : 0)
        guard error == 0 else { throw Failure("Writing the raw file failed with error \(error).") }
        offset += (0..<count).reduce(0) { $0 + UInt64(lengths[$1]) }
    }
}

extension RawFile {
    /// The payloads of some records by one call, without waiting for the disk.
    func write(_ records: EncodedRecords, _ range: Range<Int>) throws {
        try records.withRaw(range) { bytes, lengths in
            let total = range.indices.reduce(UInt32(0)) { $0 + lengths[$1 - range.lowerBound] }
            try withUnsafePointer(to: total) { try write(bytes, lengths: $0, count: 1, isSynced: false) }
        }
    }
}
