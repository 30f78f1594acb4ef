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
            // A stream has its own ETag (OData JSON 4.01, 4.5.10). V2 services that return none use the entity's.
            let fallback = resolver.model.version.isLegacy ? try etag(entity) : nil
            add(
                .update(target, body, replaces: true), pending, ifMatch: image?.etag ?? fallback,
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
