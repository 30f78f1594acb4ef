import EDM
public import Operations
public import SyncCore

/// The streams of entities. They are stored as in a snapshot, because no query searches them.
extension SQLiteState {
    public func streams(of id: EntityID) throws(StateError) -> [StreamImage] {
        guard let state = try first("SELECT state FROM streams WHERE entity = ?", [integer(id)])?.first?.blob else {
            return []
        }
        return try Self.streams(state)
    }

    public func putStreams(_ streams: [StreamImage], of id: EntityID) throws(StateError) {
        guard !streams.isEmpty else { return try run("DELETE FROM streams WHERE entity = ?", [integer(id)]) }
        try run(
            "INSERT OR REPLACE INTO streams VALUES (?, ?)",
            [integer(id), .blob(SnapshotCodec.encode(.streams(id, streams)).payload)])
    }

    static func streams(_ state: [UInt8]) throws(StateError) -> [StreamImage] {
        do throws(CodecError) {
            if case .streams(_, let streams) = try SnapshotCodec.decode(.streamsTold, payload: state) { return streams }
        } catch {
            throw StateError(.damaged, "The views contain streams that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain invalid streams.")
    }
}
