import EDM
import Operations
import SyncCore

/// Tracks one entity while a log is folded.
struct EntityTracker {
    let entity: EntityID
    private(set) var changes: [Provenance.Change] = []
    private(set) var writers: LastWriters
    private(set) var local = EntityView()
    private var base = EntityView()
    /// The operations that concern the entity.
    private let operations: Set<SequenceNumber>

    init(_ entity: EntityID, operations: Set<SequenceNumber>) {
        self.entity = entity
        writers = LastWriters(of: entity)
        self.operations = operations
    }

    /// Initializes the tracker with the state of a log that begins after a compaction.
    mutating func begin(_ fold: Fold, before first: SequenceNumber) throws(StateError) {
        base = try EntityView(entity, in: fold, isLocal: false)
        let now = try EntityView(entity, in: fold, isLocal: true)
        let writer = LastWriters.Writer(sequence: first &- 1, time: nil, cause: .compaction)
        for part in base.parts { writers.setBase(part, writer) }
        try recordChanges(from: local, to: now, fold, first &- 1, nil, isVisible: true) { _ in .compaction }
        local = now
        for pending in try fold.storage.pendingOperations() {
            for (part, value) in pending.operation.parts(of: entity, in: now) {
                writers.edit(
                    part, by: pending.sequence, at: pending.time, value: value, isExplicit: true)
            }
        }
    }

    /// Records the changes of the entity.
    ///
    /// - Parameter fold: The fold after the record, with pending operations applied.
    mutating func observe(
        _ fold: Fold, after record: Record, _ sequence: SequenceNumber
    ) throws(StateError) {
        let (localBefore, baseBefore) = (local, base)
        local = try EntityView(entity, in: fold, isLocal: true)
        base = try EntityView(entity, in: fold, isLocal: false)
        let causes = RecordCauses(record: record, sequence: sequence, entity: entity, operations: operations)
        let time = record.body == .lost ? nil : record.time
        if case .operation(let operation) = record.body {
            recordEdits(operation, sequence, time, from: localBefore)
        }
        recordBase(from: baseBefore, causes, sequence, time, keys: keys(fold))
        if record.body.tellsOfService {
            recordConsequences(from: localBefore, baseBefore, causes, sequence, time, keys(fold))
        }
        let writers = writers
        let keys = keys(fold)
        let (localNow, baseNow) = (local, base)
        try recordChanges(from: localBefore, to: local, fold, sequence, time, isVisible: true) { aspect in
            causes.cause(of: aspect, in: localNow, writers, keys: keys).cause
        }
        if baseBefore != base {
            // Visible changes were already recorded.
            try recordBelow(from: baseBefore, to: baseNow, fold, sequence, time) { aspect in
                causes.cause(of: aspect, in: baseNow, writers, keys: keys).cause
            }
        }
    }

    private func keys(_ fold: Fold) -> Set<String> {
        guard let row = local.row ?? base.row, let type = fold.model?.findEntityType(row.type) else { return [] }
        return Set(type.keyProperties.map(\.name))
    }

    // MARK: Writers

    private mutating func recordEdits(
        _ operation: Operation, _ sequence: SequenceNumber, _ time: Timestamp?, from before: EntityView
    ) {
        var noted: Set<LastWriters.WrittenPart> = []
        for (part, value) in operation.parts(of: entity, in: local) {
            writers.edit(part, by: sequence, at: time, value: value, isExplicit: true)
            noted.insert(part)
        }
        for part in local.differences(from: before) where !noted.contains(part) {
            writers.edit(part, by: sequence, at: time, value: local.value(of: part), isExplicit: false)
        }
    }

    private mutating func recordBase(
        from before: EntityView, _ causes: RecordCauses, _ sequence: SequenceNumber, _ time: Timestamp?,
        keys: Set<String>
    ) {
        let written = writers.parts(editedBy: causes.confirmed).union(base.differences(from: before))
        for part in written where base.has(part) {
            let (cause, writer) = causes.cause(of: part.aspect, part, in: base, writers, keys: keys)
            writers.setBase(part, writer ?? LastWriters.Writer(sequence: sequence, time: time, cause: cause))
        }
    }

    private mutating func recordConsequences(
        from before: EntityView, _ baseBefore: EntityView, _ causes: RecordCauses, _ sequence: SequenceNumber,
        _ time: Timestamp?, _ keys: Set<String>
    ) {
        let below = base.differences(from: baseBefore)
        for part in local.differences(from: before) where local.has(part) && !below.contains(part) {
            let cause = causes.cause(of: part.aspect, part, in: local, writers, keys: keys).cause
            writers.setConsequence(part, LastWriters.Writer(sequence: sequence, time: time, cause: cause))
        }
    }

    // MARK: Changes

    /// The aspects in which the current state differs from the base state after the last record.
    var differing: Set<Provenance.Aspect> { Set(base.aspects(and: local)) }

    private mutating func recordChanges(
        from before: EntityView, to after: EntityView, _ fold: Fold, _ sequence: SequenceNumber,
        _ time: Timestamp?, isVisible: Bool, _ cause: (Provenance.Aspect) -> Provenance.Cause
    ) throws(StateError) {
        guard before != after else { return }
        for aspect in before.aspects(and: after) {
            changes.append(
                Provenance.Change(
                    sequence: sequence, time: time, aspect: aspect,
                    before: try before.content(of: aspect, besides: after, fold),
                    after: try after.content(of: aspect, besides: before, fold), cause: cause(aspect),
                    isVisible: isVisible))
        }
    }

