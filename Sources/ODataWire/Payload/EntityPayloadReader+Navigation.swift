internal import EDM

extension EntityPayloadReader {
    /// Reads the value of a navigation property: all of its targets, or the removal of a single target.
    func takeNavigation(
        _ property: Property, _ json: JSONValue, _ names: PropertyTypes, _ payload: inout EntityPayload
    ) throws(PayloadError) {
        guard let target = target(of: property) else { return }
        if !property.isCollection, let object = json.object, ItemHead(object, valueReader).isRemoved {
            let removed = try item(object, type: target)
            payload.changes.append(NavigationDelta(navigation: property.name, items: [removed]))
        } else if var expanded = try expanded(json, property, target) {
            expanded.nextLink = expanded.nextLink ?? names.nextLinks[property.name]
            payload.expanded.append(expanded)
        }
    }

    /// Reads the value of a delta property such as `Orders@delta`.
    func takeDelta(
        _ name: String, _ json: JSONValue, _ type: EntityType, _ names: PropertyTypes, _ payload: inout EntityPayload
    ) throws(PayloadError) {
        guard let property = type.findProperty(name), let target = target(of: property) else {
            payload.ignored.append(name)
            return
        }
        // The standard has deltas of collections only. For a single entity it represents the change by the property
        // itself.
        if !property.isCollection, json.array == nil { return try takeNavigation(property, json, names, &payload) }
        guard let items = json.array else {
            throw PayloadError(.typeMismatch, "Expected an array of changes, not \(json.kindName).")
        }
        let changes = try self.items(items, target)
        for (index, change) in changes.enumerated() {
            guard case .link = change else { continue }
            throw PayloadError(
                .unexpectedShape, "The changes of \(name) contain a link.", path: "/\(index)")
        }
        payload.changes.append(
            NavigationDelta(
                navigation: name, items: changes.map { $0.declared(by: target) },
                nextLink: names.deltaNextLinks[name] ?? names.nextLinks[name]))
    }

    /// Adds the collections of which the payload only contains the link to their content.
    func takeBareNextLinks(_ names: PropertyTypes, _ type: EntityType, _ payload: inout EntityPayload) {
        for (name, link) in names.nextLinks.sorted(by: { $0.key < $1.key }) {
            guard type.findProperty(name)?.navigation != nil, type.findProperty(name)?.isCollection == true,
                !payload.expanded.contains(where: { $0.navigation == name }),
                !payload.changes.contains(where: { $0.navigation == name })
            else { continue }
            payload.expanded.append(EntityPayload.Expanded(navigation: name, entities: [], nextLink: link))
        }
    }

    private func target(of property: Property) -> EntityType? {
        (property.navigation?.targetType).flatMap(valueReader.model.findEntityType)
    }

    /// Returns the content of a navigation property, or nil if it was not expanded.
    private func expanded(
        _ json: JSONValue, _ property: Property, _ target: EntityType
    ) throws(PayloadError) -> EntityPayload.Expanded? {
        var result = EntityPayload.Expanded(navigation: property.name, entities: [])
        switch json {
        // A collection may be empty but not null, so null means that it was omitted.
        case .null: if property.isCollection { return nil }
        case .array(let items): (result.entities, result.unreadable) = try entities(items, target)
        case .object(let object):
            if object.contains("__deferred") { return nil }
            if valueReader.version.isLegacy, let items = object["results"]?.array {
                result.nextLink = object["__next"]?.string
                if let next = object["__next"], next != .null, result.nextLink == nil {
                    throw PayloadError(.typeMismatch, "Expected a link, not \(next.kindName).", path: "/__next")
                }
                (result.entities, result.unreadable) = try entities(items, target)
            } else {
                switch try itemOrUnreadable(json, type: target) {
                case .entity(let entity): result.entities = [entity]
                case .unreadable(let found): result.unreadable = [found]
                case .removed, .link: break
                }
            }
        default:
            throw PayloadError(.typeMismatch, "Expected an entity of type \(target.name), not \(json.kindName).")
        }
        if !property.isCollection, result.entities.count > 1 {
            throw PayloadError(.typeMismatch, "\(property.name) is single-valued, but contains several entities.")
        }
        for place in result.entities.indices { result.entities[place].declare(target) }
        return result
    }

    /// Returns the entities of a complete collection, which may not contain other items.
    private func entities(
        _ items: [JSONValue], _ type: EntityType
    ) throws(PayloadError) -> ([EntityPayload], [UnreadableEntity]) {
        var entities: [EntityPayload] = []
        var unreadable: [UnreadableEntity] = []
        for (index, item) in try self.items(items, type).enumerated() {
            switch item {
            case .entity(let entity): entities.append(entity)
            case .unreadable(let found): unreadable.append(found)
            case .removed, .link:
                let error = PayloadError(.unexpectedShape, "A collection that is not a delta contains a change.")
                guard setsAside else { throw error.below(index) }
                unreadable.append(self.unreadable(items[index], error, type))
            }
        }
        return (entities, unreadable)
    }

    /// Reads an item of a collection. Returns an unreadable item if such items are set aside; otherwise throws.
    func itemOrUnreadable(_ json: JSONValue, type: EntityType) throws(PayloadError) -> DeltaItem {
        do throws(PayloadError) {
            guard let object = json.object else {
                throw PayloadError(
                    .unexpectedShape, "An item of the collection is \(json.kindName), not an entity.")
            }
            let item = try item(object, type: type)
            guard setsAside, case .entity(let payload) = item, let obstacle = obstacle(in: payload) else { return item }
            throw obstacle
        } catch {
            guard setsAside else { throw error }
            return .unreadable(unreadable(json, error, type))
        }
    }

    private func items(_ items: [JSONValue], _ type: EntityType) throws(PayloadError) -> [DeltaItem] {
        var result: [DeltaItem] = []
        for (index, item) in items.enumerated() {
            do { result.append(try itemOrUnreadable(item, type: type)) } catch { throw error.below(index) }
        }
        return result
    }
}
