import EDM
import ODataQuery
import ODataWire
import Operations

/// The responses to calls of actions.
extension Reconciler {
    /// Returns the images of the entities that an action returned. Values that are no entities are not stored.
    ///
    /// The action has taken effect, so a result that cannot be read is no error: the upload reads the bound entity.
    mutating func returned(
        _ request: UploadedRequest, _ response: WireResponse
    ) throws(StateError) -> [EntityImage] {
        guard let invocation = request.invocation, let type = invocation.operation.returnType?.type,
            case .entity = type.kind, !response.body.isEmpty,
            let call = try storage.pendingOperation(request.operation)?.operation.call,
            let result = try? reader.result(response.body, type: type, name: invocation.operation.name)
        else { return [] }
        // The declared type of the result may be derived from that of the set.
        let derived = model.findEntityType(type.name)?.baseType == nil ? nil : type.name
        switch result {
        case .nothing, .value, .values: return []
        case .entity(var entity, let name):
            entity.type = entity.type ?? derived
            guard let set = try returnedSet(name, type, invocation, call) else { return [] }
            entity.etag = entity.etag ?? response.headers["ETag"]
            let known = try identity(of: entity, in: set, call)
            return try builder.images(of: entity, in: set, known: known) ?? []
        case .entities(let page, let name):
            guard let set = try returnedSet(name, type, invocation, call) else { return [] }
            var images: [EntityImage] = []
            for var entity in page.entities {
                entity.type = entity.type ?? derived
                images += try builder.images(of: entity, in: set) ?? []
            }
            return images
        }
    }

    /// Returns the set that the metadata declare for the result, or the response, or that of the bound entity if its
    /// type fits, or the only set of the type.
    private func returnedSet(
        _ name: String?, _ type: TypeReference, _ invocation: OperationInvocation, _ call: ActionCall
    ) throws(StateError) -> EntitySet? {
        if let set = invocation.resultSet(in: model) ?? name.flatMap(model.findEntitySet) { return set }
        func fits(_ set: EntitySet) -> Bool {
            model.isType(type.name, derivedFrom: set.entityType.name)
                || model.isType(set.entityType.name, derivedFrom: type.name)
        }
        let bound = try call.boundEntity.flatMap { id throws(StateError) in try storage.set(of: id) }
        if let set = bound.flatMap(model.findEntitySet), fits(set) { return set }
        let candidates = model.entitySets.filter { !$0.isContained && fits($0) }
        return candidates.count == 1 ? candidates[0] : nil
    }

    /// Returns the bound entity if the app has declared that the response is this entity, and no other entity of the
    /// store has the returned key.
    private func identity(
        of entity: EntityPayload, in set: EntitySet, _ call: ActionCall
    ) throws(StateError) -> EntityID? {
        guard call.answer == .boundEntity, case .entity(let bound)? = call.binding,
            try storage.set(of: bound) == set.name
        else { return nil }
        guard !set.isContained, let type = entity.type.flatMap(model.findEntityType) ?? .some(set.entityType),
            let key = KeyPredicate(of: type, in: entity.values)
        else { return bound }
        let owner = try storage.entity(set: set.name, key: KeyText.of(key))
        return owner == nil || owner == bound ? bound : nil
    }
}
