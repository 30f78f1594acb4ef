import CPlatform
import CSQLite
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A checksum in each page of a database file. Pages that changed on the disk, or that another program wrote, are
/// detected when they are read.
///
/// SQLite itself checks only the pages of its write-ahead log. Here the last ``reservedBytes`` of each page contain a
/// mark and the CRC-32C of the page's number and the rest of its content. They are computed when a page is written to
/// the database file and verified whenever it is read from it, by a VFS (SQLite's interface to files) that differs from
/// the system's only in these two calls. For any other program the file is an ordinary one; pages that such a program
/// writes have no valid checksum.
///
/// The checksum detects accidental damage and changes by other programs. It is no protection against an attacker, who
/// can compute it too.
enum PageChecks {
    /// The number of bytes at the start of a file that are checked when it is opened, in a few milliseconds; a quarter
    /// of it for an encrypted file, which takes longer. All other pages are checked when they are read.
    static let bytesCheckedAtOpening = 16 << 20

    static let pageSize = 4_096
    /// The number of bytes at the end of each page.
    static let reservedBytes = 8
    /// The code that SQLite returns for a page with a wrong checksum: `SQLITE_IOERR_DATA`, which Swift does not import.
    static let damageCode = SQLITE_IOERR | (32 << 8)
    /// "TLPG": distinguishes a page without a checksum from a page with a wrong one.
    private static let mark: UInt32 = 0x4750_4C54

    // MARK: Pages

    /// Returns the checksum of a page whose first byte is at `offset` in its file.
    private static func checksum(_ page: UnsafeRawBufferPointer, at offset: Int64) -> UInt32 {
        var number = offset.littleEndian
        let start = tidelog_crc32c(0, &number, 8)
        return tidelog_crc32c(start, page.baseAddress, pageSize - reservedBytes)
    }

    fileprivate static func store(into page: UnsafeMutableRawBufferPointer, at offset: Int64) {
        let checksum = checksum(UnsafeRawBufferPointer(page), at: offset)
        page.storeBytes(of: mark.littleEndian, toByteOffset: pageSize - reservedBytes, as: UInt32.self)
        page.storeBytes(of: checksum.littleEndian, toByteOffset: pageSize - 4, as: UInt32.self)
    }

    /// Returns whether the checksum of the page is valid. A page of zeros was never written: SQLite skips unneeded
    /// pages when a file grows.
    fileprivate static func holds(_ page: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        let found = UInt32(littleEndian: page.loadUnaligned(fromByteOffset: pageSize - reservedBytes, as: UInt32.self))
        if found == mark {
            let stored = UInt32(littleEndian: page.loadUnaligned(fromByteOffset: pageSize - 4, as: UInt32.self))
            return stored == checksum(page, at: offset)
        }
        return offset > 0 && page.allSatisfy { $0 == 0 }
    }

    fileprivate static func isPage(_ count: Int32, _ offset: Int64) -> Bool {
        count == Int32(pageSize) && offset % Int64(pageSize) == 0
    }

    /// Returns the number of the first page with a wrong checksum among the first `limit` bytes of the file; nil if
    /// there is none, or no file. Pages with a newer version in the write-ahead log are checked too.
    static func firstWrongPage(of path: String, limit: Int) -> Int? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let pages = 64
        var buffer = [UInt8](repeating: 0, count: pages * pageSize)
        var offset = 0
        while offset < limit {
            let count = buffer.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(offset)) }
            guard count > 0 else { return nil }
            let wrong = buffer.withUnsafeBytes { bytes in
                stride(from: 0, to: count - pageSize + 1, by: pageSize).first { start in
                    let page = UnsafeRawBufferPointer(rebasing: bytes[start..<start + pageSize])
                    return !holds(page, at: Int64(offset + start))
                }
            }
            if let wrong { return (offset + wrong) / pageSize + 1 }
            offset += count - count % pageSize
            // The file ends within a page.
            if count < pageSize { return count == 0 ? nil : offset / pageSize + 1 }
        }
        return nil
    }

    // MARK: VFS

    /// The name of the VFS in SQLite, or nil to use the system's if it is unknown.
    static let vfsName: String? = register()

    /// The system's VFS. SQLite never deallocates it.
    private nonisolated(unsafe) static var system: UnsafeMutablePointer<sqlite3_vfs>?

    private static func register() -> String? {
        guard let system = sqlite3_vfs_find(nil) else { return nil }
        self.system = system
        let name = "tidelog-pages"
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: system.pointee)
        own.pointee.pNext = nil
        own.pointee.zName = UnsafePointer(strdup(name))
        own.pointee.xOpen = { _, path, file, flags, outFlags in
            guard let system = PageChecks.system, let open = system.pointee.xOpen else { return SQLITE_CANTOPEN }
            let code = open(system, path, file, flags, outFlags)
            if code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let file, let methods = file.pointee.pMethods {
                file.pointee.pMethods = PageChecks.checking(methods)
            }
            return code
        }
        guard sqlite3_vfs_register(own, 0) == SQLITE_OK else { return nil }
        return name
    }

    /// The checking methods by the system's, which differ by file system: there are only a few. Never deallocated.
    private static let known = Mutex<[UInt: UInt]>([:])

    /// Returns the methods for a file with checked pages. The system's methods follow them in memory.
    private static func checking(_ methods: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods>? {
        known.withLock { known in
            if let made = known[UInt(bitPattern: methods)] { return UnsafePointer(bitPattern: made) }
            let pair = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 2)
            (pair + 1).initialize(to: methods.pointee)
            pair.initialize(to: methods.pointee)
            // Without the calls that map a file into memory, because mapped pages would not be checked.
            pair.pointee.iVersion = min(methods.pointee.iVersion, 2)
            pair.pointee.xRead = { file, buffer, count, offset in
                guard let file, let read = file.pointee.pMethods?[1].xRead else { return SQLITE_IOERR }
                let code = read(file, buffer, count, offset)
                guard code == SQLITE_OK, PageChecks.isPage(count, offset), let buffer else { return code }
                let page = UnsafeRawBufferPointer(start: buffer, count: PageChecks.pageSize)
                return PageChecks.holds(page, at: offset) ? SQLITE_OK : PageChecks.damageCode
            }
            pair.pointee.xWrite = { file, buffer, count, offset in
                guard let file, let write = file.pointee.pMethods?[1].xWrite else { return SQLITE_IOERR }
                guard PageChecks.isPage(count, offset), let buffer else { return write(file, buffer, count, offset) }
                return withUnsafeTemporaryAllocation(byteCount: PageChecks.pageSize, alignment: 8) { page in
                    page.copyMemory(from: UnsafeRawBufferPointer(start: buffer, count: PageChecks.pageSize))
                    PageChecks.store(into: page, at: offset)
                    return write(file, page.baseAddress, count, offset)
                }
            }
            known[UInt(bitPattern: methods)] = UInt(bitPattern: pair)
            return UnsafePointer(pair)
        }
    }
}
