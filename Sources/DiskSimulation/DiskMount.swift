import CSQLite
import OperationLog
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A simulated disk under a path that SQLite can open, as long as this object lives.
///
/// SQLite accesses the files of the views through its VFS only, and the VFS layers that check or encrypt their pages
/// call the system's VFS. This type therefore patches the system's VFS once per process: paths below ``root`` map to
/// mounted disks; all other paths are unaffected. The patch is never removed.
package final class DiskMount: Sendable {
    private static let directory = "/tidelog-simulated-disks/"

    private struct Table {
        var next = 0
        var disks: [Int: SimulatedDisk] = [:]
    }

    private static let table = Mutex(Table())

    private let number: Int

    package init(_ disk: SimulatedDisk) {
        MountedVFS.install()
        number = Self.table.withLock { table in
            table.next += 1
            table.disks[table.next] = disk
            return table.next
        }
    }

    /// Lets SQLite keep no statistics of its memory, for which each allocation locks a mutex of the process.
    ///
    /// A program calls it before all other calls of SQLite; later it has no effect.
    package static func omitMemoryStatistics() { _ = tidelog_sqlite3_omit_memory_statistics() }

    deinit { Self.table.withLock { _ = $0.disks.removeValue(forKey: number) } }

    /// The prefix under which SQLite finds the files of the disk: `root` followed by a path on the disk.
    package var root: String { "\(Self.directory)\(number)" }

    /// Returns the disk that has the file, and the file's path on it; nil for a file of the system.
    fileprivate static func find(_ path: UnsafePointer<CChar>?) -> (disk: SimulatedDisk, path: String)? {
        guard let path, strncmp(path, directory, directory.utf8.count) == 0 else { return nil }
        let rest = String(cString: path + directory.utf8.count)
        guard let slash = rest.firstIndex(of: "/"), let number = Int(rest[..<slash]) else { return nil }
        return table.withLock { $0.disks[number] }.map { ($0, String(rest[slash...])) }
    }
}

/// The system's VFS, patched so that it also opens the files of mounted disks.
private enum MountedVFS {
    /// The system's VFS and a copy of it before the patch; nil if SQLite has no VFS for files.
    private nonisolated(unsafe) static let system: (pointer: UnsafeMutablePointer<sqlite3_vfs>, former: sqlite3_vfs)? =
        {
            guard let pointer = sqlite3_vfs_find(nil) else { return nil }
            let former = pointer.pointee
            pointer.pointee.xOpen = { vfs, path, file, flags, outFlags in
                guard let found = DiskMount.find(path) else {
                    return MountedVFS.system?.former.xOpen?(vfs, path, file, flags, outFlags) ?? SQLITE_CANTOPEN
                }
                guard let file else { return SQLITE_CANTOPEN }
                outFlags?.pointee = flags
                return MountedFile.open(found.disk, found.path, file, flags)
            }
            route(pointer)
            return (pointer, former)
        }()

    /// Patches the system's VFS, and the VFS of the page checks, which has copied these calls if it was registered
    /// earlier.
    static func install() {
        guard system != nil, let pages = sqlite3_vfs_find("tidelog-pages") else { return }
        route(pages)
    }

    private static func route(_ vfs: UnsafeMutablePointer<sqlite3_vfs>) {
        vfs.pointee.xDelete = { vfs, path, syncs in
            guard let (disk, path) = DiskMount.find(path) else {
                return MountedVFS.system?.former.xDelete?(vfs, path, syncs) ?? SQLITE_IOERR
            }
            do throws(FileSystemError) {
                try disk.remove(path)
                if syncs != 0 { try disk.syncDirectory(MountedFile.directory(of: path)) }
                return SQLITE_OK
            } catch {
                return error.isNotFound ? MountedFile.Code.nothingToDelete : MountedFile.Code.delete
            }
        }
        vfs.pointee.xAccess = { vfs, path, flags, found in
            guard let (disk, path) = DiskMount.find(path) else {
                return MountedVFS.system?.former.xAccess?(vfs, path, flags, found) ?? SQLITE_IOERR
            }
            found?.pointee = disk.paths.contains(path) ? 1 : 0
            return SQLITE_OK
        }
    }
}

/// An open file of a mounted disk. Locking is not implemented: a file must not be opened twice at the same time.
private final class MountedFile {
    /// Extended result codes of SQLite, which Swift does not import.
    enum Code {
        static let read = SQLITE_IOERR | (1 << 8)
        static let shortRead = SQLITE_IOERR | (2 << 8)
        static let write = SQLITE_IOERR | (3 << 8)
        static let sync = SQLITE_IOERR | (4 << 8)
        static let truncate = SQLITE_IOERR | (6 << 8)
        static let size = SQLITE_IOERR | (7 << 8)
        static let delete = SQLITE_IOERR | (10 << 8)
        static let nothingToDelete = SQLITE_IOERR | (23 << 8)
    }

    private let disk: SimulatedDisk
    private let path: String
    private let file: any File
    /// Whether the next sync also syncs the directory: for a new WAL or journal, whose name SQLite makes durable with
    /// its content.
    private var syncsName: Bool

