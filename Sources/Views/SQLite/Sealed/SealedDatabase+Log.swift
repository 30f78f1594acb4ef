import CSQLite

/// The write-ahead log of an encrypted database: a header of 32 bytes, and frames with a header of 24 bytes and a page.
/// The headers are those of SQLite. The first 16 bytes of a frame's header, which describe its page, are authenticated
/// with the page.
extension SealedDatabase {
    /// Returns the frame at an offset of the log, counted from 0, and the byte within the frame.
    private static func position(_ offset: Int) -> (frame: Int, byte: Int) {
        let (frame, byte) = (offset - logHeaderSize).quotientAndRemainder(dividingBy: frameSize)
        return (frame, byte)
    }

    private static func binding(_ header: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        (
            header.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
            header.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        )
    }

    /// Returns whether the frame ends a transaction: its header then contains the size of the database.
    private static func isCommit(_ header: (UInt64, UInt64)) -> Bool { UInt64(littleEndian: header.0) >> 32 != 0 }

    private static func round(_ header: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(littleEndian: header.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    }

    // MARK: Reading

    func readLog(_ log: SystemFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int32 {
        guard offset >= Self.logHeaderSize else { return readLogHeader(log, into: buffer, at: offset) }
        let (frame, byte) = Self.position(offset)
        let isInHeader = byte + buffer.count <= Self.frameHeaderSize
        if isInHeader { return log.read(into: buffer, at: Int64(offset)) }
        let end = byte + buffer.count
        guard byte == 0 || byte == Self.frameHeaderSize, end <= Self.frameSize else { return PageChecks.damageCode }
        let code = log.read(into: scratch, at: Int64(offset - byte))
        guard code == SQLITE_OK else { return code == Self.shortRead ? PageChecks.damageCode : code }
        if open(frame) {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: scratch[byte..<end]))
            return SQLITE_OK
        }
        // SQLite searches for the end of the log, which is here if the last write is incomplete. No frame has a header
        // of zeros. If the log was longer, the mark shows it.
        guard byte == 0, !knowsLog else { return PageChecks.damageCode }
        _ = buffer.initializeMemory(as: UInt8.self, repeating: 0)
        return SQLITE_OK
    }

    /// Opens the page of the frame in the scratch memory.
    private func open(_ frame: Int) -> Bool {
        guard let seal else { return false }
        let header = Self.binding(UnsafeRawBufferPointer(scratch))
        let page = UnsafeMutableRawBufferPointer(rebasing: scratch[Self.frameHeaderSize...])
        guard seal.openPage(UnsafeRawBufferPointer(page), into: page, at: .frame(frame + 1, header)) else {
            return false
        }
        if !knowsLog, Self.isCommit(header) { lastCommit = max(lastCommit, frame + 1) }
        return true
    }

    private func readLogHeader(_ log: SystemFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int32 {
        let code = log.read(into: buffer, at: Int64(offset))
        guard code == SQLITE_OK, offset == 0, buffer.count == Self.logHeaderSize else { return code }
        if Self.round(UnsafeRawBufferPointer(buffer)) == mark.round { return code }
        // The log does not belong to the pages. If the mark requires no frame, the pages are complete without a log: a
        // process ended before it had removed the log, or begun the next round. SQLite treats a header of zeros as no
        // log.
        guard mark.frames == 0 else { return PageChecks.damageCode }
        _ = buffer.initializeMemory(as: UInt8.self, repeating: 0)
        return SQLITE_OK
    }

    // MARK: Writing

    func writeLog(_ log: SystemFile, _ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
        guard canWrite else { return SQLITE_IOERR }
        knowsLog = true
        if offset == 0, bytes.count == Self.logHeaderSize { return beginLog(log, bytes) }
        guard offset >= Self.logHeaderSize else { return SQLITE_IOERR }
        let (frame, byte) = Self.position(offset)
        switch (byte, bytes.count) {
        case (0, Self.frameHeaderSize):
            lastHeader = (frame, Self.binding(bytes))
            return log.write(bytes, at: Int64(offset))
        case (Self.frameHeaderSize, Self.pageSize):
            return write(bytes, to: frame, of: log)
        default:
            // Only sealed content is written.
            return SQLITE_IOERR
        }
    }

    /// Starts a round of the log: the database contains all pages of the previous one.
    private func beginLog(_ log: SystemFile, _ header: UnsafeRawBufferPointer) -> Int32 {
        lastCommit = 0
        let code = setMark(WALMark(round: Self.round(header)))
        return code == SQLITE_OK ? log.write(header, at: 0) : code
    }

    private func write(_ page: UnsafeRawBufferPointer, to frame: Int, of log: SystemFile) -> Int32 {
        let start = Int64(Self.logHeaderSize + frame * Self.frameSize)
        if lastHeader.frame != frame {
            // The transaction writes the page again.
            let header = UnsafeMutableRawBufferPointer(rebasing: scratch[..<Self.frameHeaderSize])
            let code = log.read(into: header, at: start)
            guard code == SQLITE_OK else { return code }
            lastHeader = (frame, Self.binding(UnsafeRawBufferPointer(header)))
        }
        let sealed = UnsafeMutableRawBufferPointer(rebasing: scratch[..<Self.pageSize])
        guard seal != nil, seal!.sealPage(page, into: sealed, at: .frame(frame + 1, lastHeader.header)) else {
            return SQLITE_IOERR
        }
        let code = log.write(UnsafeRawBufferPointer(sealed), at: start + Int64(Self.frameHeaderSize))
        if code == SQLITE_OK, Self.isCommit(lastHeader.header) { lastCommit = max(lastCommit, frame + 1) }
        return code
    }

    func truncateLog(_ log: SystemFile, _ size: Int64) -> Int32 {
        guard canWrite else { return SQLITE_IOERR }
        // First, so that no log is needed that is not there.
        let code = size == 0 ? forgetLog() : SQLITE_OK
        return code == SQLITE_OK ? log.truncate(size) : code
    }
}
