import EDM
import Operations

/// A layer of the state as an editor sees it: the current state or the base state.
///
/// If the pending operations remain applied while the base state is edited, the base state of an entity is the saved
/// one if they changed the entity, and otherwise its row.
final class StateLayer {
    enum LayerKind {
        case local
        /// No pending operation is applied, so the current state is the base state.
        case baseWithoutPending
        /// The pending operations remain applied.
        case baseUnderPending
    }

    let state: WorkingSet
    let index: RelationshipIndex
    let kind: LayerKind
    /// The items that the edit has read and written; empty if ``records`` is false.
    private(set) var effect = OperationEffect()
    let records: Bool
    /// The results of the last look-ups, cached because most items of an edit are about one set and type.
    private var lastRelationships: RelationshipIndex.SetRelationships?
    private var lastType: EntityType?
    private var lastMetadata: KindMetadata?
    private var lastItems = StateItem.LinkItems("")
    /// The entities whose existing row was changed or removed since ``trackRewrites(_:)``.
    private(set) var rewritten = EntityIDSet()
    private var tracksRewrites = false
    /// The entities that gained or lost some values in the base state.
    private(set) var matches: [StateItem: SmallSet<EntityID>] = [:]

    init(_ state: WorkingSet, _ index: RelationshipIndex, _ kind: LayerKind, records: Bool = false) {
        self.state = state
        self.index = index
        self.kind = kind
        self.records = records || kind == .baseUnderPending
    }

    /// Starts or ends the tracking of ``rewritten``. Only for a layer that records effects.
    func trackRewrites(_ isOn: Bool) { (tracksRewrites, rewritten) = (isOn, EntityIDSet()) }

    /// Discards the effect, so that the layer can be used for the next operation.
    func discardEffect() { effect.removeAll() }

    /// Prepares the layer for another edit, which knows these ``matches``.
    func restart(_ known: [StateItem: SmallSet<EntityID>]) {
        if records { discardEffect() }
        matches = known
    }

    /// Returns ``matches`` at the end of an edit. Moved, because the first change of a copy would copy the whole table.
    func takeMatches() -> [StateItem: SmallSet<EntityID>] {
        var taken: [StateItem: SmallSet<EntityID>] = [:]
        swap(&taken, &matches)
        return taken
    }

    /// Returns the relationships of a set, or nil if the model does not have it.
    func relationships(of set: String) -> RelationshipIndex.SetRelationships? {
        if let lastRelationships, lastRelationships.set.isExactly(set) { return lastRelationships }
        let found = index.relationships(of: set)
        if found != nil { lastRelationships = found }
        return found
    }

    /// Returns the metadata of a set and a type, or nil if the model does not have both.
    func metadata(set name: String, type typeName: String) -> KindMetadata? {
        if let lastMetadata, lastMetadata.kind.isAbout(name, typeName) { return lastMetadata }
        guard let set = index.model.findEntitySet(name), let type = entityType(typeName) else { return nil }
        let metadata = KindMetadata(set, type, EntityKind(set: name, type: typeName), index)
        lastMetadata = metadata
        return metadata
    }

    /// Returns the items of a relationship.
    private func items(of relationship: String) -> StateItem.LinkItems {
        if !lastItems.relationship.isExactly(relationship) { lastItems = StateItem.LinkItems(relationship) }
        return lastItems
    }

    private func record(_ item: @autoclosure () -> StateItem, _ access: Access) {
        if records { effect.record(item(), access) }
    }

    /// Returns an entity type, or nil if the model does not have it.
    func entityType(_ name: String) -> EntityType? {
        if let lastType, lastType.name.isExactly(name) { return lastType }
        let found = index.model.findEntityType(name)
        if found != nil { lastType = found }
        return found
    }

    // MARK: Rows

    /// - Parameter reading: The parts of the row that the caller uses. The result must not depend on other parts.
    func row(_ id: EntityID, reading: Access = .readsValues) throws(StateError) -> EntityRow? {
        record(.entity(id), reading)
        return try current(id)
    }

