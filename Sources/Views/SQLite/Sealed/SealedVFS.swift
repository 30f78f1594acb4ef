import CSQLite

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// SQLite's interface to files for one encrypted database: the system's, except for reads and writes
/// (``SealedDatabase``).
///
/// Files other than the database and its write-ahead log are not opened, because SQLite would write plain values into
/// them: journals, temporary tables, sorted rows.
final class SealedVFS {
    let database: SealedDatabase
    let name: String
    private let pointer: UnsafeMutablePointer<sqlite3_vfs>
    private let zName: UnsafeMutablePointer<CChar>

    /// Nil if SQLite has no VFS.
    init?(_ database: SealedDatabase) {
        guard let system = Self.system else { return nil }
        self.database = database
        // The pointer to the database follows the VFS in memory, where the calls find it.
        let size = MemoryLayout<sqlite3_vfs>.stride + MemoryLayout<UnsafeMutableRawPointer>.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        pointer = memory.bindMemory(to: sqlite3_vfs.self, capacity: 1)
        pointer.initialize(to: system.pointee)
        (memory + MemoryLayout<sqlite3_vfs>.stride).storeBytes(
            of: Unmanaged.passUnretained(database).toOpaque(), as: UnsafeMutableRawPointer.self)
        name = "tidelog-sealed-\(UInt(bitPattern: memory))"
        zName = strdup(name)
        pointer.pointee.pNext = nil
        pointer.pointee.zName = UnsafePointer(zName)
        pointer.pointee.szOsFile = system.pointee.szOsFile + Int32(Self.offset)
        Self.setCalls(of: pointer)
        guard sqlite3_vfs_register(pointer, 0) == SQLITE_OK else { return nil }
    }

    /// Must run after the connection is closed.
    deinit {
        sqlite3_vfs_unregister(pointer)
        UnsafeMutableRawPointer(pointer).deallocate()
        free(zName)
    }

    /// The system's VFS. SQLite never deallocates it.
    private nonisolated(unsafe) static let system = sqlite3_vfs_find(nil)

    private static func database(of vfs: UnsafeMutablePointer<sqlite3_vfs>) -> SealedDatabase {
        let place = UnsafeRawPointer(vfs) + MemoryLayout<sqlite3_vfs>.stride
        return Unmanaged.fromOpaque(place.load(as: UnsafeMutableRawPointer.self)).takeUnretainedValue()
    }

    private static func setCalls(of vfs: UnsafeMutablePointer<sqlite3_vfs>) {
        vfs.pointee.xOpen = { vfs, path, file, flags, outFlags in
            guard let vfs, let file else { return SQLITE_CANTOPEN }
            return SealedVFS.open(vfs, path, file, flags, outFlags)
        }
        vfs.pointee.xDelete = { vfs, path, sync in
            guard let vfs, let path, let system = SealedVFS.system, let delete = system.pointee.xDelete else {
                return SQLITE_IOERR
            }
            if SealedVFS.isNamed(path, "-wal") {
                let code = SealedVFS.database(of: vfs).forgetLog()
                guard code == SQLITE_OK else { return code }
            }
            return delete(system, path, sync)
        }
        vfs.pointee.xAccess = { vfs, path, flags, found in
            guard let system = SealedVFS.system, let access = system.pointee.xAccess else { return SQLITE_IOERR }
            // SQLite has never written a journal.
            if let path, SealedVFS.isNamed(path, "-journal") {
                found?.pointee = 0
                return SQLITE_OK
            }
            return access(system, path, flags, found)
        }
    }

    private static func isNamed(_ path: UnsafePointer<CChar>, _ suffix: String) -> Bool {
        let (length, count) = (strlen(path), suffix.utf8.count)
        return length >= count && strcmp(path + (length - count), suffix) == 0
    }

    // MARK: Files

    /// The offset of the system's file in SQLite's memory for a file. The methods and the database precede it.
    private static let offset = 16

    private static func system(_ file: UnsafeMutablePointer<sqlite3_file>) -> SystemFile {
        SystemFile(pointer: (UnsafeMutableRawPointer(file) + offset).assumingMemoryBound(to: sqlite3_file.self))
    }

    private static func database(_ file: UnsafeMutablePointer<sqlite3_file>) -> SealedDatabase {
        let place = UnsafeRawPointer(file) + MemoryLayout<UnsafeRawPointer>.stride
        return Unmanaged.fromOpaque(place.load(as: UnsafeMutableRawPointer.self)).takeUnretainedValue()
    }

