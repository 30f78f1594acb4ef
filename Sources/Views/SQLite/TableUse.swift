import CSQLite

/// Which tables a statement reads and writes, as SQLite itself says when it prepares it. So what an answer depends on
/// needs not to be worked out from the query a second time, and no kind of query can be forgotten.
final class TableUse {
    private(set) var read: Set<String> = []
    private(set) var written: Set<String> = []

    fileprivate func note(_ action: Int32, _ table: UnsafePointer<CChar>?) {
        guard let table else { return }
        switch action {
        case SQLITE_READ: read.insert(String(cString: table))
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: written.insert(String(cString: table))
        default: break
        }
    }
}

/// Hears from SQLite which tables the statement has that is being prepared.
final class TableUseRecorder {
    private var current: TableUse?

    /// Stays registered until the connection is closed, which must not outlive this object.
    func register(on handle: OpaquePointer?) {
        sqlite3_set_authorizer(
            handle,
            { recorder, action, table, _, _, _ in
                guard let recorder else { return SQLITE_OK }
                Unmanaged<TableUseRecorder>.fromOpaque(recorder).takeUnretainedValue().current?.note(action, table)
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// What `prepare` made SQLite prepare.
    func recording(_ prepare: () -> Int32) -> (code: Int32, use: TableUse) {
        let use = TableUse()
        current = use
        defer { current = nil }
        return (prepare(), use)
    }
}
