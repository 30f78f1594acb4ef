import EDM
import ODataWire
import Operations

/// Finds a form in which a service that lacks something can take a unit (an operation, or what has to travel with it), or
/// says that there is none.
///
/// Between units nothing is impossible: the state after each is legal, so the next can wait until keys are known. Inside of
/// one there are three forms, and the first that the service can take is used: the requests as they are; links and updates
/// said by the creations that they belong to; and creations inside of each other, as one deep insert.
struct UnitForm<Storage: StateReader> {
    let resolver: EntityResolver<Storage>
    let options: ServiceOptions

    /// Operations as they are to be sent, and those that others carry with them.
    struct Form {
        var operations: [PendingOperation]
        var carried: [SequenceNumber: [SequenceNumber]] = [:]
        /// Where the requests refer to new entities, if not as the options have it.
        var references: ServiceOptions.ContentIDReferences?
    }

    enum Finding {
        case sendable(Form)
        /// The sentence's end says why.
        case impossible(String)
    }

    func find(_ unit: [PendingOperation]) throws(StateError) -> Finding {
        let plain = Form(operations: unit)
        guard let obstacle = try obstacle(plain) else { return .sendable(plain) }
        if let absorbed = try absorbed(unit) {
            if try isFaithful(absorbed, to: unit), try self.obstacle(absorbed) == nil { return .sendable(absorbed) }
            if let nested = try nested(absorbed), try isFaithful(nested, to: unit), try self.obstacle(nested) == nil {
                return .sendable(nested)
            }
        }
        if options.contentIDReferences == .urlsPreferred {
            let open = Form(operations: unit, references: .urlsAndBodies)
            if try self.obstacle(open) == nil { return .sendable(open) }
        }
        return .impossible(explained(obstacle, unit))
    }

    /// Whether the operations may refer to entities that the same change set creates before them.
    func canRefer(to new: Set<EntityID>, _ unit: Form) throws(StateError) -> Bool {
        guard options.supportsBatch, options.contentIDReferences != .none else { return false }
        return try obstacle(unit, given: new) == nil
    }

    private func obstacle(_ unit: Form, given new: Set<EntityID> = []) throws(StateError) -> String? {
        let created = Set(unit.operations.flatMap(\.operation.createdEntities))
        let known = Set(unit.operations.flatMap(\.operation.referencedEntities)).subtracting(created).subtracting(new)
        var planner = RequestPlanner(resolver: resolver, options: options, knownLater: known)
        do throws(StateError) {
            _ = try planner.changeSet(
                unit.operations, given: Dictionary(uniqueKeysWithValues: new.map { ($0, "0") }),
                references: unit.references)
        } catch {
            guard error.code == .unsendable else { throw error }
            return error.message
        }
        return planner.obstacle
    }

    private func explained(_ obstacle: String, _ unit: [PendingOperation]) -> String {
        let hasCollection = unit.contains {
            if case .create(let creation, _) = $0.operation.action { creation.hasInlineCollection } else { false }
        }
        guard hasCollection, options.deepInsertToMany == .split else { return obstacle }
        return obstacle + "; deepInsertToMany says that it takes new entities in a collection with the one above"
    }

    // MARK: Absorbing

