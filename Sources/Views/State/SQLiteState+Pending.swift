import EDM
public import Operations
public import SyncCore

extension SQLiteState {
    private typealias StatusNumber = PendingOperation.Status.Kind

    static let pendingColumns =
        "sequence, time, status, batch, reason, http_status, code, message, inner_error, method, url, "
        + "request_body, attempts, since, operation"

    /// The same without the operation.
    private static let statusColumns = pendingColumns.replacing("operation", with: "NULL")

    public func pendingOperations() throws(StateError) -> [PendingOperation] {
        try list("SELECT \(Self.pendingColumns) FROM pending ORDER BY sequence") {
            row throws(StateError) in try pending(row)
        }
    }

    public func hasPending() throws(StateError) -> Bool {
        if let any = queueSeen.any { return any }
        let any = try first("SELECT 1 FROM pending LIMIT 1") != nil
        queueSeen.any = any
        return any
    }

    /// Whether the service has refused one of them. Asked for at each answer.
    func hasRejected() throws(StateError) -> Bool {
        if let rejected = queueSeen.rejected { return rejected }
        let rejected =
            try first("SELECT 1 FROM pending INDEXED BY pending_by_status WHERE status = 3 LIMIT 1") != nil
        queueSeen.rejected = rejected
        return rejected
    }

    public func hasHeldBack() throws(StateError) -> Bool {
        if let heldBack = queueSeen.heldBack { return heldBack }
        let heldBack = try first("SELECT 1 FROM pending WHERE delivery <> 0 LIMIT 1") != nil
        queueSeen.heldBack = heldBack
        return heldBack
    }

    public func pendingOperation(_ sequence: SequenceNumber) throws(StateError) -> PendingOperation? {
        try one("SELECT \(Self.pendingColumns) FROM pending WHERE sequence = ?", [integer(sequence)]) {
            row throws(StateError) in try pending(row)
        }
    }

    public func pendingOperations(
        from first: SequenceNumber, limit: Int
    ) throws(StateError) -> [PendingOperation] {
        try operations(where: "sequence >= ? ORDER BY sequence LIMIT ?", [integer(first), .integer(Int64(limit))])
    }

    public func pendingOperations(
        _ kind: PendingOperation.Status.Kind
    ) throws(StateError) -> [PendingOperation] {
        try operations(where: "status = ? ORDER BY sequence", [.integer(kind.rawValue)])
    }

    private func operations(where condition: String, _ values: [SQLValue]) throws(StateError) -> [PendingOperation] {
        try list("SELECT \(Self.pendingColumns) FROM pending WHERE \(condition)", values) {
            row throws(StateError) in try pending(row)
        }
    }

    /// Cost: a pass over the statuses, one byte of each operation.
    public func pendingCount() throws(StateError) -> Int {
        Int(try first("SELECT COUNT(*) FROM pending INDEXED BY pending_by_status")?.first?.integer ?? 0)
    }

    /// How many of them are not to be sent: drafts, and what is for this store only. Cost: a look at each of these.
    public func heldBackCount() throws(StateError) -> Int {
        Int(try first("SELECT COUNT(*) FROM pending WHERE delivery <> 0")?.first?.integer ?? 0)
    }

    public func pendingOperations(naming id: EntityID) throws(StateError) -> [SequenceNumber] {
        try list("SELECT sequence FROM touched WHERE entity = ? ORDER BY sequence", [integer(id)]) {
            UInt64(bitPattern: $0.integer(0))
        }
    }

    public func pendingOperations(changing id: EntityID) throws(StateError) -> [SequenceNumber] {
        try list(
            "SELECT sequence FROM touched WHERE entity = ? AND changes <> 0 AND changes & 1 ORDER BY sequence",
            [integer(id)]
        ) { UInt64(bitPattern: $0.integer(0)) }
    }

    public func hasPendingChange(of id: EntityID) throws(StateError) -> Bool {
        try firstInteger(statements.hasPendingChange) { $0.id(id) } != nil
    }

    public func lastPending(inTransaction name: String) throws(StateError) -> SequenceNumber? {
        try first("SELECT MAX(sequence) FROM transactions WHERE name = ?", [.text(name)])?.first?.integer.map {
            UInt64(bitPattern: $0)
        }
    }

    /// From ``pendingColumns``.
    func pending(_ row: Row) throws(StateError) -> PendingOperation {
        PendingOperation(
            sequence: UInt64(bitPattern: row.integer(0)), time: row.integer(1),
            operation: try row.withBlob(14, operation), status: try status(row), since: row.integer(13))
    }

    private func operation(_ bytes: UnsafeRawBufferPointer) throws(StateError) -> Operation {
        do throws(CodecError) {
            return try ValueCodec.decodeOperation(bytes, names: names)
        } catch {
            throw StateError(.damaged, "The views hold an operation that does not decode. \(error)")
        }
    }

