import EDM
import ODataWire
import Operations

extension RequestPlanner {
    /// Adds the single request of an operation that writes a stream. The planner does not have the body.
    mutating func add(_ stream: StreamWrite, _ pending: PendingOperation) throws(StateError) {
        switch pending.operation.action {
        case .create(let creation, let parent):
            guard let set = resolver.model.findEntitySet(creation.set),
                let type = resolver.model.findEntityType(creation.type)
            else { throw missing("entity set \(creation.set)") }
            let body = EntityBody(type: type, declaredType: set.entityType, values: [:])
            if let parent {
                let navigation = try navigation(parent.navigation, of: parent.entity, in: pending.operation)
                let owner = try reference(parent.entity, having: navigation)
                add(
                    .createRelated(in: owner, navigation: navigation, body), pending,
                    creates: NewEntity(creation.entity), stream: stream)
            } else {
                add(.create(in: set, body), pending, creates: NewEntity(creation.entity), stream: stream)
            }
        case .update(let entity, _, _):
            let type = try type(of: entity, in: pending.operation)
            let body = EntityBody(type: type, values: [:])
            let property = stream.property.flatMap(type.findProperty)
            let target =
                if let property { try reference(entity, having: property) } else { try reference(entity) }
            let image = try resolver.storage.stream(stream.property, of: entity)
            // A stream has its own ETag (OData JSON 4.01, 4.5.10), which the request has to contain (Part 1, 11.4.7.2): that
            // of the content that the store has or had, or else the one that the service returned with the entity. V2
            // services that return none use the entity's.
            let fallback = resolver.model.version.isLegacy ? try etag(entity) : nil
            add(
                .update(target, body, replaces: true), pending, ifMatch: image?.knownETag ?? fallback,
                stream: stream, streamLink: image?.reported?.editLink)
            didChange([entity])
        case .delete, .createLink, .updateLink, .deleteLink:
            throw StateError(.unsendable, "only a create or an update writes a stream")
        }
    }
}

extension StreamHead {
    init(_ stream: StreamWrite, editLink: String?) {
        self.init(
            property: stream.property, mediaType: stream.content?.mediaType, name: stream.content?.name,
            editLink: editLink)
    }
}

extension StreamImage {
    /// The ETag that a write of the stream has to contain, or nil if none is known.
    fileprivate var knownETag: String? { etag ?? reported?.etag }
}

extension EntityResolver<WorkingSet> {
    /// Returns whether the unit writes a stream of the entity whose ETag is unknown although the metadata declare ETags.
    func lacksStreamETag(_ entity: EntityID, for unit: [PendingOperation]) throws(StateError) -> Bool {
        guard unit.count == 1, let stream = unit[0].operation.stream, unit[0].operation.subject == entity,
            !model.version.isLegacy, let set = try set(of: entity).flatMap({ model.findEntitySet($0) }),
            set.hasOptimisticConcurrency
        else { return false }
        return try storage.stream(stream.property, of: entity)?.knownETag == nil
    }
}
