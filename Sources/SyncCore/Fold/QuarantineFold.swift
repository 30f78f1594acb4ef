import Operations

/// The quarantine: entities that downloads delivered and the store could not accept.
struct QuarantineFold {
    let storage: WorkingSet

    /// Adds entities to the quarantine. A new entry replaces the one for the same entity. Entries above the limit of a
    /// query are only counted.
    func add(
        _ entities: [QuarantinedEntity], _ sequence: SequenceNumber, _ time: Timestamp
    ) throws(StateError) {
        var entries = try storage.bookkeeping.quarantine()
        for entity in entities {
            if entity.name != nil {
                entries.removeAll {
                    $0.entity.query == entity.query && $0.entity.name == entity.name && $0.entity.path == entity.path
                }
            }
            let entry = QuarantineEntry(sequence: sequence, time: time, entity: entity)
            let isFull = entries.count { $0.entity.query == entity.query } >= QuarantinedEntity.limit
            if isFull { Self.count(entry, in: &entries) } else { entries.append(entry) }
        }
        try storage.bookkeeping.putQuarantine(entries)
    }

    /// Adds to the last entry of the query, which counts all further entities.
    private static func count(_ entry: QuarantineEntry, in entries: inout [QuarantineEntry]) {
        guard let place = entries.lastIndex(where: { $0.entity.query == entry.entity.query }) else { return }
        var last = entries[place].entity
        if last.reason != .further {
            last = QuarantinedEntity(
                query: last.query, set: last.set, reason: .further, message: "Further entities could not be accepted.",
                hidesOthers: last.hidesOthers, count: last.count)
        }
        let (sum, overflows) = last.count.addingReportingOverflow(entry.entity.count)
        last.count = overflows ? .max : sum
        last.hidesOthers = last.hidesOthers || entry.entity.hidesOthers
        entries[place] = QuarantineEntry(sequence: entry.sequence, time: entry.time, entity: last)
    }

    /// Removes the entries of earlier downloads of the query: the entities were not delivered again, or were accepted.
    ///
    /// - Returns: The remaining entries of the query.
    func keep(
        of query: String, since start: SequenceNumber
    ) throws(StateError) -> [QuarantineEntry] {
        let entries = try storage.bookkeeping.quarantine()
        let kept = entries.filter { $0.entity.query != query || $0.sequence >= start }
        if kept.count != entries.count { try storage.bookkeeping.putQuarantine(kept) }
        return kept.filter { $0.entity.query == query }
    }
}

extension StateReader {
    /// Returns the entities that the query's unfinished download could not accept.
    package func quarantine(of state: QueryState) throws(StateError) -> [QuarantineEntry] {
        let start = try quarantineStart(of: state)
        return try bookkeeping.quarantine().filter { $0.entity.query == state.query.name && $0.sequence >= start }
    }

    /// Returns the first record whose entries belong to the query's unfinished download.
    ///
    /// A full download keeps its entries if it is interrupted and resumed. A delta is requested again from the page
    /// with the entity that could not be accepted.
    func quarantineStart(of state: QueryState) throws(StateError) -> SequenceNumber {
        state.isDelta ? try header().lastDownload : state.run
    }
}
