import Foundation
import SyncCore
import Views

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file of views, removed with the test.
final class ViewsFile {
    let path: String

    init() {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/tidelog-views-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        precondition(file >= 0, "mkstemp failed")
        close(file)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        unlink(path)
    }

    deinit { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }

    func open() throws -> SQLiteState { try SQLiteState(path: path, store: "test") }

    /// Opens a working set over the views.
    ///
    ///  - Parameter flushLimit: The maximum number of items that the working set keeps.
    func openState(flushLimit: Int = 20_000) throws -> WorkingSet {
        let state = WorkingSet(over: try open())
        state.flushLimit = flushLimit
        return state
    }

    /// Opens a copy of the files, as another process would find them after the writing process has ended.
    func openCopy() throws -> (file: ViewsFile, state: SQLiteState) {
        let copy = ViewsFile()
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
        }
        return (copy, try copy.open())
    }
}

extension WorkingSet {
    /// Closes the views of the working set.
    func close() { (backing as? SQLiteState)?.close() }
}