    /// Returns the kind and the values of an entity, or nil if it does not exist.
    ///
    /// - Parameter reading: The values that the caller uses.
    func content(of id: EntityID, reading: Access) throws(StateError) -> EntityContent? {
        record(.entity(id), reading)
        if kind != .baseUnderPending { return try state.content(of: id) }
        return try current(id).map { EntityContent(kind: $0.kind, values: $0.values) }
    }

    /// Records that the caller uses a part of an entity that it knows.
    func recordReading(of id: EntityID, _ access: Access) { record(.entity(id), access) }

    /// Returns the type of an entity, or nil if it does not exist.
    func type(of id: EntityID) throws(StateError) -> String? {
        record(.entity(id), .readsExistence)
        return kind == .baseUnderPending ? try current(id)?.type : try state.kind(of: id)?.type
    }

    private func current(_ id: EntityID) throws(StateError) -> EntityRow? {
        if kind == .baseUnderPending, let base = try state.base(id) {
            return if case .row(let row) = base { row } else { nil }
        }
        return try state.row(id)
    }

    /// Stores a row. In the current state, the first change of an entity saves its base state before.
    func putRow(_ row: EntityRow) throws(StateError) {
        let (before, isBase) = try prepareWriting(of: row.id)
        if tracksRewrites, before != nil { rewritten.insert(row.id) }
        if records { if let before { recordChange(from: before, to: row) } else { recordExistence(of: row) } }
        if isBase {
            try state.saveBase(row.id, .row(row))
        } else {
            try state.putRow(row)
        }
    }

    /// Removes a row. In the current state, the first change of an entity saves its base state before.
    func removeRow(_ id: EntityID) throws(StateError) {
        let (before, isBase) = try prepareWriting(of: id)
        if tracksRewrites { rewritten.insert(id) }
        if records { if let before { recordExistence(of: before) } else { effect.record(.entity(id), .writesValues) } }
        if isBase {
            try state.saveBase(id, .absent)
        } else {
            try state.removeRow(id)
        }
    }

    /// Saves the base state if necessary. Returns the row if it is saved or changes are recorded, and whether the change
    /// replaces the saved base state.
    private func prepareWriting(of id: EntityID) throws(StateError) -> (before: EntityRow?, isBase: Bool) {
        if kind == .baseUnderPending, let base = try state.base(id) {
            let before: EntityRow? = if case .row(let row) = base { row } else { nil }
            return (before, true)
        }
        let savesBase = kind == .local ? try !state.hasBase(id) : false
        guard savesBase || records else { return (nil, false) }
        let before = try state.row(id)
        if savesBase { try state.saveBase(id, before.map(BaseState.row) ?? .absent) }
        return (before, false)
    }

    /// Records the creation or the removal of a row.
    private func recordExistence(of row: EntityRow) {
        if let relationships = relationships(of: row.set) {
            for properties in relationships.compared { recordMatch(properties, of: row) }
        }
        effect.record(.entity(row.id), [.writesValues, .writesExistence, .writesKeys])
    }

    private func recordChange(from before: EntityRow, to after: EntityRow) {
        var access: Access = .writesValues
        if before.set != after.set || before.type != after.type {
            access.formUnion([.writesExistence, .writesKeys])
        }
        for properties in relationships(of: after.set)?.compared ?? [] {
            if properties.names.allSatisfy({ Self.areSame(before.values[$0], after.values[$0]) }) { continue }
            access.formUnion(.writesKeys)
            recordMatch(properties, of: before)
            recordMatch(properties, of: after)
        }
        effect.record(.entity(after.id), access)
    }

    private func recordMatch(_ properties: StateItem.MatchItems, of row: EntityRow) {
        guard let item = properties.item(of: row.values) else { return }
        effect.record(item, .writesMembers)
        if kind == .baseUnderPending { matches[item, default: SmallSet()].insert(row.id) }
    }

    /// Returns whether the values are identical, not only equal: `1.5` is not identical to `1.50`.
    private static func areSame(_ a: Value?, _ b: Value?) -> Bool {
        switch (a, b) {
        case (nil, nil), (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.boolean(let a), .boolean(let b)): a == b
        case (.guid(let a), .guid(let b)): a == b
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        default: false
        }
    }

