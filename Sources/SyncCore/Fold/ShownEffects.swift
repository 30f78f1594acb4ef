import EDM
package import Operations

// The effects of sent operations that a download has shown before the operations are confirmed.
//
// An operation in doubt may be confirmed long after it took effect. If a download has delivered the entity since the
// transmission, the downloaded values and links are at least as new as the sent ones, and a delta would not repeat
// them: another client may have changed them since. So the confirmation must not replace them.

extension LayeredState {
    /// Stores which effects of sent operations a page shows. Must be called before the page is applied.
    ///
    /// If the page was read before the operation took effect, the next download contains the effect.
    func recordShownEffects(_ page: DownloadPage) throws(StateError) {
        let batches = try storage.bookkeeping.openBatches()
        if batches.isEmpty { return }
        let delivered = DeliveredItems(page)
        for var open in batches {
            var shown = Set(open.shown)
            var operations: [Operation] = []
            for sequence in open.prepared.operations {
                guard let pending = try storage.pendingOperation(sequence), pending.status.batch == open.batch
                else { continue }
                operations.append(pending.operation)
            }
            for effect in operations.flatMap(\.sentEffects) {
                shown.formUnion(try shownEffects(of: effect, of: operations, by: delivered))
            }
            guard shown.count > open.shown.count else { continue }
            open.shown = shown.sorted()
            try storage.bookkeeping.putOpenBatch(open)
        }
    }

    /// Returns the effect and those that it implies, if the page shows it.
    ///
    /// A created entity without a key is not recognized in a download. It has another ID there, which the values and
    /// links of other downloaded entities name. A page therefore shows the link of a new entity if it contains dependent
    /// values that determine it, or another entity at a single end.
    ///
    /// - Parameter operations: The operations of the batch, which may create the entity or the target.
    private func shownEffects(
        of effect: ShownEffect, of operations: [Operation], by delivered: DeliveredItems
    ) throws(StateError) -> [ShownEffect] {
        let row = try serviceRow(effect.entity)
        guard let target = effect.target else {
            return row.map { delivered.shows(effect.name, of: $0) } == true ? [effect] : []
        }
        let other = try serviceRow(target)
        guard let type = row?.type ?? operations.lazy.compactMap({ $0.creation(of: effect.entity)?.type }).first,
            let end = model?.findEntityType(type)?.findProperty(effect.name)?.navigation, !end.containsTarget
        else { return [] }
        let isFromDependent = !end.constraints.isEmpty
        let constraints = isFromDependent ? end.constraints : end.inverseConstraints
        guard constraints.isEmpty else {
            // The dependent properties determine the link.
            if let dependent = isFromDependent ? row : other {
                guard constraints.allSatisfy({ delivered.shows($0.dependent, of: dependent) }) else { return [] }
                return [effect] + constraints.map { ShownEffect(entity: dependent.id, name: $0.dependent) }
            }
            let isSingle = (isFromDependent ? end.sourceMultiplicity : end.multiplicity) != .many
            guard isSingle, let principal = isFromDependent ? other : row,
                let set = try storage.set(of: isFromDependent ? effect.entity : target)
            else { return [] }
            let isShown = try delivered.containsDependent(of: principal, in: set, constraints, known: serviceRow)
            return isShown ? [effect] : []
        }
        // The link of a new entity replaces only one at a single end.
        let isNew = row == nil || other == nil
        let isShownAtSource =
            row != nil && (!isNew || end.multiplicity != .many)
            && delivered.contains(linksOf: effect.entity, effect.name, withTarget: isNew)
        let isShownAtTarget =
            other != nil && (!isNew || end.sourceMultiplicity != .many)
            && end.partner.map { delivered.contains(linksOf: target, $0, withTarget: isNew) } ?? false
        return isShownAtSource || isShownAtTarget ? [effect] : []
    }

    private func serviceRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        guard let row = try baseRow(id), row.origin.isOnService else { return nil }
        return row
    }

    /// Returns the effects of an operation in doubt that downloads have shown.
    func shownEffects(of pending: PendingOperation) throws(StateError) -> Set<ShownEffect> {
        guard case .inDoubt(let batch, _) = pending.status,
            let shown = try storage.bookkeeping.openBatch(batch)?.shown, !shown.isEmpty
        else { return [] }
        return Set(shown)
    }
}

/// The values and links that a page of a download contains.
private struct DeliveredItems {
    private var images: [EntityID: [EntityImage]] = [:]
    /// The ends of links, and those that have a target.
    private var links: Set<ShownEffect> = []
    private var linksWithTarget: Set<ShownEffect> = []

    init(_ page: DownloadPage) {
        for image in page.entities {
            images[image.entity, default: []].append(image)
            for links in image.links {
                let end = ShownEffect(entity: image.entity, name: links.navigation)
                self.links.insert(end)
                if !links.targets.isEmpty { linksWithTarget.insert(end) }
            }
        }
        for link in page.links {
            let end = ShownEffect(entity: link.source, name: link.navigation)
            links.insert(end)
            if link.isAdded { linksWithTarget.insert(end) }
        }
    }

