import Operations

/// The part of a state that a copy of the store for other devices contains: the entities of the service and the defining
/// queries with their delta links, without the history, the queue and the streams of this store.
package enum PreparedState {
    /// Writes a snapshot of that part, record by record.
    ///
    /// Memory: the part of the state.
    /// - Precondition: No operation is pending.
    package static func writeSnapshot(
        of storage: some StateReader, to sink: (_ kind: UInt8, _ payload: [UInt8]) throws -> Void
    ) throws {
        let copy = WorkingSet()
        var restoration = StateRestoration(into: copy)
        try StateSnapshot.forEachItem(of: storage) { item in
            if let shared = shared(item) { try restoration.add(shared) }
        }
        try restoration.complete()
        _ = try Fold(storage: copy).writeSnapshot(to: sink)
    }

    /// Returns the part of an item that the copy contains, or nil.
    private static func shared(_ item: SnapshotItem) -> SnapshotItem? {
        switch item {
        case .header(var header):
            header.postponed = nil
            return .header(header)
        case .service, .query, .entity, .key, .row, .link, .coverage, .openLinks, .quarantine: return item
        case .base, .pending, .undone, .openBatch, .ancestor, .streams, .events, .end: return nil
        }
    }
}