    func findRows(set: String, where values: [(property: String, value: Value)]) throws(StateError) -> [EntityID] {
        record(.match(set, values), .readsMembers)
        let found = try state.findRows(set: set, where: values)
        guard kind == .baseUnderPending else { return found }
        let item = StateItem.match(set, values)
        // An entity that has the values only in the base state lost them through an operation, or gained them in this
        // edit.
        var candidates = Set(found).union(matches[item]?.elements ?? [])
        try state.forEachAccess(to: item, disturbedBy: .readsMembers) { sequence, _ throws(StateError) in
            try state.forEachAccess(by: sequence) { item, access in
                if access.contains(.writesValues), let id = item.entity { candidates.insert(id) }
            }
        }
        var matching: [EntityID] = []
        for id in candidates.sorted() {
            guard let row = try current(id), row.set == set,
                values.allSatisfy({ row.values.value(at: $0.property) == $0.value })
            else { continue }
            matching.append(id)
        }
        return matching
    }

    // MARK: Identity

    func set(of id: EntityID) throws(StateError) -> String? { try state.set(of: id) }
    func register(_ id: EntityID, set: String) throws(StateError) { try state.register(id, set: set) }
    func assignKey(set: String, key: String, to id: EntityID) throws(StateError) {
        try state.assignKey(set: set, key: key, to: id)
    }

    // MARK: Links

    func links(_ relationship: String, first id: EntityID) throws(StateError) -> [LinkRow] {
        if records { effect.record(items(of: relationship).end(id, isFirst: true), .readsMembers) }
        return seen(try state.links(relationship, first: id))
    }

    func links(_ relationship: String, second id: EntityID) throws(StateError) -> [LinkRow] {
        if records { effect.record(items(of: relationship).end(id, isFirst: false), .readsMembers) }
        return seen(try state.links(relationship, second: id))
    }

    func links(of id: EntityID, along end: Navigation) throws(StateError) -> [LinkRow] {
        end.relationship.isForward
            ? try links(end.relationship.name, first: id) : try links(end.relationship.name, second: id)
    }

    func links(of id: EntityID) throws(StateError) -> [LinkRow] {
        record(.entity(id), .readsMembers)
        return seen(try state.links(of: id))
    }

    func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow? {
        if records { effect.record(items(of: relationship).link(first, second), .readsValues) }
        guard let link = try state.link(relationship, first: first, second: second) else { return nil }
        return kind == .baseUnderPending ? Self.inBase(link) : link
    }

    private func seen(_ links: [LinkRow]) -> [LinkRow] {
        kind == .baseUnderPending ? links.compactMap(Self.inBase) : links
    }

    /// Returns a link as it is in the base state, or nil if it is not in the base state.
    private static func inBase(_ link: LinkRow) -> LinkRow? {
        guard link.inBase else { return nil }
        var link = link
        link.inLocal = true
        return link
    }

    func setLink(
        _ relationship: String, _ first: EntityID, _ second: EntityID, _ isPresent: Bool
    ) throws(StateError) {
        if records {
            effect.recordWriting(
                of: DirtySet.LinkEnds(relationship: relationship, first: first, second: second),
                items(of: relationship))
        }
        let known = try state.link(relationship, first: first, second: second)
        var link =
            known ?? LinkRow(relationship: relationship, first: first, second: second, inBase: false, inLocal: false)
        switch kind {
        case .local: link.inLocal = isPresent
        case .baseWithoutPending: (link.inBase, link.inLocal) = (isPresent, isPresent)
        // An operation that decided otherwise is reverted, or its decision remains.
        case .baseUnderPending:
            if link.inLocal == link.inBase { link.inLocal = isPresent }
            link.inBase = isPresent
        }
        if link.inBase || link.inLocal {
            try state.putLink(link)
        } else if known != nil {
            try state.removeLink(relationship, first: first, second: second)
        }
    }
}
