internal import EDM

extension PayloadWriter {
    /// A member of a combination of `$crossjoin`: an entity, or only its URL.
    package struct JoinedEntity: Sendable {
        package var set: String
        /// The URL relative to the service root.
        package var url: String
        package var entity: EntityPayload?

        package init(set: String, url: String, entity: EntityPayload?) {
            self.set = set
            self.url = url
            self.entity = entity
        }
    }

    /// Returns entities of several sets, each with its type.
    package func mixed(_ entities: [EntityPayload]) -> [UInt8] {
        let any = StructuredType(kind: .entity, name: "Edm.EntityType", properties: [])
        return collection(nil, nil, nil, context: "#Collection(Edm.EntityType)") { writer in
            for entity in entities { write(entity, any, to: &writer) }
        }
    }

    /// Returns combinations of entities of several sets.
    package func combinations(_ rows: [[JoinedEntity]], count: Int64?) -> [UInt8] {
        collection(count, nil, nil, context: "#Collection(Edm.ComplexType)") { writer in
            for row in rows {
                writer.beginObject()
                for part in row {
                    writer.name(part.entity == nil ? part.set + "@odata.navigationLink" : part.set)
                    guard let entity = part.entity, let type = entity.type.flatMap(model.findEntityType) else {
                        writer.string(serviceRoot + part.url)
                        continue
                    }
                    write(entity, type, to: &writer)
                }
                writer.endObject()
            }
        }
    }
}
