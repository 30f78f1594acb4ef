import CSQLite

/// A database file with encrypted and authenticated pages, and its write-ahead log.
///
/// SQLite works on plain pages. Below its cache, pages are sealed here before they are written to the disk, and opened
/// after they are read. The database consists of a header (``SealedHeader``) and the pages, each as long as in a plain
/// file. The write-ahead log is that of SQLite, with the page in each frame sealed.
///
/// A page that cannot be opened is damage: ``PageChecks/damageCode``. All other files of SQLite, such as a journal or
/// temporary tables, are refused: ``SealedVFS``.
final class SealedDatabase {
    static let pageSize = PageChecks.pageSize
    static let frameHeaderSize = 24
    static let frameSize = frameHeaderSize + pageSize
    static let logHeaderSize = 32
    /// SQLite's code for a read past the end of a file: `SQLITE_IOERR_SHORT_READ`, which Swift does not import.
    static let shortRead = SQLITE_IOERR | (2 << 8)

    private let key: ViewsKey
    /// The reason why the file could not be opened.
    private(set) var failure: SQLiteError?
    private var file: SystemFile?
    private(set) var canWrite = false
    /// Nil before the file was opened.
    var seal: PageSeal?
    private var pageCount = 0
    /// The mark as stored in the file.
    private(set) var mark = WALMark.none
    /// The last known frame of the write-ahead log that ends a transaction.
    var lastCommit = 0
    /// Whether SQLite has finished the search for the end of the write-ahead log.
    var knowsLog = false
    /// The frame whose header was written last, and the part of the header to which the page is bound.
    var lastHeader: (frame: Int, header: (UInt64, UInt64)) = (0, (0, 0))
    /// Memory for one frame.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: SealedDatabase.frameSize, alignment: 16)

    init(_ key: ViewsKey) { self.key = key }

    deinit { scratch.deallocate() }

    private func fail(_ message: String, _ code: Int32 = SQLITE_NOTADB) -> Int32 {
        failure = SQLiteError(code: code, message: message, sql: nil)
        return code
    }

    // MARK: Opening

    func open(_ file: SystemFile, canWrite: Bool) -> Int32 {
        self.file = file
        self.canWrite = canWrite
        var size: Int64 = 0
        let code = file.getSize(&size)
        guard code == SQLITE_OK else { return code }
        if size == 0, canWrite { return create(file) }
        var bytes = [UInt8](repeating: 0, count: SealedHeader.size)
        guard size >= SealedHeader.size, bytes.withUnsafeMutableBytes({ file.read(into: $0, at: 0) }) == SQLITE_OK
        else {
            return fail("their beginning is missing")
        }
        guard let header = SealedHeader(bytes) else {
            if bytes.starts(with: "SQLite format 3".utf8) { return fail("they are not encrypted", SQLITE_AUTH) }
            return fail("their beginning was changed after it was written")
        }
        guard header.keyIdentifier == key.identifier else {
            return fail("they are encrypted with another key", SQLITE_AUTH)
        }
        let seal = PageSeal(key.fileKey(salt: header.salt))
        var mark = [UInt8](repeating: 0, count: WALMark.size)
        let opens = header.sealedMark.withUnsafeBytes { sealed in
            mark.withUnsafeMutableBytes { seal.open(sealed, into: $0, at: .mark) }
        }
        guard opens else { return fail("their beginning was changed after it was written") }
        guard (Int(size) - SealedHeader.size) % Self.pageSize == 0 else { return fail("they end inside a page") }
        self.mark = mark.withUnsafeBytes { WALMark($0) }
        self.seal = seal
        pageCount = (Int(size) - SealedHeader.size) / Self.pageSize
        return SQLITE_OK
    }

    private func create(_ file: SystemFile) -> Int32 {
        let salt = SealedHeader.randomSalt()
        var seal = PageSeal(key.fileKey(salt: salt))
        guard let mark = Self.sealed(.none, with: &seal) else { return SQLITE_IOERR }
        self.seal = seal
        let header = SealedHeader(keyIdentifier: key.identifier, salt: salt, sealedMark: mark)
        return header.encoded().withUnsafeBytes { file.write($0, at: 0) }
    }

