import CSQLite

/// The tables that a statement reads and writes, as SQLite reports them when it prepares the statement. Therefore the
/// dependencies of a result need not be derived from the query, and no kind of query is missed.
final class TableAccess {
    private(set) var read: Set<String> = []
    private(set) var written: Set<String> = []

    fileprivate func record(_ action: Int32, _ table: UnsafePointer<CChar>?) {
        guard let table else { return }
        switch action {
        case SQLITE_READ: read.insert(String(cString: table))
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: written.insert(String(cString: table))
        default: break
        }
    }
}

/// A recorder of the tables of the statement that SQLite is preparing.
final class TableAccessRecorder {
    private var current: TableAccess?

    /// Registers the recorder until the connection is closed, which must not outlive this object.
    func register(on handle: OpaquePointer?) {
        sqlite3_set_authorizer(
            handle,
            { recorder, action, table, _, _, _ in
                guard let recorder else { return SQLITE_OK }
                Unmanaged<TableAccessRecorder>.fromOpaque(recorder).takeUnretainedValue().current?.record(action, table)
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns the result of `prepare`, and the tables of the statement that it prepared.
    func recording(_ prepare: () -> Int32) -> (code: Int32, use: TableAccess) {
        let use = TableAccess()
        current = use
        defer { current = nil }
        return (prepare(), use)
    }
}
