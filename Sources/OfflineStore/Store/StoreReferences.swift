package import EDM
package import ODataWire
import OperationLog
package import Operations
import SyncCore

/// The identities of entities at the service, for the requests of uploads and downloads.
package actor StoreReferences {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    /// Returns the service's reference to an entity, with its set, or nil while it has no key.
    package func serviceReference(_ id: EntityID) throws(TidelogError) -> (
        reference: ResourceReference, set: EntitySet
    )? {
        let model = try core.model
        return try core.read { try EntityResolver(storage: $0, model: model).serviceReference(id, model) }
    }

    /// Returns the known entities that the service has linked to this one.
    package func partners(of id: EntityID) throws(TidelogError) -> [EntityID] {
        try core.read { state in
            Set(try state.links(of: id).filter(\.inBase).map { $0.first == id ? $0.second : $0.first }).sorted()
        }
    }

    /// Returns the navigation properties of entities that lead to entities whose keys the service has not returned, by
    /// the entities that have such properties.
    package func navigationsToKeylessEntities(of ids: [EntityID]) throws(TidelogError) -> [EntityID: [String]] {
        let model = try core.model
        return try core.read { state throws -> [EntityID: [String]] in
            let resolver = EntityResolver(storage: state, model: model)
            var found: [EntityID: [String]] = [:]
            for id in ids {
                guard let row = try resolver.serviceRow(id), let type = model.findEntityType(row.type) else { continue }
                for property in type.navigationProperties {
                    guard let relationship = property.navigation?.relationship else { continue }
                    let links =
                        relationship.isForward
                        ? try state.links(relationship.name, first: id) : try state.links(relationship.name, second: id)
                    // A pending operation may have deleted the entity or removed the link.
                    let isFound = try links.contains { link in
                        guard link.inBase,
                            let target = try resolver.serviceRow(relationship.isForward ? link.second : link.first)
                        else { return false }
                        return target.origin.isOnService
                            && model.findEntityType(target.type).map { KeyText.of(target.values, type: $0) == nil }
                                ?? false
                    }
                    if isFound { found[id, default: []].append(property.name) }
                }
            }
            return found
        }
    }

    package func baseETag(of id: EntityID) throws(TidelogError) -> String? {
        let model = try core.model
        return try core.read { try EntityResolver(storage: $0, model: model).serviceRow(id)?.etag }
    }

    /// Returns the values that the service had when the oldest pending change of the entity was made.
    package func formerValues(of id: EntityID) throws(TidelogError) -> PropertyValues? {
        let model = try core.model
        return try core.read {
            try $0.bookkeeping.mergeBase(id)?.row.values
                ?? EntityResolver(storage: $0, model: model).serviceRow(id)?.values
        }
    }

    package func isOnService(_ id: EntityID) throws(TidelogError) -> Bool {
        let model = try core.model
        return try core.read {
            try EntityResolver(storage: $0, model: model).serviceRow(id)?.origin.isOnService ?? false
        }
    }

    /// Returns the collection in which the entities of a set are read.
    ///
    /// - Returns: A tuple with a nil `place` if the set belongs to the entity container. Nil if the set is contained in
    ///   an entity whose key is unknown.
    package func collection(
        of set: EntitySet, below parent: Parent?
    ) throws(TidelogError) -> (place: ResourceReference?, container: EntityID?)? {
        guard let containment = set.containment else { return (nil, nil) }
        guard let parent, let owner = try serviceReference(parent.entity)?.reference else { return nil }
        let place = ResourceReference.contained(
            in: containment.cast.map { .cast(owner, to: $0) } ?? owner, by: containment.navigation, key: nil)
        return (place, parent.entity)
    }
}

extension EntityResolver {
    /// Returns the service's reference to an entity, with its set, or nil while it has no key.
    func serviceReference(
        _ id: EntityID, _ model: EntityDataModel
    ) throws(StateError) -> (reference: ResourceReference, set: EntitySet)? {
        guard let row = try serviceRow(id), let set = model.findEntitySet(row.set), let reference = try reference(row)
        else { return nil }
        return (reference, set)
    }
}
