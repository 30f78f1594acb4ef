import Operations
import SyncCore

/// The only row of the table `header`.
///
/// The fold reads it and changes its numbers for every record, and the metadata in it may have several megabytes.
/// Therefore it is read once, and its numbers are written at the end of a transaction.
final class HeaderRow {
    private let connection: Connection
    /// The current header, whether or not the file contains it.
    private var known: StateHeader?
    /// The current header, if its numbers are not written yet.
    private var unwritten: StateHeader?

    private let writeNumbers = Statement("UPDATE header SET applied = ?, next_entity = ?, next_batch = ?")

    init(_ connection: Connection) { self.connection = connection }

    /// Returns the header. Throws code 11 (damaged) if there is none.
    func read() throws(SQLiteError) -> StateHeader {
        if let known { return known }
        let row = try connection.first(
            "SELECT applied, next_entity, next_batch, root, metadata, postponed_until, postponed_attempt, "
                + "postponed_reason, postponed_since, last_download FROM header")
        guard let row, row.count == 10 else {
            throw SQLiteError(code: 11, message: "the views have no header", sql: nil)
        }
        let service = row[3].text.map { ServiceDescription(root: $0, metadata: row[4].blob ?? []) }
        let header = StateHeader(
            applied: unsigned(row[0]), nextEntity: EntityID(rawValue: unsigned(row[1])), nextBatch: unsigned(row[2]),
            service: service,
            postponed: row[5].integer.map {
                Postponement(
                    UploadPostponed(notBefore: $0, attempt: Int(row[6].integer ?? 0), reason: row[7].text ?? ""),
                    since: row[8].integer ?? 0)
            }, lastDownload: unsigned(row[9]))
        known = header
        return header
    }

    func write(_ header: StateHeader) throws(SQLiteError) {
        unwritten = header
        // Without a transaction no later call writes it.
        if !connection.isInTransaction {
            do throws(SQLiteError) {
                try flush()
            } catch {
                unwritten = nil
                throw error
            }
        }
        if let service = header.service, service != known?.service {
            try connection.run(
                "UPDATE header SET root = ?, metadata = ?", [.text(service.root), .blob(service.metadata)])
        }
        if header.lastDownload != known?.lastDownload {
            try connection.run("UPDATE header SET last_download = ?", [integer(header.lastDownload)])
        }
        if header.postponed != known?.postponed {
            try connection.run(
                "UPDATE header SET postponed_until = ?, postponed_attempt = ?, postponed_reason = ?, "
                    + "postponed_since = ?",
                [
                    header.postponed.map { .integer($0.upload.notBefore) } ?? .null,
                    header.postponed.map { .integer(Int64($0.upload.attempt)) } ?? .null,
                    header.postponed.map { .text($0.upload.reason) } ?? .null,
                    header.postponed.map { .integer($0.since) } ?? .null,
                ])
        }
        known = header
    }

    /// Writes the cached numbers.
    func flush() throws(SQLiteError) {
        guard let header = unwritten else { return }
        try connection.run(writeNumbers) { binding in
            binding.integer(Int64(bitPattern: header.applied))
            binding.id(header.nextEntity)
            binding.integer(Int64(bitPattern: header.nextBatch))
        }
        unwritten = nil
    }

    /// Discards the cached header after a rollback.
    func invalidate() { (known, unwritten) = (nil, nil) }

    private func integer(_ value: UInt64) -> SQLValue { .integer(Int64(bitPattern: value)) }
    private func unsigned(_ value: SQLValue) -> UInt64 { UInt64(bitPattern: value.integer ?? 0) }
}
