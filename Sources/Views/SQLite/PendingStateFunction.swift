import CSQLite
import Operations
import SyncCore

extension Connection {
    /// The SQL function that returns the status of an entity that follows from the pending operations: 0 if it is not
    /// their subject, 1 if it is, 2 if one of them was rejected.
    static let pendingStateFunction = "tl_standing"

    /// - Parameter queue: The queue. It has to be loaded before a statement with the function runs.
    func registerPendingState(of queue: QueueTable) throws(SQLiteError) {
        registrations.append(queue)
        let code = sqlite3_create_function_v2(
            rawHandle, Self.pendingStateFunction, 1, SQLITE_UTF8, Unmanaged.passUnretained(queue).toOpaque(),
            { standingCall($0, $1, $2) }, nil, nil, nil)
        if code != SQLITE_OK { throw SQLiteError(code: code & 0xFF, message: "cannot register a function", sql: nil) }
    }
}

private func standingCall(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let pointer = sqlite3_user_data(context), let arguments, count == 1 else { return }
    let queue = Unmanaged<QueueTable>.fromOpaque(pointer).takeUnretainedValue()
    let id = EntityID(rawValue: UInt64(bitPattern: sqlite3_value_int64(arguments[0])))
    switch queue.pendingState(of: id) {
    case .clean: sqlite3_result_int(context, 0)
    case .pending: sqlite3_result_int(context, 1)
    case .rejected: sqlite3_result_int(context, 2)
    }
}
