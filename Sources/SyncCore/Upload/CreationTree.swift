import EDM
import ODataWire
import Operations

/// The creations of a unit, each with its position among the operations.
struct Creations {
    var creations: [EntityID: Creation] = [:]
    var places: [EntityID: Int] = [:]
    var parents: [EntityID: Parent] = [:]
    /// The new entities that are bound to an entity or created below it.
    var dependents: [EntityID: Set<EntityID>] = [:]

    init(_ operations: [PendingOperation]) {
        for (place, pending) in operations.enumerated() {
            guard case .create(let creation, let parent) = pending.operation.action else { continue }
            creations[creation.entity] = creation
            places[creation.entity] = place
            parents[creation.entity] = parent
            for target in creation.bindings.flatMap(\.targets) + (parent.map { [$0.entity] } ?? []) {
                dependents[target, default: []].insert(creation.entity)
            }
        }
    }
}

/// Nests the creations of a unit below one of them.
struct CreationTree {
    let all: Creations
    let model: EntityDataModel
    let options: ServiceOptions
    private(set) var used: Set<EntityID> = []
    private var depth = 0
    /// The depth limit, which is the same as for deep inserts of the app.
    private static var depthLimit: Int { 32 }

    init(_ all: Creations, _ model: EntityDataModel, _ options: ServiceOptions) {
        self.all = all
        self.model = model
        self.options = options
    }

    /// Returns the creation with all creations nested that it is bound to or that are bound to it. Nil if these do not
    /// form a tree.
    ///
    /// - Parameter owner: The creation that contains this one and so replaces its binding.
    mutating func creation(_ id: EntityID, in owner: EntityID? = nil) -> Creation? {
        guard depth < Self.depthLimit, var creation = all.creations[id],
            let type = model.findEntityType(creation.type)
        else { return nil }
        depth += 1
        defer { depth -= 1 }
        used.insert(id)
        if let owner { creation.bindings.removeAll { $0.targets == [owner] } }
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
        return absorbBoundCreations(creation, type)
    }

    /// Nests the creations that are bound to this one, without their binding.
    private mutating func absorbBoundCreations(_ creation: Creation, _ type: EntityType) -> Creation? {
        var creation = creation
        for id in (all.dependents[creation.entity] ?? []).sorted() where !used.contains(id) {
            guard let other = all.creations[id] else { continue }
            let name: String?
            if let owner = all.parents[id] {
                // A creation below another entity can only be the outermost one.
                name = owner.entity == creation.entity ? owner.navigation : nil
            } else {
                // A creation that binds further entities in the same collection cannot be nested.
                let binding = other.bindings.first { $0.targets == [creation.entity] }
                let back = binding.flatMap { model.findEntityType(other.type)?.findProperty($0.navigation) }
                name = back.flatMap { model.partner(of: $0)?.name }
            }
            guard let name, let property = type.findProperty(name), canHold(property, in: creation) else { return nil }
            guard let child = self.creation(id, in: creation.entity) else { return nil }
            creation.add(child, below: name)
        }
        return creation
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
}
