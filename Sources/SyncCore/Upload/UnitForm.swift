import EDM
import ODataWire
import Operations

/// Finds a form in which a service that lacks something can take a unit (an operation, or what has to travel with it), or
/// says that there is none.
///
/// Between units nothing is impossible: the state after each is legal, so the next can wait until keys are known. Inside of
/// one there are three forms, and the first that the service can take is used: the requests as they are; links and updates
/// said by the creations that they belong to; and creations inside of each other, as one deep insert.
struct UnitForm<Storage: StateStorage> {
    let resolver: EntityResolver<Storage>
    let options: ServiceOptions

    /// Operations as they are to be sent, and those that others carry with them.
    struct Form {
        var operations: [PendingOperation]
        var carried: [SequenceNumber: [SequenceNumber]] = [:]
    }

    enum Finding {
        case sendable(Form)
        /// The sentence's end says why.
        case impossible(String)
    }

    func find(_ unit: [PendingOperation]) throws(StateError) -> Finding {
        let plain = Form(operations: unit)
        guard let obstacle = try obstacle(plain) else { return .sendable(plain) }
        guard let absorbed = try absorbed(unit) else { return .impossible(explained(obstacle, unit)) }
        if try self.obstacle(absorbed) == nil { return .sendable(absorbed) }
        guard let nested = try nested(absorbed), try self.obstacle(nested) == nil else {
            return .impossible(explained(obstacle, unit))
        }
        return .sendable(nested)
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
        _ = try planner.changeSet(
            unit.operations, given: Dictionary(uniqueKeysWithValues: new.map { ($0, "0") }))
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
                guard result.operations[place].change({ $0.values.merge(changes) }) else { return nil }
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
        var roots = all.places.keys.sorted().reversed().map { $0 }
        var unit = unit
        while let root = roots.first {
            roots.removeFirst()
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

/// The creations of a unit, each with its place among the operations.
private struct Creations {
    var creations: [EntityID: Creation] = [:]
    var places: [EntityID: Int] = [:]
    var parents: [EntityID: Parent] = [:]

    init(_ operations: [PendingOperation]) {
        for (place, pending) in operations.enumerated() {
            guard case .create(let creation, let parent) = pending.operation.action else { continue }
            creations[creation.entity] = creation
            places[creation.entity] = place
            parents[creation.entity] = parent
        }
    }
}

/// Hangs the creations of a unit below one of them.
private struct CreationTree {
    let all: Creations
    let model: EntityDataModel
    let options: ServiceOptions
    private(set) var used: Set<EntityID> = []

    init(_ all: Creations, _ model: EntityDataModel, _ options: ServiceOptions) {
        self.all = all
        self.model = model
        self.options = options
    }

    /// The creation with everything that it is bound to, or that is bound to it, inside. Nil where that is no tree.
    mutating func creation(_ id: EntityID) -> Creation? {
        guard var creation = all.creations[id], let type = model.findEntityType(creation.type) else { return nil }
        used.insert(id)
        var bindings: [Binding] = []
        for binding in creation.bindings {
            var outside = binding
            outside.targets = []
            for target in binding.targets {
                guard all.creations[target] != nil else {
                    outside.targets.append(target)
                    continue
                }
                guard let property = type.findProperty(binding.navigation), canHold(property, in: creation),
                    !used.contains(target),
                    all.parents[target] == nil, let child = self.creation(target)
                else { return nil }
                creation.add(child, below: binding.navigation)
            }
            if !outside.targets.isEmpty || binding.targets.isEmpty { bindings.append(outside) }
        }
        creation.bindings = bindings
        return holdOthers(creation, type)
    }

    /// Takes in the creations that are bound to this one, without their binding.
    private mutating func holdOthers(_ creation: Creation, _ type: EntityType) -> Creation? {
        var creation = creation
        for other in all.creations.values.sorted(by: { $0.entity < $1.entity }) where !used.contains(other.entity) {
            let owner = all.parents[other.entity]
            let binding = other.bindings.first { $0.targets == [creation.entity] }
            guard owner?.entity == creation.entity || binding != nil else { continue }
            let name: String?
            if let owner, owner.entity == creation.entity {
                name = owner.navigation
            } else {
                let back = binding.flatMap { model.findEntityType(other.type)?.findProperty($0.navigation) }
                name = back.flatMap { model.partner(of: $0)?.name }
            }
            guard let name, let property = type.findProperty(name), canHold(property, in: creation) else { return nil }
            var tree = self
            tree.detach(other.entity, from: creation.entity)
            guard let child = tree.creation(other.entity) else { return nil }
            used = tree.used
            creation.add(child, below: name)
        }
        return creation
    }

    private mutating func detach(_ child: EntityID, from owner: EntityID) {
        var all = self.all
        all.creations[child]?.bindings.removeAll { $0.targets == [owner] }
        all.parents[child] = nil
        self = CreationTree(all, model, options, used)
    }

    private init(_ all: Creations, _ model: EntityDataModel, _ options: ServiceOptions, _ used: Set<EntityID>) {
        self.init(all, model, options)
        self.used = used
    }

    private func canHold(_ property: Property, in creation: Creation) -> Bool {
        guard property.isCollection else { return !creation.inline.contains { $0.navigation == property.name } }
        switch options.deepInsertToMany {
        case .split: return false
        case .inOrder: return true
        case .contentID: return !model.version.isLegacy
        }
    }
}

extension Creation {
    fileprivate mutating func add(_ child: Creation, below navigation: String) {
        if let index = inline.firstIndex(where: { $0.navigation == navigation }) {
            inline[index].entities.append(child)
        } else {
            inline.append(Inline(navigation: navigation, entities: [child]))
        }
    }

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

/// The forms of a plan's units, found once.
struct UnitForms<Storage: StateStorage> {
    private let finder: UnitForm<Storage>
    /// Only a service that lacks something is asked: any other can take everything.
    private let isLimited: Bool
    private var forms: [SequenceNumber: UnitForm<Storage>.Form] = [:]
    /// New entities that are created by themselves. One with others inside changes its form where it is referred to.
    private var plain: Set<EntityID> = []

    init(resolver: EntityResolver<Storage>, options: ServiceOptions) {
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

    func canRefer(to new: Set<EntityID>, from unit: [PendingOperation]) throws(StateError) -> Bool {
        guard isLimited else { return true }
        guard new.isSubset(of: plain), let form = forms[unit[0].sequence] else { return false }
        return try finder.canRefer(to: new, form)
    }

    /// What is to be sent for the operations of a group.
    func sendable(_ group: [PendingOperation]) -> ([PendingOperation], carried: [SequenceNumber: [SequenceNumber]]) {
        guard isLimited else { return (group, [:]) }
        let found = group.compactMap { forms[$0.sequence] }
        return (
            found.flatMap(\.operations).sorted { $0.sequence < $1.sequence },
            found.reduce(into: [:]) { $0.merge($1.carried) { first, _ in first } }
        )
    }
}
