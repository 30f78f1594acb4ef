import EDM
import ODataQuery
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Determines by reading whether the service still has an entity or link that an operation removes.
struct RemovalLookup {
    let store: LocalStore
    let session: ServiceSession
    /// The operations that took effect all or none.
    let members: [PendingOperation]

    private var reader: EntityReader { EntityReader(store: store, session: session) }

    /// Returns the operations that have no effect any more: removals of entities and links that no longer exist,
    /// whichever client removed them, and other changes of these entities.
    ///
    /// Sent again, they would make the whole change set fail each time, and the response may not name them as the cause.
    /// An operation that is alone is sent again.
    func ended() async throws(TidelogError) -> Set<SequenceNumber> {
        guard members.count > 1 else { return [] }
        var ended: Set<SequenceNumber> = []
        var gone: Set<EntityID> = []
        for pending in members {
            guard try await isGone(pending) else { continue }
            ended.insert(pending.sequence)
            if case .delete(let entity) = pending.operation.action { gone.insert(entity) }
        }
        for pending in members where pending.operation.call == nil {
            switch pending.operation.action {
            case .update(let entity, _, _): if gone.contains(entity) { ended.insert(pending.sequence) }
            case .createLink(let link), .updateLink(let link), .deleteLink(let link):
                if !gone.isDisjoint(with: [link.from, link.to]) { ended.insert(pending.sequence) }
            case .create, .delete: break
            }
        }
        return ended
    }

    /// Returns whether the entity or link that the operation removes no longer exists. False if that cannot be read.
    private func isGone(_ pending: PendingOperation) async throws(TidelogError) -> Bool {
        do throws(TidelogError) {
            switch pending.operation.action {
            case .delete(let id):
                guard let (reference, set) = try await store.references.serviceReference(id) else { return false }
                return try await reader.read(reference, set) == nil
            case .deleteLink(let link): return try await isGone(link, pending.sequence)
            case .create, .update, .createLink, .updateLink: return false
            }
        } catch {
            guard error.isLastingAnswer || error.isOfReading else { throw error }
            return false
        }
    }

    private func isGone(_ link: Link, _ operation: SequenceNumber) async throws(TidelogError) -> Bool {
        guard let (source, set) = try await store.references.serviceReference(link.from),
            // Derived types may have different properties of this name.
            case let model = try await store.model,
            case let declarations = model.declarations(of: link.navigation, in: set.entityType),
            let navigation = declarations.first, declarations.count == 1,
            !members.contains(where: { $0.sequence != operation && $0.operation.maySet(link, navigation) }),
            try await !store.doubts.earlierOperations(than: operation, naming: [link.from, link.to]).contains(where: {
                $0.operation.maySet(link, navigation)
            }),
            let (target, targets) = try await store.references.serviceReference(link.to),
            case .entity(_, let key) = target
        else { return false }
        if navigation.isCollection {
            // Only an empty result is conclusive, in case the service ignores the condition.
            let values = key.properties(of: targets.entityType)
            let condition = targets.entityType.keyProperties.compactMap { property in
                values[property.name].map { (property: property, value: $0) }
            }
            guard condition.count == key.values.count else { return false }
            let owner = source.having(navigation, in: set, version: model.version)
            let place = ResourceReference.contained(in: owner, by: navigation, key: nil)
            return try await reader.search(targets, at: place, where: condition).isEmpty
        }
        guard let (payload, _) = try await reader.read(source, set, expand: [navigation.name]),
            let found = payload.expanded.first(where: { $0.navigation == navigation.name }), found.unreadable.isEmpty
        else { return false }
        return !found.entities.contains { key.matches($0.values, of: targets.entityType) }
    }
}

extension Operation {
    /// Whether the operation may set the link, so that the missing link does not prove its removal by another operation:
    /// if neither took effect, this one is sent (again), and then the removal has to follow.
    fileprivate func maySet(_ link: Link, _ navigation: Property) -> Bool {
        let ends: Set = [link.from, link.to]
        if ends.isSubset(of: referencedEntities) { return true }
        guard call == nil else { return !ends.isDisjoint(with: referencedEntities) }
        guard case .update(let entity, let changes, _) = action, ends.contains(entity), let end = navigation.navigation
        else { return false }
        return (end.constraints + end.inverseConstraints).contains { changes[$0.dependent] != nil }
    }
}
