import EDM
import ODataWire
import Operations

extension RequestPlanner {
    /// Adds a request that has no effect except that the service compares the ETag of the entity of a later update or
    /// deletion.
    ///
    /// A link between them may change the ETag, so the later request is sent without one. The request updates the entity
    /// to values that it has: those that a later update replaces, if they are known.
    mutating func addCheck(before later: PendingOperation) throws(StateError) {
        let entity = later.operation.subject
        guard contentIDs[entity] == nil, !changed.all.contains(entity), let row = try resolver.serviceRow(entity),
            row.etag != nil
        else { return }
        let type = try type(of: entity, in: later.operation)
        let check = ETagCheck(resolver: resolver, options: options)
        guard let values = try check.values(of: row, type, before: later.operation) else { return }
        try setHeaders(of: later.operation)
        let body = EntityBody(
            type: type, declaredType: resolver.model.findEntitySet(try set(of: entity))?.entityType, values: values)
        add(
            .update(try reference(entity), body, replaces: !options.supportsPatch), later,
            ifMatch: try etag(entity))
        didChange([entity], etagOf: entity)
    }
}

/// An update of an entity to values that it has.
private struct ETagCheck {
    let resolver: EntityResolver<WorkingSet>
    let options: ServiceOptions

    /// Returns the values that the entity has, or nil if the later operation needs no check.
    func values(
        of row: EntityRow, _ type: EntityType, before later: Operation
    ) throws(StateError) -> PropertyValues? {
        var replaced: PropertyValues = [:]
        switch later.action {
        case .update(_, let changes, let bindings):
            guard !changes.isEmpty || bindings.contains(where: { options.mayContain($0, type) }) else { return nil }
            replaced = changes
        case .delete: if let obstacle = obstacle(row) { throw StateError(.unsendable, obstacle) }
        case .create, .createLink, .updateLink, .deleteLink: return nil
        }
        // Not those that the change set leads to: a removed link without a request has already changed these.
        guard options.supportsPatch else { return type.repeated(row.values, changing: [:]) }
        let fixed = resolver.model.findEntitySet(row.set)?.nonUpdatableProperties ?? []
        return type.replaced(of: row, by: replaced, except: fixed)
    }

    /// Returns why no update can compare the ETag of the entity before its deletion, as the end of a sentence; nil if one
    /// can.
    private func obstacle(_ row: EntityRow) -> String? {
        var obstacle: String?
        if resolver.model.findEntitySet(row.set)?.permitsUpdates == false {
            obstacle = "the service does not permit updates of \(row.set)"
        } else if !options.supportsPatch {
            obstacle =
                resolver.obstacleToReplacement(row)
                ?? (resolver.lacksProperties(row) ? "a PUT would reset properties that were never read" : nil)
        }
        return obstacle.map {
            "the deletion of entity \(row.id) follows a link of the entity in the same change set, so an update would have to compare the ETag before, but \($0); a change set without the link can delete the entity"
        }
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
    ///
    /// - Parameter fixed: The names of properties that the service does not update.
    fileprivate func replaced(
        of row: EntityRow, by changes: PropertyValues, except fixed: Set<String>
    ) -> PropertyValues {
        let keys = Set(keyProperties.map(\.name))
        var other: (name: String, value: Value, isPlain: Bool)?
        var replaced: PropertyValues = [:]
        for property in properties where property.isWritable && property.isReadable && !property.isClientOnly {
            let name = property.name
            guard !keys.contains(name), !fixed.contains(name), property.type.primitive != .stream,
                let value = row.values[name]
            else { continue }
            if changes[name] != nil {
                replaced[name] = value
            } else if other == nil || other?.isPlain == false && property.isPlain {
                other = (name, value, property.isPlain)
            }
        }
        return replaced.isEmpty ? other.map { [$0.name: $0.value] } ?? [:] : replaced
    }
}

extension Property {
    /// Whether an update to the property's own value certainly changes nothing. The members of a complex value may be
    /// computed, and a service may write a new value into a property of its ETag.
    fileprivate var isPlain: Bool {
        if case .complex = type.kind { return false }
        return !isCollection && !facets.isConcurrencyToken
    }
}
