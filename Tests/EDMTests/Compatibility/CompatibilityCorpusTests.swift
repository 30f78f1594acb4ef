import EDM
import SeededRandom
import Testing

@Suite(.enabled(if: CSDLCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct `Differences of the corpora's metadata documents` {
    @Test(arguments: CSDLCorpus.valid)
    func `a document does not differ from a copy with its elements in reverse order`(row: CSDLCorpus.Row) throws {
        let model = try CSDLReader.read(CSDLCorpus.bytes(row.file))
        let difference = ModelDifference(from: model, to: model.edited(schema: { $0.reversed }, type: { $0 }))
        #expect(difference.description == "")
    }

    @Test(arguments: CSDLCorpus.valid)
    func `each randomly changed or removed property is found once`(row: CSDLCorpus.Row) throws {
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        let model = try CSDLReader.read(CSDLCorpus.bytes(row.file))
        var expected: [String] = []
        let edited = model.edited(schema: { $0 }) { type in
            type.edited { property in
                // An inherited property belongs to a different type. Changes of navigation properties also appear in
                // other places.
                guard property.declaringType == type.name, !property.isNavigation else { return property }
                switch Int.random(in: 0..<20, using: &random) {
                case 0:
                    expected.append("Property \(property): removed")
                    return nil
                case 1:
                    let now = !property.isNullable
                    expected.append("Property \(property): nullability changed from \(!now) to \(now)")
                    return Property(
                        name: property.name, type: property.type, isNullable: now, facets: property.facets,
                        declaringType: property.declaringType)
                default: return property
                }
            }
        }
        let difference = ModelDifference(from: model, to: edited)
        #expect(difference.changes.map(\.description).sorted() == expected.sorted(), "seed \(seed)")
        #expect(difference.changes.allSatisfy { !$0.rule.isCompatible })
    }
}

extension EntityDataModel {
    /// Returns the model with changed declarations. Entity sets keep their old types.
    fileprivate func edited(
        schema: (Schema) -> Schema, type: (StructuredType) -> StructuredType
    ) -> EntityDataModel {
        let schemas = self.schemas.map { old in
            schema(
                Schema(
                    namespace: old.namespace, alias: old.alias, entityTypes: old.entityTypes.map(type),
                    complexTypes: old.complexTypes.map(type), enumerationTypes: old.enumerationTypes,
                    typeDefinitions: old.typeDefinitions, associations: old.associations, actions: old.actions,
                    functions: old.functions, containers: old.containers))
        }
        return EntityDataModel(
            version: version, schemas: schemas.reversed(),
            structuredTypes: schemas.flatMap { $0.entityTypes + $0.complexTypes },
            enumerationTypes: schemas.flatMap(\.enumerationTypes), entitySets: entitySets, singletons: singletons)
    }
}

extension Schema {
    fileprivate var reversed: Schema {
        Schema(
            namespace: namespace, alias: nil, entityTypes: entityTypes.reversed().map { $0.reversed },
            complexTypes: complexTypes.reversed().map { $0.reversed },
            enumerationTypes: enumerationTypes.reversed(), typeDefinitions: typeDefinitions.reversed(),
            associations: associations.reversed(), actions: actions.reversed(), functions: functions.reversed(),
            containers: containers.reversed())
    }
}

extension StructuredType {
    fileprivate var reversed: StructuredType {
        StructuredType(
            kind: kind, name: name, baseType: baseType, isAbstract: isAbstract, isOpen: isOpen, hasStream: hasStream,
            properties: properties.reversed(), navigationProperties: navigationProperties.reversed(),
            keyProperties: keyProperties, keyReferences: keyReferences)
    }

    fileprivate func edited(_ edit: (Property) -> Property?) -> StructuredType {
        StructuredType(
            kind: kind, name: name, baseType: baseType, isAbstract: isAbstract, isOpen: isOpen, hasStream: hasStream,
            properties: properties.compactMap(edit), navigationProperties: navigationProperties,
            keyProperties: keyProperties, keyReferences: keyReferences)
    }
}
