import EDM
import ODataWire
import Operations

/// Finds a form of a unit that a service with limited capabilities supports, or reports that there is none.
///
/// Between units there is no restriction: the state after each unit is legal, so the next one can wait until keys are
/// known. Within a unit there are three forms, of which the first supported one is used: the requests unchanged; links
/// and updates merged into the creations that they belong to; and creations nested as one deep insert.
struct UnitRewriter {
    let resolver: EntityResolver<WorkingSet>
    let options: ServiceOptions

    /// Operations in the form to send, and the operations that they carry.
    struct RewrittenUnit {
        var operations: [PendingOperation]
        var carried: [SequenceNumber: [SequenceNumber]] = [:]
        /// The supported references to new entities, if they differ from the options.
        var references: ServiceOptions.ContentIDReferences?
    }

    enum Finding {
        case sendable(RewrittenUnit)
        /// No form is supported. The value is the reason, as the end of a sentence.
        case impossible(String)
    }

    func find(_ unit: [PendingOperation]) throws(StateError) -> Finding {
        let plain = RewrittenUnit(operations: unit)
        guard let obstacle = try obstacle(plain) else { return .sendable(plain) }
        if let absorbed = try absorbed(unit) {
            if try isFaithful(absorbed, to: unit), try self.obstacle(absorbed) == nil { return .sendable(absorbed) }
            if let nested = try nested(absorbed), try isFaithful(nested, to: unit), try self.obstacle(nested) == nil {
                return .sendable(nested)
            }
        }
        if options.contentIDReferences == .urlsPreferred {
            let open = RewrittenUnit(operations: unit, references: .urlsAndBodies)
            if try self.obstacle(open) == nil { return .sendable(open) }
        }
        return .impossible(explained(obstacle, unit))
    }

    /// Returns whether the operations may refer to entities that the same change set creates before them.
    func canRefer(to new: Set<EntityID>, _ unit: RewrittenUnit) throws(StateError) -> Bool {
        guard options.supportsBatch, options.contentIDReferences != .none else { return false }
        return try obstacle(unit, given: new) == nil
    }

    private func obstacle(_ unit: RewrittenUnit, given new: Set<EntityID> = []) throws(StateError) -> String? {
        let created = Set(unit.operations.flatMap(\.operation.createdEntities))
        let known = Set(unit.operations.flatMap(\.operation.referencedEntities)).subtracting(created).subtracting(new)
        var planner = RequestPlanner(resolver: resolver, options: options, knownLater: known)
        do throws(StateError) {
            _ = try planner.changeSet(unit.operations, given: new, references: unit.references)
        } catch {
            guard error.code == .unsendable else { throw error }
            return error.message
        }
        return planner.obstacle
    }

    /// Returns the reason why the service does not support the check of a deletion in the unit, or nil if it does or there
    /// is none; see ``RequestPlanner/addCheck(before:)``.
    fileprivate func obstacleToCheck(in unit: [PendingOperation]) throws(StateError) -> String? {
        guard unit.count > 1 else { return nil }
        for pending in unit {
            guard case .delete(let entity) = pending.operation.action, pending.operation.call == nil else { continue }
            let set = try resolver.set(of: entity).flatMap { resolver.model.findEntitySet($0) }
            guard options.supportsPatch, set?.permitsUpdates != false else {
                return try obstacle(RewrittenUnit(operations: unit))
            }
        }
        return nil
    }

    private func explained(_ obstacle: String, _ unit: [PendingOperation]) -> String {
        let hasCollection = unit.contains {
            if case .create(let creation, _) = $0.operation.action { creation.hasInlineCollection } else { false }
        }
        guard hasCollection, options.deepInsertToMany == .split else { return obstacle }
        return obstacle
            + "; the service option deepInsertToMany allows new entities in a collection of the new entity above"
    }

    // MARK: Absorbing

