import CSQLite

/// A file of the system's VFS.
struct SystemFile {
    let pointer: UnsafeMutablePointer<sqlite3_file>

    private var methods: sqlite3_io_methods? { pointer.pointee.pMethods?.pointee }

    func close() { _ = methods?.xClose?(pointer) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        methods?.xRead?(pointer, buffer.baseAddress, Int32(buffer.count), offset) ?? SQLITE_IOERR
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        methods?.xWrite?(pointer, bytes.baseAddress, Int32(bytes.count), offset) ?? SQLITE_IOERR
    }

    func truncate(_ size: Int64) -> Int32 { methods?.xTruncate?(pointer, size) ?? SQLITE_IOERR }

    func sync(_ flags: Int32) -> Int32 { methods?.xSync?(pointer, flags) ?? SQLITE_IOERR }

    func getSize(_ size: inout Int64) -> Int32 { methods?.xFileSize?(pointer, &size) ?? SQLITE_IOERR }

    func lock(_ level: Int32) -> Int32 { methods?.xLock?(pointer, level) ?? SQLITE_IOERR }

    func unlock(_ level: Int32) -> Int32 { methods?.xUnlock?(pointer, level) ?? SQLITE_IOERR }

    func checkReservedLock(_ found: UnsafeMutablePointer<Int32>?) -> Int32 {
        methods?.xCheckReservedLock?(pointer, found) ?? SQLITE_IOERR
    }

    func control(_ code: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        methods?.xFileControl?(pointer, code, argument) ?? SQLITE_NOTFOUND
    }

    var sectorSize: Int32 { methods?.xSectorSize?(pointer) ?? 4_096 }
}
