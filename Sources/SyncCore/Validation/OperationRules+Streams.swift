import EDM
import Operations

extension OperationRules {
    /// Checks a stream write. It is sent as a request of its own, so it cannot be part of an atomic unit.
    func checkStream(_ operation: Operation) throws(ValidationError) {
        guard let stream = operation.stream else { return }
        guard operation.changeSet == nil, operation.transactionID == nil else {
            throw .refused(
                .init(
                    .notAllowed,
                    "A stream cannot be written in a change set, because it is sent in a request of its own.",
                    recovery: "Write the stream before or after the change set."))
        }
        switch operation.action {
        case .create(let creation, let parent):
            guard stream.property == nil, stream.content != nil, model.findEntityType(creation.type)?.hasStream == true
            else { throw .refused(.init(.notAllowed, "\(creation.type) is not a media entity.")) }
            guard creation.values.isEmpty, creation.bindings.isEmpty, creation.inline.isEmpty else {
                throw .refused(
                    .init(
                        .notAllowed,
                        "A media entity is created by its stream without properties (OData 4.01 Part 1, 11.4.7.1).",
                        recovery: "Set the properties with an update."))
            }
            guard let parent else { return }
            let row = try existing(parent.entity)
            guard model.findEntityType(row.type)?.findProperty(parent.navigation)?.isCollection != false else {
                throw .refused(
                    .init(
                        .notAllowed, "A media entity cannot be created through the single-valued \(parent.navigation).",
                        recovery: "Create the entity in its set, and link it."))
            }
        case .update(let entity, let changes, let bindings):
            guard changes.isEmpty, bindings.isEmpty else {
                throw .refused(.init(.notAllowed, "An update writes properties or a stream, not both."))
            }
            try checkStream(stream, of: try existing(entity))
        case .delete, .createLink, .updateLink, .deleteLink:
            throw .refused(.init(.notAllowed, "Only a create or an update writes a stream."))
        }
    }

    private func checkStream(_ stream: StreamWrite, of row: EntityRow) throws(ValidationError) {
        let type = model.findEntityType(row.type)
        guard let name = stream.property else {
            guard type?.hasStream == true else {
                throw .refused(.init(.notAllowed, "\(row.type) is not a media entity."))
            }
            guard stream.content != nil else {
                throw .refused(
                    .init(
                        .notAllowed, "The stream of a media entity can only be deleted together with the entity.",
                        recovery: "Delete the entity."))
            }
            return
        }
        guard type?.findProperty(name)?.type.primitive == .stream else {
            throw .refused(.init(.unknownProperty, "\(row.type) has no stream property \(name)."))
        }
    }
}
