import Operations

/// A comparison of a state with the expected one.
package enum StateComparison {
    /// Returns a sentence about the first item that is wrong or missing, or nil if the digests are equal.
    ///
    /// Cost: one pass over each of the two states; if they differ, two passes, and eight bytes for each item of one of
    /// them.
    package static func firstDifference(
        of state: some StateReader, from expected: some StateReader
    ) throws -> String? {
        guard try StateDigest(of: state) != StateDigest(of: expected) else { return nil }
        if let item = try firstItem(of: state, notIn: try hashes(of: expected)) {
            return "\(item.subject) differs from the log, or is not in it."
        }
        if let item = try firstItem(of: expected, notIn: try hashes(of: state)) {
            return "\(item.subject) is missing."
        }
        return "The defining queries have another order than in the log, or an item occurs twice."
    }

    private static func hashes(of state: some StateReader) throws -> Set<UInt64> {
        var hashes: Set<UInt64> = []
        try StateSnapshot.forEachItem(of: state) { hashes.insert(StateHash.hash($0)) }
        return hashes
    }

    private static func firstItem(
        of state: some StateReader, notIn hashes: Set<UInt64>
    ) throws -> SnapshotItem? {
        var found: SnapshotItem?
        try StateSnapshot.forEachItem(of: state) { item in
            if found == nil, !hashes.contains(StateHash.hash(item)) { found = item }
        }
        return found
    }
}

extension SnapshotItem {
    /// The item as the start of a sentence.
    fileprivate var subject: String {
        switch self {
        case .header: "A counter, or the postponement of the next upload,"
        case .service: "The metadata"
        case .query(let query): "The defining query \(query.query.name)"
        case .entity(let id, let set): "The registration of entity \(id.rawValue) of \(set)"
        case .key(let key, let set, _): "The key \(set)(\(key))"
        case .row(let row): "Entity \(row.id.rawValue) of \(row.set)"
        case .base(let id, _): "The state of entity \(id.rawValue) at the service"
        case .link(let link): "A link of entity \(link.first.rawValue) to entity \(link.second.rawValue)"
        case .pending(let pending): "Pending operation \(pending.sequence)"
        case .coverage(let query, let id, _): "The coverage of entity \(id.rawValue) by the query \(query)"
        case .undone(let undone): "Undone operation \(undone.operation.sequence)"
        case .openBatch(let batch): "Batch \(batch.prepared.batch)"
        case .ancestor(let mergeBase): "The merge base of entity \(mergeBase.row.id.rawValue)"
        case .streams(let id, _): "The streams of entity \(id.rawValue)"
        case .events: "The events"
        case .openLinks: "The dangling links"
        case .quarantine: "The quarantine"
        case .end: "The end"
        }
    }
}
