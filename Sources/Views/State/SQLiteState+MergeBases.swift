import EDM
public import Operations
public import SyncCore

/// Merge bases. They are stored as in a snapshot, because no query searches them.
extension SQLiteState {
    public func mergeBase(_ id: EntityID) throws(StateError) -> MergeBase? {
        guard let state = try first("SELECT state FROM ancestors WHERE entity = ?", [integer(id)])?.first?.blob else {
            return nil
        }
        return try Self.mergeBase(state)
    }

    public func putMergeBase(_ mergeBase: MergeBase) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO ancestors VALUES (?, ?)",
            [integer(mergeBase.id), .blob(SnapshotCodec.encode(.ancestor(mergeBase)).payload)])
    }

    public func removeMergeBase(_ id: EntityID) throws(StateError) {
        try run("DELETE FROM ancestors WHERE entity = ?", [integer(id)])
    }

    public func mergeBases() throws(StateError) -> [EntityID] {
        try list("SELECT entity FROM ancestors ORDER BY entity") {
            EntityID(rawValue: UInt64(bitPattern: $0.integer(0)))
        }
    }

    public func hasMergeBases() throws(StateError) -> Bool { try first("SELECT 1 FROM ancestors LIMIT 1") != nil }

    static func mergeBase(_ state: [UInt8]) throws(StateError) -> MergeBase {
        do throws(CodecError) {
            if case .ancestor(let mergeBase) = try SnapshotCodec.decode(.ancestor, payload: state) { return mergeBase }
        } catch {
            throw StateError(.damaged, "The views contain a merge base that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain an invalid merge base.")
    }
}
