internal import EDM
internal import ODataQuery

extension EntityPayloadReader {
    /// Reads an item of a collection. `type` is the collection's type; the item's own context may contain a different
    /// set.
    func item(_ object: JSONObject, type: EntityType) throws(PayloadError) -> DeltaItem {
        let head = ItemHead(object, valueReader)
        if head.isRemoved { return .removed(try removed(object, head, type)) }
        switch head.context?.kind {
        case .link: return .link(try link(object, head, isAdded: true))
        case .deletedLink: return .link(try link(object, head, isAdded: false))
        default: return .entity(try entity(object, head, type))
        }
    }

    private func entity(_ object: JSONObject, _ head: ItemHead, _ declared: EntityType) throws(PayloadError)
        -> EntityPayload
    {
        guard let context = head.context else { return try entity(object, type: declared) }
        var payload = try entity(object, type: entityType(of: context) ?? declared)
        payload.type = payload.type ?? context.type.flatMap(valueReader.model.findEntityType)?.name
        payload.set = context.set
        return payload
    }

    /// Returns the type of the entities in a set or contained collection, given in the form of ``EntityPayload/set``.
    func entityType(in set: String) -> EntityType? { ContextURL("#" + set).flatMap(entityType) }

    /// Returns the type in a context, or the type of the entities in its set or contained collection.
    private func entityType(of context: ContextURL) -> EntityType? {
        if let type = context.type.flatMap(valueReader.model.findEntityType) { return type }
        guard let name = context.names.first else { return nil }
        var type = valueReader.model.findEntitySet(name)?.entityType
        for name in context.names.dropFirst() {
            let next =
                name.contains(".")
                ? valueReader.model.resolveAlias(name) : type?.findProperty(name)?.navigation?.targetType
            type = next.flatMap(valueReader.model.findEntityType)
        }
        return type
    }

    private func removed(_ object: JSONObject, _ head: ItemHead, _ declared: EntityType) throws(PayloadError)
        -> RemovedEntity
    {
        let type = head.type.flatMap(valueReader.model.findEntityType) ?? head.context.flatMap(entityType) ?? declared
        var properties = object
        let reason = try Self.takeReason(head, &properties)
        // In 4.0 the entity-id is a member like a property, whatever properties the type has.
        let id =
            head.removed == nil || type.findProperty("id") == nil ? try Self.takeIdentifier(&properties) : nil
        var removed = RemovedEntity(entity: try entity(properties, head, declared), reason: reason)
        removed.entity.id = removed.entity.id ?? id
        guard removed.entity.id != nil || identifies(removed.entity.values, type) else {
            throw PayloadError(.unexpectedShape, "A removed entity has neither an entity-id nor a complete key.")
        }
        return removed
    }

    private static func takeReason(_ head: ItemHead, _ properties: inout JSONObject) throws(PayloadError)
        -> RemovedEntity.Reason?
    {
        guard let (name, value) = head.removed else {
            // These are members of 4.0 and of Olingo's V2 format, and not properties of the entity.
            let reason = properties["reason"]
            properties.members.removeAll { $0.name == "reason" || $0.name == "when" }
            return reason.flatMap(Self.reason(of:))
        }
        guard value.object != nil || value.string != nil else {
            throw PayloadError(
                .typeMismatch, "Expected an object with a reason, not \(value.kindName).", path: "/\(name)")
        }
        return reason(of: value)
    }

    /// Returns the reason, given directly or in an object. Unknown reasons are ignored.
    private static func reason(of json: JSONValue) -> RemovedEntity.Reason? {
        let text = json.string ?? json["reason"]?.string ?? json["@reason"]?.string ?? json["@odata.reason"]?.string
        return text.flatMap(RemovedEntity.Reason.init)
    }

    private static func takeIdentifier(_ properties: inout JSONObject) throws(PayloadError) -> String? {
        defer { properties.members.removeAll { $0.name == "id" } }
        switch properties["id"] {
        case .string(let id): return id
        case nil, .null: return nil
        case .some(let value):
            throw PayloadError(.typeMismatch, "Expected an entity-id, not \(value.kindName).", path: "/id")
        }
    }

    private func identifies(_ values: PropertyValues, _ type: EntityType) -> Bool {
        type.keyProperties.isEmpty ? !values.isEmpty : KeyPredicate(of: type, in: values) != nil
    }

    private func link(_ object: JSONObject, _ head: ItemHead, isAdded: Bool) throws(PayloadError) -> LinkChange {
        let target = try text("target", of: object)
        guard let source = try text("source", of: object), let relationship = try text("relationship", of: object),
            target != nil || !isAdded
        else {
            throw PayloadError(.unexpectedShape, "A link has no source, relationship or target.")
        }
        return LinkChange(
            isAdded: isAdded, set: head.context?.set, source: source, relationship: relationship, target: target)
    }

    /// Returns a member of a link, which is a property by the standard, but control information for some services.
    private func text(_ name: String, of object: JSONObject) throws(PayloadError) -> String? {
        let names = [name, "@" + name, "@odata." + name]
        guard let found = names.first(where: object.contains), let value = object[found], value != .null else {
            return nil
        }
        guard let text = value.string else {
            throw PayloadError(.typeMismatch, "Expected a string, not \(value.kindName).", path: "/\(found)")
        }
        return text
    }
}

/// The parts of an item that determine how it is read.
struct ItemHead {
    /// The item's own context. Most items have none.
    var context: ContextURL?
    /// The member that marks the entity as removed (4.01), with its name.
    var removed: (name: String, value: JSONValue)?
    var type: String?

    var isRemoved: Bool { removed != nil || context?.kind == .deletedEntity }

    init(_ object: JSONObject, _ reader: PropertyValueReader) {
        for member in object.members where !MemberName.isPlain(member.name) {
            guard case .control(let control, "") = MemberName(member.name, version: reader.family) else { continue }
            switch control {
            case "context":
                var context = member.value.string.flatMap(ContextURL.init)
                if let type = context?.type { context?.type = reader.typeName(type) }
                self.context = context
            case "removed": removed = (member.name, member.value)
            case "type": type = member.value.string.map(reader.typeName)
            case "__metadata": type = member.value["type"]?.string.map(reader.typeName)
            default: break
            }
        }
    }
}