    /// Links and updates of what the unit creates become part of the creation that comes last. Nil where something is left
    /// that only a request of its own can say.
    private func absorbed(_ unit: [PendingOperation]) throws(StateError) -> Form? {
        var result = Form(operations: [])
        /// The place of the operation that creates an entity at its top.
        var places: [EntityID: Int] = [:]
        for pending in unit {
            switch pending.operation.action {
            case .create(let creation, _):
                places[creation.entity] = result.operations.count
                result.operations.append(pending)
            case .update(let entity, let changes, let bindings):
                guard let place = places[entity] else {
                    result.operations.append(pending)
                    continue
                }
                guard try release(entity, changes, besides: bindings.map(\.navigation), place, &result),
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
                guard !name.isEmpty, let place = places[source], bind(source, name, target, places, &result) else {
                    return nil
                }
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

    /// New dependent values say whom an entity is linked to, so the binding of its creation that said so before goes. False
    /// where it cannot go: where another creation says the link, by a binding, by what it has inside, or as the parent.
    private func release(
        _ entity: EntityID, _ changes: PropertyValues, besides bound: [String], _ place: Int, _ unit: inout Form
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

    /// Adds a binding to the creation of `source`, unless that says something else already.
    private func bind(
        _ source: EntityID, _ navigation: String, _ target: EntityID, _ places: [EntityID: Int], _ unit: inout Form
    ) -> Bool {
        guard let place = places[source],
            case .create(let creation, let parent) = unit.operations[place].operation.action,
            let type = resolver.model.findEntityType(creation.type),
            let property = type.findProperty(navigation), let end = property.navigation,
            !creation.inline.contains(where: { $0.navigation == navigation })
        else { return false }
        // What the creation says by where it happens it must not say otherwise.
        if let parent, end.partner == parent.navigation { return parent.entity == target }
        return unit.operations[place].change { creation in
            for pair in end.constraints { creation.values[pair.dependent] = nil }
            if !property.isCollection { creation.bindings.removeAll { $0.navigation == navigation } }
            creation.bindings.append(Binding(navigation: navigation, targets: [target]))
        }
    }

    // MARK: Nesting

    /// Creations that are bound to each other as a deep insert: the one that is bound to by nobody is the outermost, or one
    /// that can hold the others in a collection. Nil where they are no tree.
    private func nested(_ unit: Form) throws(StateError) -> Form? {
        let all = Creations(unit.operations)
        var unit = unit
        for root in all.places.keys.sorted().reversed() {
            guard let place = all.places[root] else { continue }
            var tree = CreationTree(all, resolver.model, options)
            guard let creation = tree.creation(root), tree.used.count == all.places.count else { continue }
            // One tree, and what else there is in the unit beside it.
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
    /// Changes the operation's creation; false where it is none.
    fileprivate mutating func change(_ body: (inout Creation) -> Void) -> Bool {
        guard case .create(var creation, let parent) = operation.action else { return false }
        body(&creation)
        operation.action = .create(creation, parent: parent)
        return true
    }
}

extension UnitForm.Form {
    fileprivate mutating func carry(_ pending: PendingOperation, at place: Int) {
        carried[operations[place].sequence, default: []].append(pending.sequence)
    }
}

// MARK: - Faithfulness

extension UnitForm {
    /// Whether the form says no link twice, and ends in the same links as the operations do one after another: what one of
    /// them pushes out stays out, even where a later one takes back what it did itself.
    fileprivate func isFaithful(_ form: Form, to unit: [PendingOperation]) throws(StateError) -> Bool {
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

    /// Whether a creation, or one inside of it, links an end that has room for one to several.
    ///
    /// - Parameters:
    ///   - back: the navigation property that leads to what the entity is created in.
    ///   - owner: what it is created in.
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

/// The forms of a plan's units, found once.
struct UnitForms<Storage: StateReader> {
    private let finder: UnitForm<Storage>
    /// Only a service that lacks something is asked: any other can take everything.
    private let isLimited: Bool
    private var forms: [SequenceNumber: UnitForm<Storage>.Form] = [:]
    /// New entities that are created by themselves. One with others inside changes its form where it is referred to.
    private var plain: Set<EntityID> = []

    init(resolver: EntityResolver<Storage>, options: ServiceOptions) {
        let options = options.resolved(for: resolver.model.version)
        finder = UnitForm(resolver: resolver, options: options)
        isLimited = !options.supportsBatch || options.contentIDReferences != .urlsAndBodies
    }

    mutating func obstacle(in unit: [PendingOperation]) throws(StateError) -> HoldReason? {
        guard isLimited else { return nil }
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

    /// What is to be sent for the operations of a group.
    func sendable(_ group: [PendingOperation]) -> UnitForm<Storage>.Form {
        guard isLimited else { return UnitForm.Form(operations: group) }
        let found = group.compactMap { forms[$0.sequence] }
        return UnitForm.Form(
            operations: found.flatMap(\.operations).sorted { $0.sequence < $1.sequence },
            carried: found.reduce(into: [:]) { $0.merge($1.carried) { first, _ in first } },
            references: found.lazy.compactMap(\.references).first)
    }
}