    private init(_ disk: SimulatedDisk, _ path: String, _ file: any File, syncsName: Bool) {
        self.disk = disk
        self.path = path
        self.file = file
        self.syncsName = syncsName
    }

    static func directory(of path: String) -> String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

    static func open(
        _ disk: SimulatedDisk, _ path: String, _ place: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32
    ) -> Int32 {
        place.pointee.pMethods = nil
        do throws(FileSystemError) {
            let isNew = !disk.paths.contains(path)
            guard !isNew || flags & SQLITE_OPEN_CREATE != 0 else { return SQLITE_CANTOPEN }
            let file = try disk.open(path, isNew ? .create : .readWrite)
            let own = MountedFile(disk, path, file, syncsName: isNew && flags & SQLITE_OPEN_MAIN_DB == 0)
            // Stored after the pointer to the methods, and retained until the file is closed.
            (UnsafeMutableRawPointer(place) + MemoryLayout<UnsafeRawPointer>.stride).storeBytes(
                of: Unmanaged.passRetained(own).toOpaque(), as: UnsafeMutableRawPointer.self)
            place.pointee.pMethods = methods
            return SQLITE_OK
        } catch {
            return SQLITE_CANTOPEN
        }
    }

    private static func unmanaged(_ place: UnsafeMutablePointer<sqlite3_file>) -> Unmanaged<MountedFile> {
        let own = UnsafeRawPointer(place) + MemoryLayout<UnsafeRawPointer>.stride
        return Unmanaged.fromOpaque(own.load(as: UnsafeMutableRawPointer.self))
    }

    private static func of(_ place: UnsafeMutablePointer<sqlite3_file>) -> MountedFile {
        unmanaged(place).takeUnretainedValue()
    }

    // MARK: Calls

    private func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        do throws(FileSystemError) {
            let bytes = try file.read(at: UInt64(offset), count: buffer.count)
            buffer.copyBytes(from: bytes)
            guard bytes.count < buffer.count else { return SQLITE_OK }
            // SQLite requires zeros after a short read.
            _ = UnsafeMutableRawBufferPointer(rebasing: buffer[bytes.count...]).initializeMemory(
                as: UInt8.self, repeating: 0)
            return Code.shortRead
        } catch {
            return Code.read
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        do throws(FileSystemError) {
            try file.write(bytes, at: UInt64(offset))
            return SQLITE_OK
        } catch {
            return error.errorNumber == ENOSPC ? SQLITE_FULL : Code.write
        }
    }

    private func truncate(to size: Int64) -> Int32 {
        do throws(FileSystemError) {
            try file.truncate(to: UInt64(size))
            return SQLITE_OK
        } catch {
            return Code.truncate
        }
    }

    private func sync() -> Int32 {
        do throws(FileSystemError) {
            try file.sync()
            if syncsName { try disk.syncDirectory(Self.directory(of: path)) }
            syncsName = false
            return SQLITE_OK
        } catch {
            return Code.sync
        }
    }

    private func getSize(_ size: UnsafeMutablePointer<Int64>) -> Int32 {
        do throws(FileSystemError) {
            size.pointee = Int64(try file.size())
            return SQLITE_OK
        } catch {
            return Code.size
        }
    }

    /// Version 1 of the methods: without shared memory, so that SQLite keeps the index of the WAL in the process's own
    /// memory, and without memory-mapped files.
    private nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
        var methods = sqlite3_io_methods()
        methods.iVersion = 1
        methods.xClose = { place in
            guard let place else { return SQLITE_IOERR }
            MountedFile.unmanaged(place).release()
            place.pointee.pMethods = nil
            return SQLITE_OK
        }
        methods.xRead = { place, buffer, count, offset in
            guard let place, let buffer else { return SQLITE_IOERR }
            let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
            return MountedFile.of(place).read(into: bytes, at: offset)
        }
        methods.xWrite = { place, bytes, count, offset in
            guard let place, let bytes else { return SQLITE_IOERR }
            return MountedFile.of(place).write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: offset)
        }
        methods.xTruncate = { place, size in
            place.map { MountedFile.of($0).truncate(to: size) } ?? SQLITE_IOERR
        }
        methods.xSync = { place, _ in place.map { MountedFile.of($0).sync() } ?? SQLITE_IOERR }
        methods.xFileSize = { place, size in
            guard let place, let size else { return SQLITE_IOERR }
            return MountedFile.of(place).getSize(size)
        }
        methods.xLock = { _, _ in SQLITE_OK }
        methods.xUnlock = { _, _ in SQLITE_OK }
        methods.xCheckReservedLock = { _, found in
            found?.pointee = 0
            return SQLITE_OK
        }
        methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        methods.xSectorSize = { _ in 4_096 }
        // As for the system's VFS: a write changes no other bytes than those that are written.
        methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
        let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        pointer.initialize(to: methods)
        return UnsafePointer(pointer)
    }()
}