    /// Merges links and updates of new entities into the last of the creations involved. Returns nil if something
    /// remains that requires a request of its own.
    private func absorbed(_ unit: [PendingOperation]) throws(StateError) -> RewrittenUnit? {
        var result = RewrittenUnit(operations: [])
        /// The position of the operation that creates an entity at its top level.
        var places: [EntityID: Int] = [:]
        /// The position of the last call of an entity. No change or link of the entity moves before it.
        var called: [EntityID: Int] = [:]
        func isFixed(_ entity: EntityID, after place: Int) -> Bool { called[entity].map { $0 > place } ?? false }
        for pending in unit {
            switch pending.operation.action {
            case _ where pending.operation.call != nil:
                for entity in pending.operation.called { called[entity] = result.operations.count }
                result.operations.append(pending)
            case .create(let creation, _):
                places[creation.entity] = result.operations.count
                result.operations.append(pending)
            case .update(let entity, let changes, let bindings):
                guard let place = places[entity] else {
                    result.operations.append(pending)
                    continue
                }
                let named = try resolver.namedTargets(of: entity, changes, in: pending.operation).compactMap(\.target)
                guard !([entity] + bindings.flatMap(\.targets) + named).contains(where: { isFixed($0, after: place) }),
                    try release(entity, changes, besides: bindings.map(\.navigation), place, &result),
                    result.operations[place].change({ $0.values.merge(changes) })
                else { return nil }
                for binding in bindings {
                    for target in binding.targets {
                        guard bind(entity, binding.navigation, target, places, &result) else { return nil }
                    }
                }
                result.carry(pending, at: place)
            case .createLink(let link), .updateLink(let link):
                guard places[link.from] != nil || places[link.to] != nil else {
                    result.operations.append(pending)
                    continue
                }
                guard let navigation = try resolver.navigation(link.navigation, of: link.from, in: pending.operation)
                else { return nil }
                let isForward = (places[link.from] ?? -1) > (places[link.to] ?? -1)
                let (source, name, target) =
                    isForward
                    ? (link.from, navigation.name, link.to)
                    : (link.to, resolver.model.partner(of: navigation)?.name ?? "", link.from)
                guard !name.isEmpty, let place = places[source],
                    !isFixed(source, after: place), !isFixed(target, after: place),
                    bind(source, name, target, places, &result)
                else { return nil }
                result.carry(pending, at: place)
            case .delete(let entity):
                guard places[entity] == nil else { return nil }
                result.operations.append(pending)
            case .deleteLink(let link):
                guard places[link.from] == nil, places[link.to] == nil else { return nil }
                result.operations.append(pending)
            }
        }
        return result
    }

    /// Removes the binding of a creation that new dependent values replace. Returns false if it cannot be removed,
    /// because another creation defines the link by a binding, a nested entity or the parent.
    private func release(
        _ entity: EntityID, _ changes: PropertyValues, besides bound: [String], _ place: Int,
        _ unit: inout RewrittenUnit
    ) throws(StateError) -> Bool {
        func isDecided(_ pairs: [ReferentialConstraint]) -> Bool { pairs.contains { changes[$0.dependent] != nil } }
        let operation = unit.operations[place].operation
        guard case .create(let creation, let parent) = operation.action,
            let type = resolver.model.findEntityType(creation.type)
        else { return false }
        if let parent {
            let end = try resolver.navigation(parent.navigation, of: parent.entity, in: operation)?.navigation
            if isDecided(end?.inverseConstraints ?? []) { return false }
        }
        for other in unit.operations {
            guard case .create(let other, _) = other.operation.action,
                let type = resolver.model.findEntityType(other.type)
            else { continue }
            for binding in other.bindings where binding.targets.contains(entity) {
                let end = type.findProperty(binding.navigation)?.navigation
                if isDecided(end?.inverseConstraints ?? []) { return false }
            }
        }
        var released: Set<String> = []
        for property in type.navigationProperties where !bound.contains(property.name) {
            guard let pairs = property.navigation?.constraints, isDecided(pairs) else { continue }
            if creation.inline.contains(where: { $0.navigation == property.name }) { return false }
            guard creation.bindings.contains(where: { $0.navigation == property.name }) else { continue }
            // The rest of the principal's key is in the binding only.
            guard pairs.allSatisfy({ changes[$0.dependent] != nil }) else { return false }
            released.insert(property.name)
        }
        return unit.operations[place].change { $0.bindings.removeAll { released.contains($0.navigation) } }
    }

