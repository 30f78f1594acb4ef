import EDM
import Operations
import SyncCore

/// What a pending operation does to an entity that it names, as the views keep it.
struct OperationRole: OptionSet {
    let rawValue: Int64

    /// It changes the entity as the service has it, its links included: a conflict may concern it.
    static let changes = OperationRole(rawValue: 1)
    /// It is a change of this entity: creates it, updates or deletes it, writes its stream, or sets one of its single-valued
    /// links. To be linked to, or to get a new entity below it, is none. This is what `sap.islocal()` and the like ask.
    static let isAbout = OperationRole(rawValue: 2)

    /// A condition for SQL: the operation is about the entity. Names the partial index's own condition as well.
    static let isAboutCondition = "touched.changes <> 0 AND touched.changes & 2"
}

extension SQLiteState {
    /// What the operation does to each entity that it names.
    func roles(of operation: Operation) throws(StateError) -> [EntityID: OperationRole] {
        var roles: [EntityID: OperationRole] = [:]
        for id in operation.touchedEntities { roles[id] = operation.changes(id) ? .changes : [] }
        func isAbout(_ id: EntityID) { roles[id, default: []].insert(.isAbout) }
        switch operation.action {
        case .create(let creation, _):
            for id in creation.createdEntities { isAbout(id) }
            for id in try entitiesLinked(by: creation) { isAbout(id) }
        case .update(let entity, _, let bindings):
            isAbout(entity)
            for binding in bindings where !binding.targets.isEmpty {
                guard try holder(of: binding.navigation, from: entity) == .target else { continue }
                for target in binding.targets { isAbout(target) }
            }
        case .delete(let entity): isAbout(entity)
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            switch try holder(of: link.navigation, from: link.from) {
            case .source: isAbout(link.from)
            case .target: isAbout(link.to)
            case .none: break
            }
        }
        return roles
    }

    /// The existing entities that get a link of their own by being bound to a collection of a new one.
    private func entitiesLinked(by creation: Creation) throws(StateError) -> [EntityID] {
        var found: [EntityID] = []
        let type = model?.findEntityType(creation.type)
        for binding in creation.bindings where !binding.targets.isEmpty {
            if Self.holder(of: type?.findProperty(binding.navigation)) == .target { found += binding.targets }
        }
        for inline in creation.inline {
            for child in inline.entities { found += try entitiesLinked(by: child) }
        }
        return found
    }

    private enum LinkHolder { case source, target }

    /// The end of a link that has it as a value of its own: dependent properties, or a single-valued navigation property.
    /// Nil if neither has, as with many to many.
    private func holder(of navigation: String, from source: EntityID) throws(StateError) -> LinkHolder? {
        let known = try row(source)?.type
        let type: EntityType?
        if let known {
            type = model?.findEntityType(known)
        } else {
            type = try set(of: source).flatMap { model?.findEntitySet($0)?.entityType }
        }
        return Self.holder(of: type?.findProperty(navigation))
    }

    private static func holder(of property: Property?) -> LinkHolder? {
        guard let end = property?.navigation else { return nil }
        if !end.constraints.isEmpty { return .source }
        if !end.inverseConstraints.isEmpty { return .target }
        if end.multiplicity != .many { return .source }
        return end.sourceMultiplicity != .many ? .target : nil
    }
}
