import EDM
public import Operations
public import SyncCore

/// Pending and undone operations as rows of their tables.
extension SQLiteState {
    private typealias StatusNumber = PendingOperation.Status.Kind

    static let pendingColumns =
        "sequence, time, status, batch, reason, http_status, code, message, inner_error, method, url, "
        + "request_body, attempts, since, operation"

    /// The statement that sets the values of ``columns(of:)`` for a status. Further parameters are the time and the
    /// sequence number.
    static let updateStatus =
        "UPDATE pending SET status = ?, batch = ?, reason = ?, http_status = ?, code = ?, message = ?, "
        + "inner_error = ?, method = ?, url = ?, request_body = ?, attempts = ?, since = ? WHERE sequence = ?"

    /// Returns the operation in a row with ``pendingColumns``.
    func pending(_ row: Row) throws(StateError) -> PendingOperation {
        PendingOperation(
            sequence: UInt64(bitPattern: row.integer(0)), time: row.integer(1),
            operation: try row.withBlob(14, operation), status: try status(row), since: row.integer(13))
    }

    private func operation(_ bytes: UnsafeRawBufferPointer) throws(StateError) -> Operation {
        do throws(CodecError) {
            return try ValueCodec.decodeOperation(bytes, names: names)
        } catch {
            throw StateError(.damaged, "The views contain an operation that cannot be decoded. \(error)")
        }
    }

    private func status(_ row: Row) throws(StateError) -> PendingOperation.Status {
        switch StatusNumber(rawValue: row.integer(2)) {
        case .pending: .pending
        case .inFlight: .inFlight(UInt64(bitPattern: row.integer(3)))
        case .inDoubt: .inDoubt(UInt64(bitPattern: row.integer(3)), reason: row.text(4) ?? "")
        case .rejected: .rejected(refusal(row))
        case .deferred: .deferred(refusal(row), attempts: Int(row.integer(12)))
        case nil: throw StateError(.damaged, "The views contain an operation in a state that does not exist.")
        }
    }

    private func refusal(_ row: Row) -> Refusal {
        Refusal(
            status: Int(row.integer(5)), code: row.text(6) ?? "", message: row.text(7) ?? "",
            innerError: row.text(8), method: row.text(9) ?? "", url: row.text(10) ?? "", requestBody: row.text(11))
    }

    /// Binds the values of ``pendingColumns``.
    static func bind(_ pending: PendingOperation, _ binding: inout Binding) {
        binding.sequence(pending.sequence)
        binding.integer(pending.time)
        if case .pending = pending.status {
            binding.integer(StatusNumber.pending.rawValue)
            for _ in 0..<10 { binding.null() }
        } else {
            for column in columns(of: pending.status) { binding.value(column) }
        }
        binding.integer(pending.since)
        binding.blob(ValueCodec.encode(pending.operation))
    }

    /// Returns the values of ``pendingColumns``.
    func columns(of pending: PendingOperation) -> [SQLValue] {
        [integer(pending.sequence), .integer(pending.time)] + Self.columns(of: pending.status)
            + [.integer(pending.since), .blob(ValueCodec.encode(pending.operation))]
    }

    static func columns(of pending: PendingOperation.Status) -> [SQLValue] {
        var status = StatusNumber.pending
        var details = [SQLValue](repeating: .null, count: 10)
        switch pending {
        case .pending: break
        case .inFlight(let batch):
            status = .inFlight
            details[0] = .integer(Int64(bitPattern: batch))
        case .inDoubt(let batch, let reason):
            status = .inDoubt
            details[0] = .integer(Int64(bitPattern: batch))
            details[1] = .text(reason)
        case .rejected(let refusal):
            status = .rejected
            details[2...8] = columns(of: refusal)
        case .deferred(let refusal, let attempts):
            status = .deferred
            details[2...8] = columns(of: refusal)
            details[9] = .integer(Int64(attempts))
        }
        return [.integer(status.rawValue)] + details
    }

    private static func columns(of refusal: Refusal) -> ArraySlice<SQLValue> {
        [
            .integer(Int64(refusal.status)), .text(refusal.code), .text(refusal.message),
            refusal.innerError.map(SQLValue.text) ?? .null, .text(refusal.method), .text(refusal.url),
            refusal.requestBody.map(SQLValue.text) ?? .null,
        ]
    }

    // MARK: Undone

    static let undoneColumns = pendingColumns + ", undo"

    public func undoneOperations() throws(StateError) -> [UndoneOperation] {
        try list("SELECT \(Self.undoneColumns) FROM undone ORDER BY sequence") {
            row throws(StateError) in try undone(row)
        }
    }

    public func undoneOperation(_ sequence: SequenceNumber) throws(StateError) -> UndoneOperation? {
        try one("SELECT \(Self.undoneColumns) FROM undone WHERE sequence = ?", [integer(sequence)]) {
            row throws(StateError) in try undone(row)
        }
    }

    func undone(_ row: Row) throws(StateError) -> UndoneOperation {
        UndoneOperation(operation: try pending(row), undo: UInt64(bitPattern: row.integer(15)))
    }

    public func putUndone(_ undone: UndoneOperation) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO undone VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            columns(of: undone.operation) + [integer(undone.undo)])
    }

    public func removeUndone(_ sequence: SequenceNumber) throws(StateError) {
        try run("DELETE FROM undone WHERE sequence = ?", [integer(sequence)])
    }
}