    /// Records changes of the base state that are not visible.
    private mutating func recordBelow(
        from before: EntityView, to after: EntityView, _ fold: Fold, _ sequence: SequenceNumber,
        _ time: Timestamp?, _ cause: (Provenance.Aspect) -> Provenance.Cause
    ) throws(StateError) {
        for aspect in before.aspects(and: after) where aspect != .existence {
            guard local.row != nil, after.differs(from: local, in: aspect) else { continue }
            changes.append(
                Provenance.Change(
                    sequence: sequence, time: time, aspect: aspect,
                    before: try before.content(of: aspect, besides: after, fold),
                    after: try after.content(of: aspect, besides: before, fold), cause: cause(aspect), isVisible: false)
            )
        }
    }
}

extension Record.Body {
    /// Whether the record contains state of the service.
    fileprivate var tellsOfService: Bool {
        switch self {
        case .batchAnswered, .downloadPage, .entitiesRead: true
        default: false
        }
    }
}

extension LastWriters.WrittenPart {
    var aspect: Provenance.Aspect {
        switch self {
        case .property(let name): .property(name)
        case .link(let navigation, _): .link(navigation)
        }
    }
}

extension EntityView {
    var parts: Set<LastWriters.WrittenPart> {
        var parts = Set(values.names.map(LastWriters.WrittenPart.property))
        for (navigation, targets) in links { for target in targets { parts.insert(.link(navigation, target)) } }
        return parts
    }

    func value(of part: LastWriters.WrittenPart) -> Value? {
        if case .property(let name) = part { values[name] } else { nil }
    }

    func has(_ part: LastWriters.WrittenPart) -> Bool {
        switch part {
        case .property(let name): values[name] != nil
        case .link(let navigation, let target): links[navigation]?.contains(target) ?? false
        }
    }

    /// Returns the parts that differ between the two views or exist in only one of them.
    func differences(from other: EntityView) -> Set<LastWriters.WrittenPart> {
        let names = values.names + other.values.names.filter { values[$0] == nil }
        var parts = Set(names.filter { values[$0] != other.values[$0] }.map(LastWriters.WrittenPart.property))
        for navigation in Set(links.keys).union(other.links.keys) where links[navigation] != other.links[navigation] {
            let targets = Set(links[navigation] ?? []).symmetricDifference(other.links[navigation] ?? [])
            for target in targets { parts.insert(.link(navigation, target)) }
        }
        return parts
    }

    func differs(from other: EntityView, in aspect: Provenance.Aspect) -> Bool {
        switch aspect {
        case .existence: (row == nil) != (other.row == nil)
        case .property(let name): values[name] != other.values[name]
        case .link(let navigation): links[navigation] != other.links[navigation]
        }
    }

    /// Returns the aspects in which the two views differ: existence first, then properties and navigation properties by
    /// name.
    func aspects(and other: EntityView) -> [Provenance.Aspect] {
        var aspects: [Provenance.Aspect] = (row == nil) != (other.row == nil) ? [.existence] : []
        // The properties of a missing entity have not changed.
        let isThere = other.row != nil
        if isThere {
            let names = values.names + other.values.names.filter { values[$0] == nil }
            aspects += names.filter { values[$0] != other.values[$0] }.map(Provenance.Aspect.property)
            let navigations = Set(links.keys).union(other.links.keys).sorted()
            aspects += navigations.filter { links[$0] != other.links[$0] }.map(Provenance.Aspect.link)
        }
        return aspects
    }

    /// Returns the content of an aspect. For a navigation property it is limited to the targets that the other view
    /// does not have, because an entity may have thousands.
    func content(
        of aspect: Provenance.Aspect, besides other: EntityView, _ fold: Fold
    ) throws(StateError) -> Provenance.AspectValue {
        switch aspect {
        case .existence: return row == nil ? .absent : .present
        case .property(let name): return values[name].map(Provenance.AspectValue.value) ?? .absent
        case .link(let navigation):
            let common = Set(other.links[navigation] ?? [])
            let targets = (links[navigation] ?? []).filter { !common.contains($0) }
            guard !targets.isEmpty else { return .absent }
            var names: [String] = []
            for target in targets { names.append(try EntityNaming(fold).reference(target)) }
            return .entities(names)
        }
    }
}

extension Operation {
    /// Returns the parts of the entity that the operation contains explicitly.
    func parts(of entity: EntityID, in view: EntityView) -> [(LastWriters.WrittenPart, Value?)] {
        var parts: [(LastWriters.WrittenPart, Value?)] = []
        for (name, value) in explicitValues[entity] ?? [:] { parts.append((.property(name), value)) }
        let others = Set(touchedEntities).subtracting([entity])
        guard !others.isEmpty, touchedEntities.contains(entity) else { return parts }
        if case .deleteLink = action { return parts }
        for (navigation, targets) in view.links {
            for target in targets where others.contains(target) && names(navigation, of: entity, with: target) {
                parts.append((.link(navigation, target), nil))
            }
        }
        return parts
    }

    /// Returns whether the operation explicitly links the two entities.
    private func names(_ navigation: String, of entity: EntityID, with target: EntityID) -> Bool {
        switch action {
        case .createLink(let link), .updateLink(let link):
            return Set([link.from, link.to]) == Set([entity, target])
        case .update(let subject, _, let bindings):
            return (subject == entity && bindings.contains { $0.targets.contains(target) })
                || (subject == target && bindings.contains { $0.targets.contains(entity) })
        // A creation links all entities that it refers to.
        case .create: return true
        case .delete, .deleteLink: return false
        }
    }
}
