/// The number of elements in a model, for an overview and for tests.
///
/// Elements are counted at their declaration: an inherited property counts once.
public struct ModelCounts: Sendable {
    /// Names and counts, in a fixed order.
    public let list: [(name: String, count: Int)]

    /// The count with that name, or `nil` if there is none.
    public subscript(name: String) -> Int? { list.first { $0.name == name }?.count }

    init(_ model: EntityDataModel) {
        let schemas = model.schemas
        let containers = schemas.flatMap(\.containers)
        let elements = model.elementCounts
        list =
            [("schemas", schemas.count)] + Self.declarations(schemas, containers, elements)
            + Self.parts(model, containers, elements) + Self.properties(model.schemas, elements)
            + Self.names(model, elements)
    }

    private typealias Counts = [(name: String, count: Int)]

    private static func declarations(
        _ schemas: [Schema], _ containers: [EntityContainer], _ elements: ElementCounts
    ) -> Counts {
        [
            ("entityTypes", schemas.sum(\.entityTypes.count)),
            ("complexTypes", schemas.sum(\.complexTypes.count)),
            ("enumTypes", schemas.sum(\.enumerationTypes.count)),
            ("typeDefinitions", schemas.sum(\.typeDefinitions.count)),
            ("associations", schemas.sum(\.associations.count)),
            ("actionOverloads", schemas.sum(\.actions.count)),
            ("functionOverloads", schemas.sum(\.functions.count)),
            ("terms", schemas.sum(\.terms.count)),
            ("annotationsBlocks", schemas.sum(\.annotationsBlocks.count)),
            ("entityContainers", containers.count),
            ("actions", Set(schemas.flatMap(\.actions).map(\.name)).count),
            ("functions", Set(schemas.flatMap(\.functions).map(\.name)).count),
        ]
    }

    private static func parts(
        _ model: EntityDataModel, _ containers: [EntityContainer], _ elements: ElementCounts
    ) -> Counts {
        [
            ("entitySets", model.entitySets.count),
            ("singletons", model.singletons.count),
            ("associationSets", containers.sum(\.associationSets.count)),
            ("functionImports", containers.sum(\.functionImports.count)),
            ("actionImports", containers.sum(\.actionImports.count)),
            ("navigationPropertyBindings", elements.navigationPropertyBindings),
            ("references", model.references.count),
            ("includes", model.references.sum(\.includes.count)),
            ("includeAnnotations", model.references.sum(\.annotationIncludes.count)),
            ("annotations", elements.annotations),
            ("onDelete", elements.onDelete),
            ("enumMembers", model.schemas.flatMap(\.enumerationTypes).sum(\.members.count)),
            ("keys", elements.keys),
            ("propertyRefs", elements.propertyRefs),
            ("referentialConstraintElements", elements.referentialConstraints),
        ]
    }

    private static func properties(_ schemas: [Schema], _ elements: ElementCounts) -> Counts {
        let entityTypes = schemas.flatMap(\.entityTypes)
        let complexTypes = schemas.flatMap(\.complexTypes)
        let structural = (entityTypes + complexTypes).flatMap { type in
            type.properties.filter { $0.declaringType == type.name }
        }
        let navigational = (entityTypes + complexTypes).flatMap { type in
            type.navigationProperties.filter { $0.declaringType == type.name }
        }
        return [
            ("navigationProperties", navigational.count),
            ("structuralProperties", structural.count),
            ("derivedEntityTypes", entityTypes.count { $0.baseType != nil }),
            ("derivedComplexTypes", complexTypes.count { $0.baseType != nil }),
            ("abstractTypes", elements.abstractTypes),
            ("openTypes", elements.openTypes),
            ("hasStream", elements.hasStream),
            ("containsTarget", navigational.count { $0.navigation?.containsTarget == true }),
            ("containerExtends", elements.containerExtends),
            ("propertyRefAliases", elements.propertyRefAliases),
            ("flagsEnums", elements.flagsEnums),
            ("boundActionOverloads", elements.boundActions),
            ("boundFunctionOverloads", elements.boundFunctions),
            ("collectionProperties", structural.count { $0.isCollection }),
            ("propertyWithoutType", elements.propertyWithoutType),
        ]
    }

    private static func names(_ model: EntityDataModel, _ elements: ElementCounts) -> Counts {
        let types = model.schemas.flatMap(\.entityTypes)
        return [
            ("sapAnnotations", elements.sapAnnotations),
            ("mAttributes", elements.mAttributes),
            ("unresolvedTypeNames", elements.unresolvedTypeNames),
            ("unresolvedTypeRefs", elements.unresolvedTypeRefs),
            ("typeRefsViaAlias", elements.typeRefsViaAlias),
            // A document with two types of the same name is refused.
            ("duplicateTypeNames", 0),
            ("typeNamesDifferingOnlyByCase", elements.typeNamesDifferingOnlyByCase),
            (
                "keylessConcreteEntityTypes",
                types.count { !$0.isAbstract && $0.keyReferences.isEmpty && model.knowsAllBaseTypes(of: $0) }
            ),
            (
                "compositeKeyTypes",
                types.count { type in
                    let base = type.baseType.flatMap { model.findEntityType($0) }
                    return type.keyReferences.count > 1 && base?.keyReferences.isEmpty != false
                }
            ),
            (
                "maxInheritanceDepth",
                (types + model.schemas.flatMap(\.complexTypes)).map { model.baseTypes(of: $0).count }.max() ?? 0
            ),
        ]
    }
}

extension Sequence {
    fileprivate func sum(_ count: (Element) -> Int) -> Int { reduce(0) { $0 + count($1) } }
}
