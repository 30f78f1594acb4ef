import EDM
import Operations
public import SyncCore

/// The last events. They are stored as one value, as in a snapshot, because they are few and no query searches them.
extension SQLiteState {
    public func events() throws(StateError) -> [StoreEvent] {
        guard let state = try first("SELECT state FROM events")?.first?.blob else { return [] }
        do throws(CodecError) {
            if case .events(let events) = try SnapshotCodec.decode(.events, payload: state) { return events }
        } catch {
            throw StateError(.damaged, "The views contain events that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain invalid events.")
    }

    public func putEvents(_ events: [StoreEvent]) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO events VALUES (1, ?)", [.blob(SnapshotCodec.encode(.events(events)).payload)])
    }
}