    /// Adds a binding to the creation of `source`, unless the creation already defines another target.
    private func bind(
        _ source: EntityID, _ navigation: String, _ target: EntityID, _ places: [EntityID: Int],
        _ unit: inout RewrittenUnit
    ) -> Bool {
        guard let place = places[source],
            case .create(let creation, let parent) = unit.operations[place].operation.action,
            let type = resolver.model.findEntityType(creation.type),
            let property = type.findProperty(navigation), let end = property.navigation,
            !creation.inline.contains(where: { $0.navigation == navigation })
        else { return false }
        // The parent of the creation already determines this link, so it must not be contradicted.
        if let parent, end.partner == parent.navigation { return parent.entity == target }
        return unit.operations[place].change { creation in
            for pair in end.constraints { creation.values[pair.dependent] = nil }
            if !property.isCollection { creation.bindings.removeAll { $0.navigation == navigation } }
            creation.bindings.append(Binding(navigation: navigation, targets: [target]))
        }
    }

    // MARK: Nesting

    /// Nests creations that are bound to each other as a deep insert. The outermost is one that no other is bound to,
    /// or that can contain the others in a collection. Returns nil if they do not form a tree.
    private func nested(_ unit: RewrittenUnit) throws(StateError) -> RewrittenUnit? {
        let all = Creations(unit.operations)
        var unit = unit
        for root in all.places.keys.sorted().reversed() {
            guard let place = all.places[root] else { continue }
            var tree = CreationTree(all, resolver.model, options)
            guard let creation = tree.creation(root), tree.used.count == all.places.count else { continue }
            // One tree, and the other operations of the unit.
            for other in tree.used.subtracting([root]).sorted() {
                guard let index = all.places[other] else { continue }
                unit.carry(unit.operations[index], at: place)
                unit.carried[unit.operations[place].sequence, default: []] +=
                    unit.carried.removeValue(forKey: unit.operations[index].sequence) ?? []
            }
            unit.operations[place].operation.action = .create(creation, parent: all.parents[root])
            let gone = Set(tree.used.subtracting([root]).compactMap { all.places[$0] })
            unit.operations = unit.operations.indices.filter { !gone.contains($0) }.map { unit.operations[$0] }
            return unit
        }
        return nil
    }
}

extension Creation {
    var hasInlineCollection: Bool {
        inline.contains { $0.entities.count > 1 || $0.entities.contains(where: \.hasInlineCollection) }
    }
}

extension PendingOperation {
    /// Changes the operation's creation. Returns false if the operation is no creation.
    fileprivate mutating func change(_ body: (inout Creation) -> Void) -> Bool {
        guard case .create(var creation, let parent) = operation.action else { return false }
        body(&creation)
        operation.action = .create(creation, parent: parent)
        return true
    }
}

extension UnitRewriter.RewrittenUnit {
    fileprivate mutating func carry(_ pending: PendingOperation, at place: Int) {
        carried[operations[place].sequence, default: []].append(pending.sequence)
    }
}

// MARK: - Faithfulness