    /// Returns the number of the first page that is not authentic among the first `limit` bytes, or nil if there is
    /// none.
    func firstWrongPage(limit: Int) -> Int? {
        guard let file, let seal else { return nil }
        let batch = 64 * Self.pageSize
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: batch, alignment: 16)
        defer { buffer.deallocate() }
        for first in stride(from: 0, to: min(pageCount, limit / Self.pageSize), by: 64) {
            let count = min(64, pageCount - first)
            let pages = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * Self.pageSize)])
            guard file.read(into: pages, at: Self.place(ofPage: first)) == SQLITE_OK else { return first + 1 }
            for index in 0..<count {
                let range = index * Self.pageSize..<(index + 1) * Self.pageSize
                let page = UnsafeMutableRawBufferPointer(rebasing: pages[range])
                guard seal.open(UnsafeRawBufferPointer(page), into: page, at: .page(first + index + 1)) else {
                    return first + index + 1
                }
            }
        }
        return nil
    }

    /// Refuses further writes, so that a damaged database does not look intact when it is opened again.
    func refuseWrites() { canWrite = false }

    // MARK: Mark

    private static func sealed(_ mark: WALMark, with seal: inout PageSeal) -> [UInt8]? {
        var sealed = [UInt8](repeating: 0, count: SealedHeader.markSize)
        let isSealed = mark.bytes.withUnsafeBytes { bytes in
            sealed.withUnsafeMutableBytes { seal.seal(bytes, into: $0, at: .mark) }
        }
        return isSealed ? sealed : nil
    }

    func setMark(_ new: WALMark) -> Int32 {
        guard new != mark else { return SQLITE_OK }
        guard canWrite, let file, seal != nil, let sealed = Self.sealed(new, with: &seal!) else { return SQLITE_IOERR }
        let code = sealed.withUnsafeBytes { file.write($0, at: Int64(SealedHeader.markOffset)) }
        if code == SQLITE_OK { mark = new }
        return code
    }

    /// Clears the mark and syncs the file.
    func forgetLog() -> Int32 {
        guard mark != .none else { return SQLITE_OK }
        let code = setMark(.none)
        lastCommit = 0
        return code == SQLITE_OK ? file?.sync(SQLITE_SYNC_NORMAL) ?? SQLITE_OK : code
    }

    // MARK: Pages

    private static func place(ofPage index: Int) -> Int64 { Int64(SealedHeader.size + index * pageSize) }

    var size: Int64 { Int64(pageCount * Self.pageSize) }

    /// Reads a page or a part of it: SQLite reads the start of the first page before it knows the size of a page.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int32 {
        guard let file, let seal else { return SQLITE_IOERR }
        let (index, start) = offset.quotientAndRemainder(dividingBy: Self.pageSize)
        guard start + buffer.count <= Self.pageSize else { return PageChecks.damageCode }
        guard index < pageCount else {
            _ = buffer.initializeMemory(as: UInt8.self, repeating: 0)
            // Every page of the database that is not in the log was written.
            return pageCount == 0 ? Self.shortRead : PageChecks.damageCode
        }
        let isWhole = buffer.count == Self.pageSize
        let page = isWhole ? buffer : UnsafeMutableRawBufferPointer(rebasing: scratch[..<Self.pageSize])
        let code = file.read(into: page, at: Self.place(ofPage: index))
        guard code == SQLITE_OK else { return code == Self.shortRead ? PageChecks.damageCode : code }
        guard seal.openPage(UnsafeRawBufferPointer(page), into: page, at: .page(index + 1)) else {
            return PageChecks.damageCode
        }
        if !isWhole { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: page[start..<start + buffer.count])) }
        return SQLITE_OK
    }

    /// Writes a page. Fills the space between the end of the file and the page with empty pages, so that every page can
    /// be opened.
    func write(_ page: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
        let (index, start) = offset.quotientAndRemainder(dividingBy: Self.pageSize)
        guard canWrite, page.count == Self.pageSize, start == 0 else { return SQLITE_IOERR }
        if lastCommit > mark.frames {
            let code = setMark(WALMark(round: mark.round, frames: UInt64(lastCommit)))
            guard code == SQLITE_OK else { return code }
        }
        let code = fill(to: index)
        guard code == SQLITE_OK else { return code }
        return put(page, at: index)
    }

    private func put(_ page: UnsafeRawBufferPointer, at index: Int) -> Int32 {
        guard let file, seal != nil else { return SQLITE_IOERR }
        let sealed = UnsafeMutableRawBufferPointer(rebasing: scratch[..<Self.pageSize])
        guard seal!.sealPage(page, into: sealed, at: .page(index + 1)) else { return SQLITE_IOERR }
        let code = file.write(UnsafeRawBufferPointer(sealed), at: Self.place(ofPage: index))
        if code == SQLITE_OK { pageCount = max(pageCount, index + 1) }
        return code
    }

    private func fill(to count: Int) -> Int32 {
        while pageCount < count {
            let code = withUnsafeTemporaryAllocation(byteCount: Self.pageSize, alignment: 16) { page in
                _ = page.initializeMemory(as: UInt8.self, repeating: 0)
                return put(UnsafeRawBufferPointer(page), at: pageCount)
            }
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    func truncate(_ size: Int) -> Int32 {
        guard canWrite, let file, size % Self.pageSize == 0 else { return SQLITE_IOERR }
        let count = size / Self.pageSize
        guard count < pageCount else { return fill(to: count) }
        let code = file.truncate(Self.place(ofPage: count))
        if code == SQLITE_OK { pageCount = count }
        return code
    }
}
