import EDM
import ODataWire
import Operations

/// Writes the operations of a change set as requests, numbers them, and lets `$<Content-ID>` stand for new entities.
struct RequestPlanner<Storage: StateStorage> {
    private let resolver: EntityResolver<Storage>
    private var nextContentID = 1
    private var contentIDs: [EntityID: String] = [:]
    /// Entities that an earlier request of the change set changes: their ETag has been checked, and is not the same any more.
    private var changed: Set<EntityID> = []
    /// Entities that requests of the change set refer to, so that they need a Content-ID of their own.
    private var referenced: Set<EntityID> = []
    private var requests: [PlannedRequest] = []

    init(resolver: EntityResolver<Storage>) { self.resolver = resolver }

    mutating func changeSet(_ operations: [PendingOperation]) throws(StateError) -> PlannedChangeSet {
        contentIDs = [:]
        changed = []
        referenced = Set(operations.flatMap(\.operation.referencedEntities))
        requests = []
        for pending in operations { try add(pending) }
        return PlannedChangeSet(requests: requests)
    }

    private mutating func add(_ pending: PendingOperation) throws(StateError) {
        let operation = pending.operation
        switch operation.action {
        case .create(let creation, let parent): try addCreate(creation, parent, pending)
        case .update(let entity, let changes, let bindings):
            let type = try type(of: entity, in: operation)
            let (values, bindings) = try content(changes, bindings, type)
            let body = EntityBody(
                type: type, declaredType: resolver.model.findEntitySet(try set(of: entity))?.entityType,
                values: values, bindings: bindings)
            add(.update(try reference(entity), body, replaces: false), pending, ifMatch: try etag(entity))
            changed.insert(entity)
        case .delete(let entity):
            add(.delete(try reference(entity)), pending, ifMatch: try etag(entity))
            changed.insert(entity)
        case .createLink(let link), .updateLink(let link):
            let navigation = try navigation(link.navigation, of: link.from, in: operation)
            add(.link(from: try reference(link.from), navigation: navigation, to: try reference(link.to)), pending)
        case .deleteLink(let link):
            let navigation = try navigation(link.navigation, of: link.from, in: operation)
            let target = navigation.isCollection ? try reference(link.to) : nil
            add(.unlink(from: try reference(link.from), navigation: navigation, to: target), pending)
        }
    }

    // MARK: Creation

    /// What a creation needs beside its own request, since a deep insert cannot tell which of several entities got which
    /// key (V2 and V4.0), and has no Content-ID for what lies below: children of a collection come after it, and an entity
    /// that has such children or is referred to comes before it.
    private struct Below {
        var before: [(navigation: Property, creation: Creation)] = []
        var after: [(navigation: Property, creation: Creation)] = []
        var inline: [(navigation: Property, creation: Creation)] = []
    }

    private mutating func addCreate(
        _ creation: Creation, _ parent: Parent?, _ pending: PendingOperation
    ) throws(StateError) {
        guard let parent else { return try add(creation, pending) { set, body in .create(in: set, body) } }
        let navigation = try navigation(parent.navigation, of: parent.entity, in: pending.operation)
        let owner = try reference(parent.entity)
        if navigation.isCollection {
            return try add(creation, pending, through: navigation) { _, body in
                .createRelated(in: owner, navigation: navigation, body)
            }
        }
        // There is no POST to a single-valued navigation property. The new entity binds its owner, where it can: it may not
        // exist without. Otherwise a link follows.
        if let type = resolver.model.findEntityType(creation.type),
            let partner = navigation.navigation?.partner.flatMap({ type.findProperty($0) }), partner.isNavigation
        {
            let binding = EntityBody.Binding(navigation: partner, targets: [owner])
            return try add(creation, pending, through: navigation) { set, body in
                var body = body
                if let known = body.bindings.firstIndex(where: { $0.navigation == partner }) {
                    body.bindings[known].targets.append(owner)
                } else {
                    body.bindings.append(binding)
                }
                return .create(in: set, body)
            }
        }
        try add(creation, pending) { set, body in .create(in: set, body) }
        add(.link(from: owner, navigation: navigation, to: try reference(creation.entity)), pending)
    }

    private mutating func add(
        _ creation: Creation, _ pending: PendingOperation, through owner: Property? = nil,
        action: (EntitySet, EntityBody) -> DataModification.Action
    ) throws(StateError) {
        guard let set = resolver.model.findEntitySet(creation.set) else { throw missing("entity set \(creation.set)") }
        let below = try split(creation)
        for (navigation, child) in below.before {
            try add(child, pending, through: navigation) { set, body in .create(in: set, body) }
        }
        let body = try body(creation, below, declared: set.entityType, through: owner)
        add(action(set, body), pending, creates: creation.entity)
        for (navigation, child) in below.after {
            let owner = try reference(creation.entity)
            try add(child, pending, through: navigation) { _, body in
                .createRelated(in: owner, navigation: navigation, body)
            }
        }
    }

    private func split(_ creation: Creation) throws(StateError) -> Below {
        guard let type = resolver.model.findEntityType(creation.type) else { throw missing("type \(creation.type)") }
        var below = Below()
        for level in creation.inline {
            let navigation = try property(level.navigation, of: type)
            for child in level.entities {
                if navigation.isCollection {
                    below.after.append((navigation, child))
                } else if referenced.contains(creation.entity) {
                    // Another request may link it elsewhere, and then nothing leads to what was created below it.
                    below.before.append((navigation, child))
                } else if try needsRequest(child) {
                    below.before.append((navigation, child))
                } else {
                    below.inline.append((navigation, child))
                }
            }
        }
        return below
    }

