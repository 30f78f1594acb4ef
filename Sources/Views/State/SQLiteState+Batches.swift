import EDM
public import Operations
public import SyncCore

/// Open batches. They are few, and each is read as a whole.
extension SQLiteState {
    private static let batchColumns = "monitor, prepared"

    public func openBatches() throws(StateError) -> [OpenBatch] {
        let rows = try list("SELECT \(Self.batchColumns) FROM open_batches ORDER BY batch") { row in
            (0..<row.count).map { row[$0] }
        }
        return try rows.map { row throws(StateError) in try openBatch(row) }
    }

    public func openBatch(_ batch: BatchID) throws(StateError) -> OpenBatch? {
        guard
            let row = try first("SELECT \(Self.batchColumns) FROM open_batches WHERE batch = ?", [integer(batch)])
        else { return nil }
        return try openBatch(row)
    }

    public func putOpenBatch(_ batch: OpenBatch) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO open_batches VALUES (?, ?, ?)",
            [
                integer(batch.batch), batch.monitor.map(SQLValue.text) ?? .null,
                .blob(ValueCodec.encode(batch.prepared)),
            ])
    }

    public func removeOpenBatch(_ batch: BatchID) throws(StateError) {
        try run("DELETE FROM open_batches WHERE batch = ?", [integer(batch)])
    }

    private func openBatch(_ row: [SQLValue]) throws(StateError) -> OpenBatch {
        do throws(CodecError) {
            return OpenBatch(try ValueCodec.decodeBatchPrepared(row[1].blob ?? []), monitor: row[0].text)
        } catch {
            throw StateError(.damaged, "The views contain a batch that cannot be decoded. \(error)")
        }
    }
}
