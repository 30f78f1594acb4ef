import EDM
import Operations
public import SyncCore

/// The quarantine. It is stored as one value, as in a snapshot, because it is small.
extension SQLiteState {
    public func quarantine() throws(StateError) -> [QuarantineEntry] {
        guard let state = try first("SELECT state FROM quarantine")?.first?.blob else { return [] }
        do throws(CodecError) {
            if case .quarantine(let entries) = try SnapshotCodec.decode(.quarantine, payload: state) { return entries }
        } catch {
            throw StateError(.damaged, "The views contain a quarantine that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain an invalid quarantine.")
    }

    public func putQuarantine(_ entries: [QuarantineEntry]) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO quarantine VALUES (1, ?)",
            [.blob(SnapshotCodec.encode(.quarantine(entries)).payload)])
    }
}
