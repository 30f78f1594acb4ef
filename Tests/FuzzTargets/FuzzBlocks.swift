import OperationLog

/// Reads and verifies a log whose first and only segment is fuzzed.
///
/// The lowest bit of the first byte determines whether checksums are corrected (0) or not (1). The remaining bytes are
/// the segment.
///
/// Required: reading ends with the last record or a typed error; verification agrees with the reader; reading from the
/// middle returns the same records as reading from the start.
func fuzzBlocks(_ input: [UInt8], keys: [LogKey]) throws(Finding) {
    guard let options = input.first else { return }
    var bytes = Array(input.dropFirst())
    if options & 1 == 0 { bytes = ChecksumRepair.segment(bytes) }
    let files = MemoryFileSystem()
    files[FuzzLog.segment(1)] = bytes
    let all = FuzzLog.read(files, keys: keys)
    for (index, record) in all.records.enumerated() {
        try require(record.sequence == UInt64(index + 1), "record \(index + 1) has the number \(record.sequence)")
    }
    if let report = try? LogVerification.verify(
        directory: FuzzLog.directory, keys: keys, fileSystem: files)
    {
        try require(
            all.failure != nil || report.tail != nil || report.records == UInt64(all.records.count),
            "the reader gave \(all.records.count) records, verification counts \(report)")
        // The converse does not hold, because verification may report more: a reader ignores the bytes after the
        // trailer.
        try require(
            all.failure == nil || !report.isSound, "the reader ended with \(String(describing: all.failure)): \(report)"
        )
    }
    let middle = UInt64(all.records.count / 2) + 1
    let rest = FuzzLog.read(files, from: middle, keys: keys)
    try require(
        rest.records == Array(all.records.dropFirst(Int(middle) - 1)),
        "from \(middle) on other records were read than from the start")
    try require(files[FuzzLog.segment(1)] == bytes, "reading changed the file")
}
