import Operations

/// What downloads brought and could not be taken.
extension Fold {
    /// An entity that comes again takes the place of what was said of it; beyond the limit of a query only their number is
    /// kept.
    func quarantine(
        _ entities: [QuarantinedEntity], _ sequence: SequenceNumber, _ time: Timestamp
    ) throws(StateError) {
        var entries = try storage.quarantine()
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
        try storage.putQuarantine(entries)
    }

    /// Adds to the last entry of the query, which stands for all further ones.
    private static func count(_ entry: QuarantineEntry, in entries: inout [QuarantineEntry]) {
        guard let place = entries.lastIndex(where: { $0.entity.query == entry.entity.query }) else { return }
        var last = entries[place].entity
        if last.reason != .further {
            last = QuarantinedEntity(
                query: last.query, set: last.set, reason: .further, message: "Further entities could not be taken.",
                hidesOthers: last.hidesOthers, count: last.count)
        }
        last.count = last.count.addingReportingOverflow(entry.entity.count).partialValue
        last.hidesOthers = last.hidesOthers || entry.entity.hidesOthers
        entries[place] = QuarantineEntry(sequence: entry.sequence, time: entry.time, entity: last)
    }

    /// Forgets what earlier downloads of the query said: it did not come again, or could be taken.
    ///
    /// - Returns: what this one said.
    func keepQuarantine(
        of query: String, since start: SequenceNumber
    ) throws(StateError) -> [QuarantineEntry] {
        let entries = try storage.quarantine()
        let kept = entries.filter { $0.entity.query != query || $0.sequence >= start }
        if kept.count != entries.count { try storage.putQuarantine(kept) }
        return kept.filter { $0.entity.query == query }
    }
}

extension StateReader {
    /// The entities that the query's download, which has not finished yet, could not take.
    public func quarantine(of state: QueryState) throws(StateError) -> [QuarantineEntry] {
        let start = try quarantineStart(of: state)
        return try quarantine().filter { $0.entity.query == state.query.name && $0.sequence >= start }
    }

    /// From which record on entries are of the query's download that has not finished yet.
    ///
    /// A full one may have been interrupted, and then goes on with what it knows. Changes are asked for again from the page
    /// that had an entity that could not be taken.
    func quarantineStart(of state: QueryState) throws(StateError) -> SequenceNumber {
        state.isDelta ? try header().lastDownload : state.run
    }
}
