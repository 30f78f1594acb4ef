import EDM
import ODataWire
import Operations

/// Writes the operations of a change set as requests, numbers them, and lets `$<Content-ID>` stand for new entities.
struct RequestPlanner<Storage: StateStorage> {
    private let resolver: EntityResolver<Storage>
    private var nextContentID = 1
    private var contentIDs: [EntityID: String] = [:]
    private var requests: [PlannedRequest] = []

    init(resolver: EntityResolver<Storage>) { self.resolver = resolver }

    mutating func changeSet(_ operations: [PendingOperation]) throws(StateError) -> PlannedChangeSet {
        contentIDs = [:]
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
            let body = EntityBody(
                type: type, declaredType: resolver.model.findEntitySet(try set(of: entity))?.entityType,
                values: changes,
                bindings: try bindings.map { b throws(StateError) in try binding(b, type) })
            add(.update(try reference(entity), body, replaces: false), pending, ifMatch: try etag(entity))
        case .delete(let entity):
            add(.delete(try reference(entity)), pending, ifMatch: try etag(entity))
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

    private mutating func addCreate(
        _ creation: Creation, _ parent: Parent?, _ pending: PendingOperation
    ) throws(StateError) {
        guard let set = resolver.model.findEntitySet(creation.set) else { throw missing("entity set \(creation.set)") }
        // Children below a collection are requests of their own: neither V2 nor V4.0 says which child got which key.
        var separate: [(parent: EntityID, navigation: Property, child: Creation)] = []
        let body = try body(creation, declared: set.entityType, &separate)
        if let parent {
            let navigation = try navigation(parent.navigation, of: parent.entity, in: pending.operation)
            if navigation.isCollection {
                add(
                    .createRelated(in: try reference(parent.entity), navigation: navigation, body), pending,
                    creates: creation.entity)
            } else {
                // There is no POST to a single-valued navigation property: create, then link.
                add(.create(in: set, body), pending, creates: creation.entity)
                add(
                    .link(
                        from: try reference(parent.entity), navigation: navigation, to: try reference(creation.entity)),
                    pending)
            }
        } else {
            add(.create(in: set, body), pending, creates: creation.entity)
        }
        for (owner, navigation, child) in separate {
            try addChild(child, navigation, below: owner, pending)
        }
    }

    private mutating func addChild(
        _ child: Creation, _ navigation: Property, below owner: EntityID, _ pending: PendingOperation
    ) throws(StateError) {
        guard let set = resolver.model.findEntitySet(child.set) else { throw missing("entity set \(child.set)") }
        var separate: [(parent: EntityID, navigation: Property, child: Creation)] = []
        let body = try body(child, declared: set.entityType, &separate)
        add(
            .createRelated(in: try reference(owner), navigation: navigation, body), pending, creates: child.entity)
        for (owner, navigation, child) in separate { try addChild(child, navigation, below: owner, pending) }
    }

    private func body(
        _ creation: Creation, declared: EntityType,
        _ separate: inout [(parent: EntityID, navigation: Property, child: Creation)]
    ) throws(StateError) -> EntityBody {
        guard let type = resolver.model.findEntityType(creation.type) else { throw missing("type \(creation.type)") }
        var inline: [EntityBody.InlineEntities] = []
        for level in creation.inline {
            let navigation = try property(level.navigation, of: type)
            if navigation.isCollection {
                for child in level.entities { separate.append((creation.entity, navigation, child)) }
                continue
            }
            let target = navigation.navigation.flatMap { resolver.model.findEntityType($0.targetType) } ?? type
            var bodies: [EntityBody] = []
            for child in level.entities { bodies.append(try body(child, declared: target, &separate)) }
            inline.append(EntityBody.InlineEntities(navigation: navigation, entities: bodies))
        }
        return EntityBody(
            type: type, declaredType: declared, values: creation.values,
            bindings: try creation.bindings.map { b throws(StateError) in try binding(b, type) }, inline: inline)
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
        contentIDs[entity] == nil ? try resolver.serviceRow(entity)?.etag : nil
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
