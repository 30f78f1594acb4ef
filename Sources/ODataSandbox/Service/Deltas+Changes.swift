internal import EDM
internal import ODataQuery
internal import ODataWire

/// The changes of a query's result between two points in time.
///
/// They contain each entity and link that was changed in between, even if it is now as it was then: another client may
/// have made a change that a third one has reversed, and know only its own.
struct DeltaChanges {
    /// The state of the service at one point in time.
    struct ServiceState {
        let state: SandboxState
        let evaluation: QueryEvaluation
        let representation: Representation

        init(_ view: ServiceView, _ state: SandboxState, _ now: GlobalDateTime?) {
            self.state = state
            evaluation = QueryEvaluation(view: view, state: state, now: now)
            representation = Representation(view: view, state: state, evaluation: evaluation)
        }
    }

    let then: ServiceState
    let now: ServiceState
    let collection: Target.Collection
    let options: QueryOptions
    let form: DeltaForm
    let tellsDeletions: Bool

    private var view: ServiceView { now.representation.view }
    private var selection: Selection { Selection(options.select) }

    /// Returns the changes. Removed entities are first, because their keys may have been reassigned.
    func items() throws(SandboxError) -> [DeltaItem] {
        let before = try then.evaluation.select(then.state.rows(of: collection), options)
        let after = try now.evaluation.select(now.state.rows(of: collection), options)
        let known = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
        let present = Set(after.map(\.id))
        var items: [DeltaItem] = []
        if tellsDeletions {
            for row in before where !present.contains(row.id) { items.append(.removed(try removed(row))) }
        }
        for row in after { items += try changes(of: row, since: known[row.id]) }
        return items
    }

    private func removed(_ row: Row, from side: ServiceState? = nil) throws(SandboxError) -> RemovedEntity {
        let side = side ?? then
        let shown = try side.representation.entity(row)
        var entity = EntityPayload(id: shown.id ?? view.root + view.url(of: row, in: side.state))
        if row.id.set != collection.set.name { entity.set = view.place(of: row, in: side.state) }
        return RemovedEntity(entity: entity, reason: now.state[row.id] == nil ? .deleted : .changed)
    }

    private func changes(of row: Row, since known: Row?) throws(SandboxError) -> [DeltaItem] {
        var entity = try now.representation.entity(row, selection: selection)
        let isNews =
            try known.map { known throws(SandboxError) in
                if known.version != row.version { return true }
                return try then.representation.entity(known, selection: selection) != entity
            } ?? true
        var related: [DeltaItem] = []
        for item in options.expand {
            guard let property = collection.set.entityType.findProperty(item.name),
                let end = property.navigation
            else { continue }
            let targets = now.state.targets(of: row.id, through: end)
            let former = known == nil ? [] : then.state.targets(of: row.id, through: end)
            let changed = known == nil ? [] : changedTargets(of: row.id, end)
            if form == .flat {
                related += try flat(row, property, targets, former, changed)
            } else if known == nil || !property.isCollection {
                if known == nil || targets != former || !changed.isEmpty {
                    let expanded = try targets.compactMap { now.state[$0] }.map { row throws(SandboxError) in
                        try now.representation.entity(row)
                    }
                    entity.expanded.append(.init(navigation: property.name, entities: expanded))
                }
            } else {
                let items = try nested(targets, former, changed)
                if !items.isEmpty { entity.changes.append(NavigationDelta(navigation: property.name, items: items)) }
            }
        }
        let isShown = isNews || !entity.changes.isEmpty || !entity.expanded.isEmpty
        return (isShown ? [.entity(entity)] : []) + related
    }

    private func isNews(_ id: RowID) throws(SandboxError) -> EntityPayload? {
        guard let row = now.state[id] else { return nil }
        let entity = try now.representation.entity(row)
        guard let known = then.state[id], known.version == row.version,
            try then.representation.entity(known) == entity
        else { return entity }
        return nil
    }

    /// Returns the entities whose links with `row` were added or removed, in the order of their creation.
    private func changedTargets(of row: RowID, _ end: Navigation) -> [RowID] {
        let name = end.relationship.name
        guard let table = now.state.links[name] else { return [] }
        return table.changedPartners(
            of: row, fromFirst: end.relationship.isForward, since: then.state.links[name] ?? LinkTable()
        ).sorted()
    }

    /// Returns the targets that are no longer linked, as they were before. A target that was linked only in between is
    /// among them if it still exists.
    private func lost(_ targets: [RowID], _ former: [RowID], _ changed: [RowID]) -> [(row: Row, isOld: Bool)] {
        Set(former + changed).subtracting(targets).sorted().compactMap { id in
            then.state[id].map { ($0, true) } ?? now.state[id].map { ($0, false) }
        }
    }

    /// Returns links and related entities as separate items (4.0).
    private func flat(
        _ row: Row, _ property: Property, _ targets: [RowID], _ former: [RowID], _ changed: [RowID]
    ) throws(SandboxError) -> [DeltaItem] {
        var items: [DeltaItem] = []
        func link(_ target: Row, isAdded: Bool, in state: SandboxState) -> DeltaItem {
            .link(
                LinkChange(
                    isAdded: isAdded, set: row.id.set, source: view.root + view.url(of: row, in: now.state),
                    relationship: property.name, target: view.root + view.url(of: target, in: state)))
        }
        for (target, isOld) in lost(targets, former, changed) {
            items.append(link(target, isAdded: false, in: isOld ? then.state : now.state))
            if now.state[target.id] == nil { items.append(.removed(try removed(target))) }
        }
        for id in targets {
            let isNew = !former.contains(id) || changed.contains(id)
            guard let target = now.state[id] else { continue }
            let changed = try isNews(id)
            if isNew || changed != nil {
                var entity: EntityPayload
                if let changed { entity = changed } else { entity = try now.representation.entity(target) }
                entity.set = view.place(of: target, in: now.state)
                items.append(.entity(entity))
            }
            if isNew { items.append(link(target, isAdded: true, in: now.state)) }
        }
        return items
    }

    /// Returns the changes of one collection (4.01).
    private func nested(
        _ targets: [RowID], _ former: [RowID], _ changed: [RowID]
    ) throws(SandboxError) -> [DeltaItem] {
        var items: [DeltaItem] = []
        for (target, isOld) in lost(targets, former, changed) {
            items.append(.removed(try removed(target, from: isOld ? then : now)))
        }
        for id in targets {
            if let changed = try isNews(id) {
                items.append(.entity(changed))
            } else if !former.contains(id) || changed.contains(id), let target = now.state[id] {
                items.append(.entity(try now.representation.entity(target)))
            }
        }
        return items
    }
}

extension ExpandItem {
    /// Whether the item expands all related entities without nested options.
    var isPlain: Bool { path.count == 1 && form == .entities && options == QueryOptions() }

    var name: String { if case .name(let name)? = path.first { name } else { "" } }
}
