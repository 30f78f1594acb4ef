import EDM
import ODataWire
import Operations

extension RequestPlanner {
    /// The one request of an operation that writes a stream. Its body is not here.
    mutating func add(_ stream: StreamWrite, _ pending: PendingOperation) throws(StateError) {
        switch pending.operation.action {
        case .create(let creation, let parent):
            guard let set = resolver.model.findEntitySet(creation.set),
                let type = resolver.model.findEntityType(creation.type)
            else { throw missing("entity set \(creation.set)") }
            let body = EntityBody(type: type, declaredType: set.entityType, values: [:])
            if let parent {
                let navigation = try navigation(parent.navigation, of: parent.entity, in: pending.operation)
                add(
                    .createRelated(in: try reference(parent.entity), navigation: navigation, body), pending,
                    creates: NewEntity(creation.entity), stream: stream)
            } else {
                add(.create(in: set, body), pending, creates: NewEntity(creation.entity), stream: stream)
            }
        case .update(let entity, _, _):
            let body = EntityBody(type: try type(of: entity, in: pending.operation), values: [:])
            let image = try resolver.storage.stream(stream.property, of: entity)
            // A stream has an ETag of its own (OData JSON 4.01, 4.5.10). In V2 services that tell none take the entity's.
            let fallback = resolver.model.version.isLegacy ? try etag(entity) : nil
            add(
                .update(try reference(entity), body, replaces: true), pending, ifMatch: image?.etag ?? fallback,
                stream: stream, streamLink: image?.told?.editLink)
            changed.insert(entity)
        case .delete, .createLink, .updateLink, .deleteLink:
            throw StateError(.unsendable, "only a create or an update writes a stream")
        }
    }
}
