package import EDM

/// Reads entities of several types: the responses to `$all`, `$entity` and `$crossjoin` (OData 4.01 Part 1, sections
/// 10.19, 10.20 and 11.2.9).
package struct MixedEntitiesReader: Sendable {
    private let reader: PayloadReader

    package init(_ reader: PayloadReader) { self.reader = reader }

    /// One page of a result.
    package struct Page<Item> {
        package var items: [Item]
        package var count: Int64?
        package var nextLink: String?
    }

    /// A member of a combination of `$crossjoin`.
    package enum JoinedEntity: Sendable, Hashable {
        /// An expanded entity.
        case entity(EntityPayload)
        /// The URL of an entity that is not expanded.
        case link(String)
    }

    /// Reads one entity, whose type the payload states.
    package func entity(_ bytes: [UInt8]) throws(PayloadError) -> EntityPayload {
        guard let object = try reader.document(bytes).object else {
            throw PayloadError(.unexpectedShape, "The payload is not an entity.")
        }
        return try entity(object)
    }

    /// Reads entities that state their types.
    package func entities(_ bytes: [UInt8]) throws(PayloadError) -> Page<EntityPayload> {
        try page(bytes) { object throws(PayloadError) in try entity(object) }
    }

    /// Reads combinations of entities, by the names of the sets.
    package func combinations(
        _ bytes: [UInt8], of sets: [EntitySet]
    ) throws(PayloadError) -> Page<[(set: EntitySet, entity: JoinedEntity)]> {
        try page(bytes) { object throws(PayloadError) in
            var row: [(set: EntitySet, entity: JoinedEntity)] = []
            for set in sets {
                if let expanded = object[set.name]?.object {
                    do throws(PayloadError) {
                        row.append((set, .entity(try reader.entities.entity(expanded, type: set.entityType))))
                    } catch {
                        throw error.below(set.name)
                    }
                } else if let link = Self.navigationLink(to: set.name, in: object) {
                    row.append((set, .link(link)))
                }
            }
            return row
        }
    }

    private static func navigationLink(to name: String, in object: JSONObject) -> String? {
        (object[name + "@odata.navigationLink"] ?? object[name + "@navigationLink"])?.string
    }

    private func page<Item>(
        _ bytes: [UInt8], _ item: (JSONObject) throws(PayloadError) -> Item
    ) throws(PayloadError) -> Page<Item> {
        let json = try reader.document(bytes)
        guard let values = json["value"]?.array else {
            throw PayloadError(.unexpectedShape, "The payload is \(json.kindName), not a collection.")
        }
        var page = Page<Item>(items: [])
        for (index, value) in values.enumerated() {
            guard let object = value.object else {
                throw PayloadError(.unexpectedShape, "An item is \(value.kindName), not an object.", path: "/\(index)")
            }
            do throws(PayloadError) { page.items.append(try item(object)) } catch { throw error.below(index) }
        }
        page.count = (json["@odata.count"] ?? json["@count"])?.integer
        page.nextLink = (json["@odata.nextLink"] ?? json["@nextLink"])?.string
        return page
    }

    /// Reads an entity of the type that its type annotation, its context or its entity-id states.
    private func entity(_ object: JSONObject) throws(PayloadError) -> EntityPayload {
        let context = (object["@odata.context"] ?? object["@context"])?.string.flatMap(ContextURL.init)
        let id = (object["@odata.id"] ?? object["@id"])?.string
        let set = context?.set ?? id.flatMap(setName)
        let stated =
            (object["@odata.type"] ?? object["@type"])?.string.map(reader.entities.valueReader.typeName)
            ?? context?.type
        guard let type = stated.flatMap(reader.model.findEntityType) ?? set.flatMap(reader.entityType(in:)) else {
            throw PayloadError(.unknownType, "An entity states neither a known type nor its entity set.")
        }
        var payload = try reader.entities.entity(object, type: type)
        payload.type = payload.type ?? type.name
        payload.set = set
        return payload
    }

    /// Returns the entity set at the end of an entity-id such as `http://host/Customers(1)`.
    private func setName(_ id: String) -> String? {
        let last = id.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last ?? ""
        return reader.model.findEntitySet(String(last.prefix { $0 != "(" }))?.name
    }
}
