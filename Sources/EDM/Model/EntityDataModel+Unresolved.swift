extension EntityDataModel {
    /// The qualified names of types and containers that the model refers to and that no document declares, in byte
    /// order.
    ///
    /// Annotations and their terms are not included. For a relationship of V2 and V3 whose association was not read,
    /// the list contains the association's name instead of the type.
    public var unresolvedNames: [String] {
        var names: Set<String> = []
        func add(_ reference: TypeReference) {
            if case .unresolved(let name) = reference.kind { names.insert(name) }
        }
        func add(_ operations: [ServiceOperation]) {
            for operation in operations {
                for parameter in operation.parameters { add(parameter.type) }
                if let result = operation.returnType { add(result.type) }
            }
        }
        let declared = Set(schemas.flatMap(\.containers).map(\.name))
        for schema in schemas {
            for type in schema.entityTypes + schema.complexTypes {
                if let base = type.baseType, findEntityType(base) == nil, findComplexType(base) == nil {
                    names.insert(base)
                }
                for property in type.properties + type.navigationProperties where property.declaringType == type.name {
                    add(property.type)
                }
            }
            add(schema.actions)
            add(schema.functions)
            for container in schema.containers {
                if let base = container.extends, !declared.contains(base) { names.insert(base) }
                for offered in container.actionImports + container.functionImports {
                    for parameter in offered.parameters { add(parameter.type) }
                    if let result = offered.returnType { add(result.type) }
                }
                for set in container.entitySets + container.singletons
                where findEntityType(set.entityType.name) == nil && !set.entityType.name.hasPrefix("Edm.") {
                    names.insert(set.entityType.name)
                }
            }
        }
        return names.filter { !$0.hasPrefix("Edm.") }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