    private static func open(
        _ vfs: UnsafeMutablePointer<sqlite3_vfs>, _ path: UnsafePointer<CChar>?,
        _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        file.pointee.pMethods = nil
        let isLog = flags & SQLITE_OPEN_WAL != 0
        guard isLog || flags & SQLITE_OPEN_MAIN_DB != 0, let system, let xOpen = system.pointee.xOpen else {
            return SQLITE_CANTOPEN
        }
        let inner = Self.system(file)
        inner.pointer.pointee.pMethods = nil
        var opened = flags
        var code = xOpen(system, path, inner.pointer, flags, &opened)
        outFlags?.pointee = opened
        let database = database(of: vfs)
        if code == SQLITE_OK, !isLog { code = database.open(inner, canWrite: opened & SQLITE_OPEN_READWRITE != 0) }
        guard code == SQLITE_OK else {
            inner.close()
            return code
        }
        // Retained while the file is open.
        (UnsafeMutableRawPointer(file) + MemoryLayout<UnsafeRawPointer>.stride).storeBytes(
            of: Unmanaged.passRetained(database).toOpaque(), as: UnsafeMutableRawPointer.self)
        file.pointee.pMethods = isLog ? logMethods : databaseMethods
        return SQLITE_OK
    }

    private static func close(_ file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
        system(file).close()
        Unmanaged.passUnretained(database(file)).release()
        file.pointee.pMethods = nil
        return SQLITE_OK
    }

    /// Returns methods without shared memory and mapped files, because their content would not be authenticated.
    private static func methods(
        _ change: (inout sqlite3_io_methods) -> Void
    ) -> UnsafePointer<sqlite3_io_methods> {
        var methods = sqlite3_io_methods()
        methods.iVersion = 1
        methods.xClose = { file in file.map { SealedVFS.close($0) } ?? SQLITE_IOERR }
        methods.xSync = { file, flags in file.map { SealedVFS.system($0).sync(flags) } ?? SQLITE_IOERR }
        methods.xLock = { file, level in file.map { SealedVFS.system($0).lock(level) } ?? SQLITE_IOERR }
        methods.xUnlock = { file, level in file.map { SealedVFS.system($0).unlock(level) } ?? SQLITE_IOERR }
        methods.xCheckReservedLock = { file, found in
            file.map { SealedVFS.system($0).checkReservedLock(found) } ?? SQLITE_IOERR
        }
        methods.xFileControl = { file, code, argument in
            guard let file, code != SQLITE_FCNTL_SIZE_HINT, code != SQLITE_FCNTL_CHUNK_SIZE,
                code != SQLITE_FCNTL_MMAP_SIZE
            else { return SQLITE_NOTFOUND }
            return SealedVFS.system(file).control(code, argument)
        }
        methods.xSectorSize = { file in file.map { SealedVFS.system($0).sectorSize } ?? 4_096 }
        // Otherwise SQLite would write parts of pages, to pad the log to sector boundaries.
        methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
        change(&methods)
        let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        pointer.initialize(to: methods)
        return UnsafePointer(pointer)
    }

    private nonisolated(unsafe) static let databaseMethods = methods { methods in
        methods.xRead = { file, buffer, count, offset in
            guard let file, let buffer else { return SQLITE_IOERR }
            let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
            return SealedVFS.database(file).read(into: bytes, at: Int(offset))
        }
        methods.xWrite = { file, buffer, count, offset in
            guard let file, let buffer else { return SQLITE_IOERR }
            return SealedVFS.database(file).write(
                UnsafeRawBufferPointer(start: buffer, count: Int(count)), at: Int(offset))
        }
        methods.xTruncate = { file, size in file.map { SealedVFS.database($0).truncate(Int(size)) } ?? SQLITE_IOERR }
        methods.xFileSize = { file, size in
            guard let file, let size else { return SQLITE_IOERR }
            size.pointee = SealedVFS.database(file).size
            return SQLITE_OK
        }
    }

    private nonisolated(unsafe) static let logMethods = methods { methods in
        methods.xRead = { file, buffer, count, offset in
            guard let file, let buffer else { return SQLITE_IOERR }
            let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
            return SealedVFS.database(file).readLog(SealedVFS.system(file), into: bytes, at: Int(offset))
        }
        methods.xWrite = { file, buffer, count, offset in
            guard let file, let buffer else { return SQLITE_IOERR }
            let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
            return SealedVFS.database(file).writeLog(SealedVFS.system(file), bytes, at: Int(offset))
        }
        methods.xTruncate = { file, size in
            file.map { SealedVFS.database($0).truncateLog(SealedVFS.system($0), size) } ?? SQLITE_IOERR
        }
        methods.xFileSize = { file, size in
            guard let file, let size else { return SQLITE_IOERR }
            var found: Int64 = 0
            let code = SealedVFS.system(file).getSize(&found)
            size.pointee = found
            return code
        }
    }
}