    private func needsRequest(_ creation: Creation) throws(StateError) -> Bool {
        if referenced.contains(creation.entity) { return true }
        let below = try split(creation)
        return !below.after.isEmpty || !below.before.isEmpty
    }

    private func body(
        _ creation: Creation, _ below: Below, declared: EntityType, through owner: Property?
    ) throws(StateError) -> EntityBody {
        guard let type = resolver.model.findEntityType(creation.type) else { throw missing("type \(creation.type)") }
        var (values, bindings) = try content(creation.values, creation.bindings, type)
        // Dependent properties are not asked where the request says in another way whom the entity is linked to.
        var decided = owner?.navigation?.inverseConstraints ?? []
        for (navigation, _) in below.before + below.inline { decided += navigation.navigation?.constraints ?? [] }
        for pair in decided where !type.keyProperties.contains(where: { $0.name == pair.dependent }) {
            values[pair.dependent] = nil
        }
        for (navigation, child) in below.before {
            bindings.append(EntityBody.Binding(navigation: navigation, targets: [try reference(child.entity)]))
        }
        var inline: [EntityBody.InlineEntities] = []
        for (navigation, child) in below.inline {
            let target = navigation.navigation.flatMap { resolver.model.findEntityType($0.targetType) } ?? type
            let body = try body(child, try split(child), declared: target, through: navigation)
            inline.append(EntityBody.InlineEntities(navigation: navigation, entities: [body]))
        }
        return EntityBody(
            type: type, declaredType: declared, values: values, bindings: bindings, inline: inline)
    }

    // MARK: Parts

    private mutating func add(
        _ action: DataModification.Action, _ pending: PendingOperation, ifMatch: String? = nil, creates: EntityID? = nil
    ) {
        let contentID = String(nextContentID)
        nextContentID += 1
        if let creates { contentIDs[creates] = contentID }
        let headers = HTTPHeaders(pending.operation.headers.map { ($0.name, $0.value) })
        requests.append(
            PlannedRequest(
                contentID: contentID, operation: pending.sequence,
                modification: DataModification(action, ifMatch: ifMatch, headers: headers), creates: creates))
    }

    private func reference(_ entity: EntityID) throws(StateError) -> ResourceReference {
        if let contentID = contentIDs[entity] { return .contentID(contentID) }
        guard let row = try resolver.serviceRow(entity), let reference = resolver.reference(row) else {
            throw StateError(.damaged, "Entity \(entity) is to be sent, but the service does not know it.")
        }
        return reference
    }

    private func etag(_ entity: EntityID) throws(StateError) -> String? {
        guard contentIDs[entity] == nil, let etag = try resolver.serviceRow(entity)?.etag else { return nil }
        return changed.contains(entity) ? "*" : etag
    }

    /// Where values and a binding say the same, the binding is sent. Not every V2 service knows bindings: those get the
    /// values, with the key that the principal has now; only a principal of the same change set has none yet.
    private func content(
        _ values: PropertyValues, _ bindings: [Binding], _ type: EntityType
    ) throws(StateError) -> (PropertyValues, [EntityBody.Binding]) {
        var values = values
        var encoded: [EntityBody.Binding] = []
        for binding in bindings {
            if let pairs = resolver.constraint(of: binding, beside: values, type), let principal = binding.targets.first
            {
                if resolver.model.version.isLegacy, contentIDs[principal] == nil {
                    let row = try resolver.serviceRow(principal)
                    for pair in pairs { values[pair.dependent] = row?.values[pair.principal] ?? values[pair.dependent] }
                    continue
                }
                for pair in pairs { values[pair.dependent] = nil }
            }
            encoded.append(try self.binding(binding, type))
        }
        return (values, encoded)
    }

    private func binding(_ binding: Binding, _ type: EntityType) throws(StateError) -> EntityBody.Binding {
        EntityBody.Binding(
            navigation: try property(binding.navigation, of: type),
            targets: try binding.targets.map { t throws(StateError) in try reference(t) })
    }

    private func set(of entity: EntityID) throws(StateError) -> String {
        try resolver.storage.set(of: entity) ?? ""
    }

    private func type(of entity: EntityID, in operation: Operation) throws(StateError) -> EntityType {
        if let row = try resolver.anyRow(entity), let type = resolver.model.findEntityType(row.type) { return type }
        guard let type = resolver.model.findEntitySet(try set(of: entity))?.entityType else {
            throw missing("type of entity \(entity)")
        }
        return type
    }

    private func navigation(
        _ name: String, of entity: EntityID, in operation: Operation
    ) throws(StateError) -> Property {
        guard let property = try resolver.navigation(name, of: entity, in: operation) else {
            throw missing("navigation property \(name)")
        }
        return property
    }

    private func property(_ name: String, of type: EntityType) throws(StateError) -> Property {
        guard let property = type.findProperty(name) else { throw missing("navigation property \(type.name)/\(name)") }
        return property
    }

    private func missing(_ what: String) -> StateError {
        StateError(.noModel, "The metadata no longer has the \(what), which a pending operation uses.")
    }
}