extension UnitRewriter {
    /// Returns whether the form defines no link twice and leads to the same links as the operations in sequence. A
    /// partner that one of them displaces stays displaced, even if a later one reverts its own change.
    fileprivate func isFaithful(_ form: RewrittenUnit, to unit: [PendingOperation]) throws(StateError) -> Bool {
        var wanted = LinkTracker(resolver)
        for pending in unit { _ = try resolver.follow(pending.operation, &wanted) }
        var said = LinkTracker(resolver)
        for pending in form.operations {
            if case .create(let creation, let parent) = pending.operation.action {
                let navigation = try parent.flatMap { parent throws(StateError) in
                    try resolver.navigation(parent.navigation, of: parent.entity, in: pending.operation)
                }
                let back = navigation.flatMap { resolver.model.partner(of: $0)?.name }
                if saysTwice(creation, back, parent?.entity) { return false }
            }
            _ = try resolver.follow(pending.operation, &said)
        }
        return try wanted.agrees(with: said)
    }

    /// Returns whether a creation, or a nested one, links a to-one end several times.
    ///
    /// - Parameters:
    ///   - back: The navigation property to the parent of the creation.
    ///   - owner: The parent of the creation.
    private func saysTwice(_ creation: Creation, _ back: String?, _ owner: EntityID?) -> Bool {
        guard let type = resolver.model.findEntityType(creation.type) else { return true }
        for property in type.navigationProperties where !property.isCollection {
            var targets = Set(creation.bindings.filter { $0.navigation == property.name }.flatMap(\.targets))
            for level in creation.inline where level.navigation == property.name {
                targets.formUnion(level.entities.map(\.entity))
            }
            if property.name == back, let owner { targets.insert(owner) }
            if targets.count > 1 { return true }
        }
        return creation.inline.contains { level in
            let back = type.findProperty(level.navigation).flatMap { resolver.model.partner(of: $0)?.name }
            return level.entities.contains { saysTwice($0, back, creation.entity) }
        }
    }
}

/// The forms of a plan's units, each computed once.
struct UnitRewriteCache {
    private let finder: UnitRewriter
    /// Whether the service lacks a capability. If not, every unit is sent unchanged.
    private let isLimited: Bool
    private var forms: [SequenceNumber: UnitRewriter.RewrittenUnit] = [:]
    /// New entities that are created individually. A nested creation would change its form if it were referenced.
    private var plain: Set<EntityID> = []

    init(resolver: EntityResolver<WorkingSet>, options: ServiceOptions) {
        let options = options.resolved(for: resolver.model.version)
        finder = UnitRewriter(resolver: resolver, options: options)
        isLimited = !options.supportsBatch || options.contentIDReferences != .urlsAndBodies
    }

    mutating func obstacle(in unit: [PendingOperation]) throws(StateError) -> HoldReason? {
        guard isLimited else { return try finder.obstacleToCheck(in: unit).map { .noLegalPlan($0) } }
        switch try finder.find(unit) {
        case .impossible(let why): return .noLegalPlan(why)
        case .sendable(let form):
            forms[unit[0].sequence] = form
            for pending in form.operations {
                guard case .create(let creation, _) = pending.operation.action, creation.inline.isEmpty else {
                    continue
                }
                plain.insert(creation.entity)
            }
            return nil
        }
    }

    func canRefer(to new: EntityIDs, from unit: [PendingOperation]) throws(StateError) -> Bool {
        guard isLimited else { return true }
        guard new.allSatisfy(plain.contains), let form = forms[unit[0].sequence] else { return false }
        return try finder.canRefer(to: Set(new), form)
    }

    /// Returns the operations to send for a group.
    func sendable(_ group: [PendingOperation]) -> UnitRewriter.RewrittenUnit {
        guard isLimited else { return UnitRewriter.RewrittenUnit(operations: group) }
        let found = group.compactMap { forms[$0.sequence] }
        return UnitRewriter.RewrittenUnit(
            operations: found.flatMap(\.operations).sorted { $0.sequence < $1.sequence },
            carried: found.reduce(into: [:]) { $0.merge($1.carried) { first, _ in first } },
            references: found.lazy.compactMap(\.references).first)
    }
}