    /// Returns whether the page contains a value of the property that may be newer than the row. An entity with the
    /// same ETag is as before the transmission.
    func shows(_ property: String, of row: EntityRow) -> Bool {
        (images[row.id] ?? []).contains { image in
            image.values[property] != nil && (image.etag == nil || !image.etag.isExactly(row.etag))
        }
    }

    /// Returns whether the page contains an entity of the set whose dependent properties name the principal, new or
    /// changed since the transmission.
    func containsDependent(
        of principal: EntityRow, in set: String, _ constraints: [ReferentialConstraint],
        known: (EntityID) throws(StateError) -> EntityRow?
    ) throws(StateError) -> Bool {
        for image in images.values.joined() where image.set == set {
            let namesPrincipal = constraints.allSatisfy { pair in
                image.values[pair.dependent].map { $0 != .null && $0 == principal.values[pair.principal] } ?? false
            }
            guard namesPrincipal else { continue }
            guard let row = try known(image.entity) else { return true }
            if constraints.contains(where: { shows($0.dependent, of: row) }) { return true }
        }
        return false
    }

    /// Returns whether the page contains links of the navigation property, of which a delta contains the changed ones.
    ///
    /// - Parameter withTarget: Whether only links to another entity count, and not removed ones.
    func contains(linksOf entity: EntityID, _ navigation: String, withTarget: Bool) -> Bool {
        (withTarget ? linksWithTarget : links).contains(ShownEffect(entity: entity, name: navigation))
    }
}

extension Operation {
    /// The values and links that the operation sets or removes at entities that exist. The values of a new entity and
    /// the effects of a deletion are always stored: they determine which entities exist.
    var sentEffects: [ShownEffect] {
        switch action {
        case .create(let creation, let parent): (parent.map { [creation.effect(of: $0)] } ?? []) + creation.boundEffects
        case .delete: []
        case .update(let entity, let changes, let bindings):
            changes.names.map { ShownEffect(entity: entity, name: $0) } + bindings.flatMap { $0.effects(of: entity) }
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            [ShownEffect(entity: link.from, name: link.navigation, target: link.to)]
        }
    }

    /// Returns the creation of the entity, if this is it.
    package func creation(of id: EntityID) -> Creation? {
        if case .create(let creation, _) = action { creation.find(id) } else { nil }
    }

    /// Returns the operation without the effects, or nil if it has no others.
    func omitting(_ effects: Set<ShownEffect>) -> Operation? {
        if effects.isEmpty { return self }
        let sent = sentEffects
        guard sent.contains(where: effects.contains) else { return self }
        var rest = self
        switch action {
        case .create(let creation, let parent):
            let left = parent.flatMap { effects.contains(creation.effect(of: $0)) ? nil : $0 }
            rest.action = .create(creation.omitting(effects), parent: left)
        case .update(let entity, var changes, let bindings):
            if sent.allSatisfy(effects.contains) { return nil }
            for name in changes.names where effects.contains(ShownEffect(entity: entity, name: name)) {
                changes[name] = nil
            }
            rest.action = .update(
                entity, changes: changes, bindings: bindings.compactMap { $0.omitting(effects, of: entity) })
        case .delete, .createLink, .updateLink, .deleteLink: return nil
        }
        return rest
    }
}

extension Creation {
    /// Returns the link with the parent.
    fileprivate func effect(of parent: Parent) -> ShownEffect {
        ShownEffect(entity: parent.entity, name: parent.navigation, target: entity)
    }

    /// The links of the new entities with bound entities.
    fileprivate var boundEffects: [ShownEffect] {
        bindings.flatMap { $0.effects(of: entity) } + inline.flatMap(\.entities).flatMap(\.boundEffects)
    }

    fileprivate func omitting(_ effects: Set<ShownEffect>) -> Creation {
        var rest = self
        rest.bindings = bindings.compactMap { $0.omitting(effects, of: entity) }
        for level in inline.indices {
            rest.inline[level].entities = inline[level].entities.map { $0.omitting(effects) }
        }
        return rest
    }
}

extension Binding {
    fileprivate func effects(of entity: EntityID) -> [ShownEffect] {
        targets.map { ShownEffect(entity: entity, name: navigation, target: $0) }
    }

    /// Returns the binding without the effects, or nil if nothing is left.
    fileprivate func omitting(_ effects: Set<ShownEffect>, of entity: EntityID) -> Binding? {
        let left = targets.filter { !effects.contains(ShownEffect(entity: entity, name: navigation, target: $0)) }
        return left.isEmpty && !targets.isEmpty ? nil : Binding(navigation: navigation, targets: left)
    }
}
