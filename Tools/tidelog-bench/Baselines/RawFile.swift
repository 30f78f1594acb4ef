internal import CBench
internal import Foundation

/// A baseline that appends bytes to a file in plain C: the upper limit for any log.
final class RawFile {
    private let descriptor: Int32
    private var offset: UInt64 = 0

    init(path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o644)
        guard descriptor >= 0 else { throw Failure("\(path) cannot be created: error \(errno).") }
    }

    deinit { close(descriptor) }

    /// Writes pieces of these lengths, each with one call, and syncs after each if `isSynced`.
    func write(_ bytes: UnsafePointer<UInt8>, lengths: UnsafePointer<UInt32>, count: Int, isSynced: Bool) throws {
        let error = bench_write_pieces(descriptor, bytes, lengths, count, offset, isSynced ? 1 : 0)
        guard error == 0 else { throw Failure("Writing the raw file failed with error \(error).") }
        offset += (0..<count).reduce(0) { $0 + UInt64(lengths[$1]) }
    }
}

extension RawFile {
    /// Writes the payloads of some records with one call, without waiting for the disk.
    func write(_ records: EncodedRecords, _ range: Range<Int>) throws {
        try records.withRaw(range) { bytes, lengths in
            let total = range.indices.reduce(UInt32(0)) { $0 + lengths[$1 - range.lowerBound] }
            try withUnsafePointer(to: total) { try write(bytes, lengths: $0, count: 1, isSynced: false) }
        }
    }
}
