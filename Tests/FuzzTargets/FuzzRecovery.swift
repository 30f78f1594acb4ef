import OperationLog

/// Opens a log after the end of its last segment was replaced by fuzzed bytes.
///
/// Bit 0 of the first byte determines whether checksums are corrected (0) or not (1). Its other bits are the number of
/// bytes that are replaced by the remaining bytes of the input.
///
/// Required: opening either refuses and changes nothing, or keeps all records that a reader returned, including all
/// records before the replaced bytes. Afterwards the log accepts a commit and passes verification.
func fuzzRecovery(_ input: [UInt8]) throws(Finding) {
    guard let options = input.first else { return }
    let (files, last, intact) = FuzzLog.written(cutting: Int(options >> 1))
    var bytes = (files[last] ?? [])
    let start = bytes.count
    bytes += input.dropFirst()
    if options & 1 == 0 { bytes = ChecksumRepair.segment(bytes, from: start) }
    files[last] = bytes

    let before = FuzzLog.read(files)
    let content = files.content
    let log: OperationLog
    let recovery: RecoveryReport
    do throws(LogError) {
        (log, recovery) = try OperationLog.open(
            directory: FuzzLog.directory, options: .init(compression: .stored), fileSystem: files)
    } catch {
        try require(files.content == content, "refused with \(error), and changed files")
        return
    }
    let kept = recovery.nextSequence - 1
    try require(kept >= intact, "\(intact) records were in front of the change, \(kept) were kept: \(recovery)")
    // Recovery does not decompress, so a reader may find invalid content in the kept blocks.
    try require(
        before.failure != nil || UInt64(before.records.count) == kept,
        "a reader saw \(before.records.count) records, \(kept) were kept: \(recovery)")
    let record = (kind: UInt8(9), payload: Array("afterwards".utf8))
    let range: ClosedRange<UInt64>
    do throws(LogError) {
        range = try log.append([record])
    } catch {
        throw Finding("not to be appended to: \(error)")
    }
    try require(range == kept + 1...kept + 1, "the next record got the number \(range)")
    log.close()
    let after = FuzzLog.read(files)
    try require(
        after.records.starts(with: before.records), "records that a reader had seen are gone: \(recovery)")
    if before.failure == nil {
        let appended = LogRecord(sequence: kept + 1, kind: record.kind, payload: record.payload)
        try require(after.failure == nil, "\(String(describing: after.failure)) after appending")
        try require(after.records == before.records + [appended], "other records than were there and were appended")
        guard let report = try? LogVerification.verify(directory: FuzzLog.directory, fileSystem: files),
            report.isSound, report.tail == nil
        else { throw Finding("not sound after appending: \(recovery)") }
    }
}