    private func status(_ row: Row) throws(StateError) -> PendingOperation.Status {
        switch StatusNumber(rawValue: row.integer(2)) {
        case .pending: .pending
        case .inFlight: .inFlight(UInt64(bitPattern: row.integer(3)))
        case .inDoubt: .inDoubt(UInt64(bitPattern: row.integer(3)), reason: row.text(4) ?? "")
        case .rejected: .rejected(refusal(row))
        case .deferred: .deferred(refusal(row), attempts: Int(row.integer(12)))
        case nil: throw StateError(.damaged, "The views hold an operation in a state that does not exist.")
        }
    }

    private func refusal(_ row: Row) -> Refusal {
        Refusal(
            status: Int(row.integer(5)), code: row.text(6) ?? "", message: row.text(7) ?? "",
            innerError: row.text(8), method: row.text(9) ?? "", url: row.text(10) ?? "", requestBody: row.text(11))
    }

    public func putPending(_ pending: PendingOperation) throws(StateError) {
        queueSeen.add(pending)
        let columns = columns(of: pending)
        try run(statements.putPending) { binding in
            for column in columns { binding.value(column) }
            binding.integer(Int64(pending.operation.delivery.rawValue))
        }
        let roles = try roles(of: pending.operation)
        noteStandings(of: roles.keys)
        for (id, role) in roles {
            try run(statements.putTouched) { binding in
                binding.id(id)
                binding.integer(Int64(bitPattern: pending.sequence))
                binding.integer(role.rawValue)
            }
        }
        if let name = pending.operation.transactionID {
            try run("INSERT OR IGNORE INTO transactions VALUES (?, ?)", [.text(name), integer(pending.sequence)])
        }
    }

    public func pendingStatus(
        of sequence: SequenceNumber
    ) throws(StateError) -> (status: PendingOperation.Status, since: Timestamp)? {
        try one("SELECT \(Self.statusColumns) FROM pending WHERE sequence = ?", [integer(sequence)]) {
            row throws(StateError) in (try status(row), row.integer(13))
        }
    }

    public func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError) {
        queueSeen.rejected = nil
        try run(
            "UPDATE pending SET status = ?, batch = ?, reason = ?, http_status = ?, code = ?, message = ?, "
                + "inner_error = ?, method = ?, url = ?, request_body = ?, attempts = ?, since = ? WHERE sequence = ?",
            columns(of: status) + [.integer(since), integer(sequence)])
        if notesStandings { noteStandings(of: try entities(touchedBy: sequence)) }
    }

    /// In the order of ``pendingColumns``.
    private func columns(of pending: PendingOperation) -> [SQLValue] {
        [integer(pending.sequence), .integer(pending.time)] + columns(of: pending.status)
            + [.integer(pending.since), .blob(ValueCodec.encode(pending.operation))]
    }

    private func columns(of pending: PendingOperation.Status) -> [SQLValue] {
        var status = StatusNumber.pending
        var details = [SQLValue](repeating: .null, count: 10)
        switch pending {
        case .pending: break
        case .inFlight(let batch):
            status = .inFlight
            details[0] = integer(batch)
        case .inDoubt(let batch, let reason):
            status = .inDoubt
            details[0] = integer(batch)
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

    private func columns(of refusal: Refusal) -> ArraySlice<SQLValue> {
        [
            .integer(Int64(refusal.status)), .text(refusal.code), .text(refusal.message),
            refusal.innerError.map(SQLValue.text) ?? .null, .text(refusal.method), .text(refusal.url),
            refusal.requestBody.map(SQLValue.text) ?? .null,
        ]
    }

    public func removePending(_ sequence: SequenceNumber) throws(StateError) {
        queueSeen = QueueSeen()
        try run("DELETE FROM pending WHERE sequence = ?", [integer(sequence)])
        if notesStandings { noteStandings(of: try entities(touchedBy: sequence)) }
        try run("DELETE FROM touched WHERE sequence = ?", [integer(sequence)])
        try run("DELETE FROM transactions WHERE sequence = ?", [integer(sequence)])
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

    // MARK: Standing

    /// What the pending operations that are about an entity mean for it; see ``OperationRole/isAbout``.
    public enum Standing: Sendable, Hashable {
        /// None is about it.
        case clean
        case pending
        /// One of them was refused.
        case rejected
    }

    /// Cost: a look into an index, however many operations are pending.
    public func standing(of id: EntityID) throws(StateError) -> Standing {
        guard try hasRejected() else {
            return try firstInteger(statements.isChanged) { $0.id(id) } == nil ? .clean : .pending
        }
        let row = try first(
            """
            SELECT MAX(status = 3) FROM touched JOIN pending USING (sequence)
            WHERE entity = ? AND \(OperationRole.isAboutCondition)
            """, [integer(id)])
        guard let worst = row?.first?.integer else { return .clean }
        return worst == 1 ? .rejected : .pending
    }
}

/// What was found out about the pending operations as a whole; nil where nobody has asked since it may have changed.
struct QueueSeen {
    var any: Bool?
    /// Whether the service has refused one.
    var rejected: Bool?
    /// Whether one is not to be sent.
    var heldBack: Bool?

    /// Also in the place of one that was there.
    mutating func add(_ pending: PendingOperation) {
        any = true
        rejected = pending.status.kind == .rejected ? true : rejected == false ? false : nil
        heldBack = pending.operation.delivery != .queued ? true : heldBack == false ? false : nil
    }
}
