import EDM
import ODataWire
import Operations

extension RequestPlanner {
    /// Adds a request that has no effect except that the service compares the ETag of the entity of a later update.
    ///
    /// A link between them may change the ETag, so the update itself is sent without one. The request updates the entity
    /// to values that it has: those that the later update replaces, if they are known.
    mutating func addCheck(before update: PendingOperation) throws(StateError) {
        guard case .update(let entity, let changes, let bindings) = update.operation.action,
            contentIDs[entity] == nil, !changed.all.contains(entity), let row = try resolver.serviceRow(entity),
            row.etag != nil
        else { return }
        let type = try type(of: entity, in: update.operation)
        guard !changes.isEmpty || bindings.contains(where: { options.mayContain($0, type) }) else { return }
        // Not those that the change set leads to: a removed link without a request has already changed these.
        let values =
            options.supportsPatch ? type.replaced(of: row, by: changes) : type.repeated(row.values, changing: [:])
        try setHeaders(of: update.operation)
        let body = EntityBody(
            type: type, declaredType: resolver.model.findEntitySet(try set(of: entity))?.entityType, values: values)
        add(
            .update(try reference(entity), body, replaces: !options.supportsPatch), update,
            ifMatch: try etag(entity))
        didChange([entity], etagOf: entity)
    }
}

extension ServiceOptions {
    /// Returns whether the request of an update may contain the binding. A request that only sets a link has no ETag.
    fileprivate func mayContain(_ binding: Binding, _ type: EntityType) -> Bool {
        supportsBind || type.findProperty(binding.navigation)?.navigation?.constraints.isEmpty == false
    }
}

extension EntityType {
    /// Returns values of the row that an update may contain. They are empty if the store has none.
    fileprivate func replaced(of row: EntityRow, by changes: PropertyValues) -> PropertyValues {
        let keys = Set(keyProperties.map(\.name))
        var first: PropertyValues = [:]
        var replaced: PropertyValues = [:]
        for property in properties where property.isWritable && !property.isClientOnly {
            guard !keys.contains(property.name), let value = row.values[property.name] else { continue }
            if changes[property.name] != nil {
                replaced[property.name] = value
            } else if first.isEmpty {
                first[property.name] = value
            }
        }
        return replaced.isEmpty ? first : replaced
    }
}
