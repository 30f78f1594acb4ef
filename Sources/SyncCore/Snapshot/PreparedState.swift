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
            if isShared(item) { try restoration.add(item) }
        }
        try restoration.complete()
        _ = try Fold(storage: copy).writeSnapshot(to: sink)
    }

    private static func isShared(_ item: SnapshotItem) -> Bool {
        switch item {
        case .header, .service, .query, .entity, .key, .row, .link, .coverage, .lastDownload, .openLinks, .quarantine:
            true
        case .base, .pending, .undone, .postponed, .openBatch, .ancestor, .since, .streams, .events, .end: false
        }
    }
}
