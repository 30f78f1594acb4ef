package import SyncCore

extension SQLiteState {
    /// Returns whether the error shows damage of the views, and not a request that the views cannot execute.
    package func isFault(_ error: StateError) -> Bool {
        error.code == .damaged && (connection.hasMetDamage || !error.message.hasPrefix(StateError.unreadable))
    }

    /// The error for views that another process has locked.
    package static let inUse = StateError(.unavailable, "The views are open in another process.")

    /// The error for views that are not encrypted with the given key.
    package static let ofAnotherKey = StateError(
        .damaged, "The views are not encrypted with the newest key of the store.")
}

extension StateError {
    fileprivate static let unreadable = "The views cannot be read: "

    init(changedPage page: Int) {
        self.init(.damaged, "Page \(page) of the views was changed after it was written.")
    }

    init(_ error: SQLiteError) {
        // 11 is SQLITE_CORRUPT, 26 SQLITE_NOTADB, 1 SQLITE_ERROR (a table is missing), 19 SQLITE_CONSTRAINT (a row
        // exists that should not), 5 SQLITE_BUSY, 23 SQLITE_AUTH.
        self =
            switch error.code {
            case 5: SQLiteState.inUse
            case 23: SQLiteState.ofAnotherKey
            case 1, 11, 19, 26: StateError(.damaged, Self.unreadable + "\(error)")
            default: StateError(.unavailable, "The views are not available: \(error)")
            }
    }
}
