import EDM
public import Operations
public import SyncCore

/// Merge bases. They are stored as in a snapshot, because no query searches them.
extension SQLiteState {
    public func ancestor(_ id: EntityID) throws(StateError) -> Ancestor? {
        guard let state = try first("SELECT state FROM ancestors WHERE entity = ?", [integer(id)])?.first?.blob else {
            return nil
        }
        return try Self.ancestor(state)
    }

    public func putAncestor(_ ancestor: Ancestor) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO ancestors VALUES (?, ?)",
            [integer(ancestor.id), .blob(SnapshotCodec.encode(.ancestor(ancestor)).payload)])
    }

    public func removeAncestor(_ id: EntityID) throws(StateError) {
        try run("DELETE FROM ancestors WHERE entity = ?", [integer(id)])
    }

    public func ancestors() throws(StateError) -> [EntityID] {
        try list("SELECT entity FROM ancestors ORDER BY entity") {
            EntityID(rawValue: UInt64(bitPattern: $0.integer(0)))
        }
    }

    public func hasAncestors() throws(StateError) -> Bool { try first("SELECT 1 FROM ancestors LIMIT 1") != nil }

    static func ancestor(_ state: [UInt8]) throws(StateError) -> Ancestor {
        do throws(CodecError) {
            if case .ancestor(let ancestor) = try SnapshotCodec.decode(.ancestor, payload: state) { return ancestor }
        } catch {
            throw StateError(.damaged, "The views hold an ancestor that does not decode. \(error)")
        }
        throw StateError(.damaged, "The views hold an ancestor that is none.")
    }
}
