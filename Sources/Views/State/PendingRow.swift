import EDM
import Operations
import SyncCore

/// The form of a pending or undone operation in its table.
enum PendingRow {
    static let columns =
        "sequence, time, status, batch, reason, http_status, code, message, inner_error, method, url, "
        + "request_body, attempts, since, operation"

    /// The statement that sets the values of ``values(of:)`` for a status. Further parameters are the time and the
    /// sequence number.
    static let updateStatus =
        "UPDATE pending SET status = ?, batch = ?, reason = ?, http_status = ?, code = ?, message = ?, "
        + "inner_error = ?, method = ?, url = ?, request_body = ?, attempts = ?, since = ? WHERE sequence = ?"

    /// Returns the operation in a row with ``columns``.
    ///
    /// - Parameter names: The table of the names that operations repeat.
    static func read(_ row: Row, _ names: NameTable) throws(StateError) -> PendingOperation {
        PendingOperation(
            sequence: row.unsigned(0), time: row.integer(1),
            operation: try row.withBlob(14) { bytes throws(StateError) in try operation(bytes, names) },
            status: try status(row), since: row.integer(13))
    }

    /// Returns the encoded operation in a row with ``columns``.
    static func encoded(_ row: Row) -> [UInt8] { row.blob(14) }

    private static func operation(_ bytes: UnsafeRawBufferPointer, _ names: NameTable) throws(StateError) -> Operation {
        do throws(CodecError) {
            return try ValueCodec.decodeOperation(bytes, names: names)
        } catch {
            throw StateError(.damaged, "The views contain an operation that cannot be decoded. \(error)")
        }
    }

    private static func status(_ row: Row) throws(StateError) -> PendingOperation.Status {
        switch PendingOperation.Status.StatusKind(rawValue: row.integer(2)) {
        case .pending: .pending
        case .inFlight: .inFlight(row.unsigned(3))
        case .inDoubt: .inDoubt(row.unsigned(3), reason: row.text(4) ?? "")
        case .rejected: .rejected(refusal(row))
        case .deferred: .deferred(refusal(row), attempts: Int(row.integer(12)))
        case nil: throw StateError(.damaged, "The views contain an operation in a state that does not exist.")
        }
    }

    private static func refusal(_ row: Row) -> Refusal {
        Refusal(
            status: Int(row.integer(5)), code: row.text(6) ?? "", message: row.text(7) ?? "",
            innerError: row.text(8), method: row.text(9) ?? "", url: row.text(10) ?? "", requestBody: row.text(11))
    }

    /// Binds the values of ``columns``, of which the last is the encoded operation.
    static func bind(
        _ sequence: SequenceNumber, _ time: Timestamp, _ status: PendingOperation.Status, _ since: Timestamp,
        encoded operation: ArraySlice<UInt8>, _ binding: inout Binding
    ) {
        binding.sequence(sequence)
        binding.integer(time)
        if case .pending = status {
            binding.integer(PendingOperation.Status.StatusKind.pending.rawValue)
            for _ in 0..<10 { binding.null() }
        } else {
            for value in values(of: status) { binding.value(value) }
        }
        binding.integer(since)
        binding.blob(operation)
    }

    /// Returns the values of ``columns``.
    static func values(_ pending: PendingOperation) -> [SQLValue] {
        [SQLValue(pending.sequence), .integer(pending.time)] + values(of: pending.status)
            + [.integer(pending.since), .blob(ValueCodec.encode(pending.operation))]
    }

    static func values(of pending: PendingOperation.Status) -> [SQLValue] {
        var status = PendingOperation.Status.StatusKind.pending
        var details = [SQLValue](repeating: .null, count: 10)
        switch pending {
        case .pending: break
        case .inFlight(let batch):
            status = .inFlight
            details[0] = SQLValue(batch)
        case .inDoubt(let batch, let reason):
            status = .inDoubt
            details[0] = SQLValue(batch)
            details[1] = .text(reason)
        case .rejected(let refusal):
            status = .rejected
            details[2...8] = values(of: refusal)
        case .deferred(let refusal, let attempts):
            status = .deferred
            details[2...8] = values(of: refusal)
            details[9] = .integer(Int64(attempts))
        }
        return [.integer(status.rawValue)] + details
    }

    private static func values(of refusal: Refusal) -> ArraySlice<SQLValue> {
        [
            .integer(Int64(refusal.status)), .text(refusal.code), .text(refusal.message),
            refusal.innerError.map(SQLValue.text) ?? .null, .text(refusal.method), .text(refusal.url),
            refusal.requestBody.map(SQLValue.text) ?? .null,
        ]
    }
}
