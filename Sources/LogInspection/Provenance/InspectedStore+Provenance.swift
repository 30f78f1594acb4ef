import EDM
public import OfflineStore
import OperationLog
public import Operations
import SyncCore

extension InspectedStore {
    /// Returns the provenance of an entity.
    ///
    /// It reads the log without locks or views, and decodes only the records that concern the entity and its partners.
    /// For a damaged log, the readable part is used as after a repair.
    ///
    /// - Throws: `notFound` if the log does not contain the entity, `invalidRequest` if the metadata have no such
    ///   entity set or key, `noStore`, or a read error.
    public func provenance(of reference: EntityReference) throws(TidelogError) -> Provenance {
        try readable { reader throws in
            try ProvenanceFold.run(try EntityHistory(of: reference, in: reader), reference)
        }
    }

    /// Returns the entities that the reference may denote. There are several if a key moved from one entity to another.
    ///
    /// - Throws: The errors of ``provenance(of:)``. An entity ID that appears in no record is no error here.
    public func entities(of reference: EntityReference) throws(TidelogError) -> Set<EntityID> {
        if case .id(let id) = reference.selector { return [id] }
        return Set(try readable { reader throws in try EntityHistory.candidates(reference, in: reader) })
    }
}

/// Folds a trail while tracking the entity.
enum ProvenanceFold {
    static func run(_ trail: EntityHistory, _ reference: EntityReference) throws -> Provenance {
        let storage = WorkingSet()
        var outcomes = OperationOutcomes()
        if let beginning = trail.beginning {
            try beginning.restore(trail.entities, into: storage)
            for (sequence, outcome) in beginning.outcomes(trail.operations) { outcomes.carry(sequence, outcome) }
        }
        var fold = try Fold(storage: storage)
        var trackers = trail.candidates.map { EntityTracker($0, operations: trail.operations) }
        if let beginning = trail.beginning {
            for index in trackers.indices { try trackers[index].begin(fold, before: beginning.sequence) }
        }
        var exchanges = ExchangeList()
        let ends = PlaceholderEntities(followed: trail.entities, storage: storage)
        for (sequence, record) in trail.records {
            if case .operation(let operation) = record.body, let model = fold.model {
                try ends.make(for: operation, model)
            }
            try fold.apply(record, sequence: sequence)
            try fold.finishRebase()
            exchanges.add(record, sequence)
            outcomes.apply(record.body, sequence: sequence)
            for index in trackers.indices { try trackers[index].observe(fold, after: record, sequence) }
        }
        guard let tracker = try meant(reference, trackers, fold) else { throw EntityHistory.notFound(reference) }
        return Provenance(
            entity: tracker.entity, set: try storage.set(of: tracker.entity),
            reference: try EntityNaming(fold).reference(tracker.entity), exists: tracker.local.row != nil,
            changes: tracker.changes, lines: try lines(tracker, fold), differing: tracker.differing,
            exchanges: exchanges.exchanges,
            outcomes: Dictionary(
                trail.operations.compactMap { sequence in outcomes[sequence].map { (sequence, $0) } },
                uniquingKeysWith: { a, _ in a }), first: trail.first)
    }

    /// Returns the tracker of the entity that has the key, or was the last one to have it.
    private static func meant(
        _ reference: EntityReference, _ trackers: [EntityTracker], _ fold: Fold
    ) throws -> EntityTracker? {
        let known = try trackers.filter { try fold.storage.set(of: $0.entity) != nil }
        if case .id = reference.selector {
            return try known.first { try reference.set == nil || fold.storage.set(of: $0.entity) == reference.set }
        }
        return known.last { $0.local.row != nil } ?? known.last
    }

    private static func lines(_ tracker: EntityTracker, _ fold: Fold) throws -> [Provenance.Line] {
        guard let row = tracker.local.row else { return [] }
        var pending: [SequenceNumber: Operation] = [:]
        for operation in try fold.storage.pendingOperations() { pending[operation.sequence] = operation.operation }
        let type = fold.model?.findEntityType(row.type)
        let declared = (type?.properties.map(\.name) ?? []).filter { row.values[$0] != nil }
        let others = row.values.names.filter { !declared.contains($0) }.sorted()
        func line(_ part: LastWriters.WrittenPart, _ content: Provenance.AspectValue) -> Provenance.Line {
            let writer = tracker.writers.writer(of: part, pending: pending)
            return Provenance.Line(
                aspect: part.aspect, content: content, sequence: writer?.sequence, time: writer?.time,
                cause: writer?.cause)
        }
        let values = (declared + others).map { name in
            line(.property(name), row.values[name].map(Provenance.AspectValue.value) ?? .absent)
        }
        let links = try tracker.local.links.sorted { $0.key < $1.key }.flatMap { navigation, targets in
            try targets.map { line(.link(navigation, $0), .entities([try EntityNaming(fold).reference($0)])) }
        }
        return values + links
    }
}
