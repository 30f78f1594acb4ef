import EDM

/// A model that contains exactly the identifiers of a constraints file, like the grammar.
///
/// It has one entity type with all properties, one complex type with all properties, and every type, set and operation
/// that the file names.
struct QueryGrammarModel {
    let model: EntityDataModel
    static let entityName = "Model.Entity"
    static let complexName = "Model.Complex"
    var entityType: EntityType { model.findEntityType(Self.entityName)! }

    /// Creates the model from the lists of names in a constraints file.
    ///
    /// - Parameters:
    ///   - constraints: The names for each rule of the grammar.
    ///   - hasKeyAlias: Whether the key has the alias `KeyAlias`, which one case requires.
    init(constraints: [String: [String]], hasKeyAlias: Bool = false) {
        func names(_ rules: String...) -> [String] { rules.flatMap { constraints[$0] ?? [] } }
        let namespaces = names("namespacePart")
        let all = Self.properties(names)
        let navigation = Self.navigationProperties(names)
        let key = Property(
            name: "ID", type: TypeReference(.primitive(.primitiveType)), isNullable: false,
            declaringType: Self.entityName)

        func entity(_ name: String, base: String?, keys: [Property]) -> EntityType {
            EntityType(
                kind: .entity, name: name, baseType: base, hasStream: true, properties: all,
                navigationProperties: navigation,
                keyProperties: keys,
                keyReferences: keys.map { KeyReference(path: $0.name, alias: hasKeyAlias ? "KeyAlias" : nil) })
        }
        let root = entity(Self.entityName, base: nil, keys: [key])
        let item = entity(
            "Model.OrderItemOfTwoKeys", base: Self.entityName,
            keys: all.filter { ["OrderID", "ItemID"].contains($0.name) })
        var types = [
            root, item,
            ComplexType(kind: .complex, name: Self.complexName, properties: all, navigationProperties: navigation),
        ]
        var enumerations: [EnumerationType] = []
        for namespace in namespaces {
            for name in names("entityTypeName") {
                types.append(entity("\(namespace).\(name)", base: Self.entityName, keys: [key]))
            }
            for name in names("complexTypeName") {
                types.append(
                    ComplexType(
                        kind: .complex, name: "\(namespace).\(name)", baseType: Self.complexName, properties: all,
                        navigationProperties: navigation))
            }
            for name in names("enumerationTypeName") {
                enumerations.append(
                    EnumerationType(name: "\(namespace).\(name)", underlyingType: .int32, isFlags: true, members: []))
            }
        }
        let sets = names("entitySetName").map { EntitySet(name: $0, entityType: $0 == "OrderItems" ? item : root) }
        let singletons = names("singletonEntity").map { EntitySet(name: $0, entityType: root, isSingleton: true) }
        model = EntityDataModel(
            version: .v401, schemas: Self.schemas(namespaces, names, sets, singletons), structuredTypes: types,
            enumerationTypes: enumerations, entitySets: sets, singletons: singletons)
    }

    private static func properties(_ names: (String...) -> [String]) -> [Property] {
        func make(_ names: [String], _ type: TypeReference) -> [Property] {
            names.map { Property(name: $0, type: type, declaringType: entityName) }
        }
        let primitive = TypeReference.ReferencedType.primitive(.primitiveType)
        let complex = TypeReference.ReferencedType.complex(name: complexName)
        return make(names("primitiveKeyProperty", "primitiveNonKeyProperty"), TypeReference(primitive))
            + make(names("primitiveColProperty"), TypeReference(primitive, isCollection: true))
            + make(names("complexProperty"), TypeReference(complex))
            + make(names("complexColProperty"), TypeReference(complex, isCollection: true))
            + make(names("streamProperty"), TypeReference(.primitive(.stream)))
    }

    private static func navigationProperties(_ names: (String...) -> [String]) -> [Property] {
        func make(_ names: [String], isCollection: Bool) -> [Property] {
            names.map { name in
                Property(
                    name: name, type: TypeReference(.entity(name: entityName), isCollection: isCollection),
                    navigation: Navigation(
                        targetType: entityName, multiplicity: isCollection ? .many : .zeroOrOne,
                        sourceMultiplicity: .many,
                        partner: nil, relationship: Relationship(name: name, isForward: true)),
                    declaringType: entityName)
            }
        }
        // In a cross join, names of entity sets also act as navigation properties.
        return make(names("entityNavigationProperty"), isCollection: false)
            + make(names("entityColNavigationProperty"), isCollection: true)
    }

    private static func schemas(
        _ namespaces: [String], _ names: (String...) -> [String], _ sets: [EntitySet], _ singletons: [EntitySet]
    ) -> [Schema] {
        let entity = TypeReference(.entity(name: entityName))
        let complex = TypeReference(.complex(name: complexName))
        let primitive = TypeReference(.primitive(.primitiveType))
        func many(_ type: TypeReference) -> TypeReference { TypeReference(type.kind, isCollection: true) }
        let bindings = [
            entity, many(entity), complex, many(complex), primitive, many(primitive),
            TypeReference(.primitive(.stream)),
        ]
        let parameters = names("parameterName").map { ServiceOperation.Parameter(name: $0, type: primitive) }
        let results: [(String, TypeReference)] = [
            ("entity", entity), ("entityCol", many(entity)), ("complex", complex), ("complexCol", many(complex)),
            ("primitive", primitive), ("primitiveCol", many(primitive)),
        ]
        return namespaces.map { namespace in
            var functions: [ServiceOperation] = []
            var imports: [OperationImport] = []
            for (rule, result) in results {
                for name in names(rule + "Function") {
                    let full = "\(namespace).\(name)"
                    for binding in bindings {
                        functions.append(
                            ServiceOperation(
                                kind: .function, name: full, isBound: true, isComposable: true,
                                parameters: [ServiceOperation.Parameter(name: "it", type: binding)] + parameters,
                                returnType: ServiceOperation.ReturnType(type: result)))
                    }
                }
                for name in names(rule + "FunctionImport") where namespace == "Model" {
                    functions.append(
                        ServiceOperation(
                            kind: .function, name: "Model.\(name)", isComposable: true, parameters: parameters,
                            returnType: ServiceOperation.ReturnType(type: result)))
                    imports.append(OperationImport(kind: .function, name: name, operation: "Model.\(name)"))
                }
            }
            let actions = names("action").flatMap { name in
                bindings.map {
                    ServiceOperation(
                        kind: .action, name: "\(namespace).\(name)", isBound: true,
                        parameters: [ServiceOperation.Parameter(name: "it", type: $0)])
                }
            }
            let container = EntityContainer(
                name: "\(namespace).Container", entitySets: sets, singletons: singletons,
                actionImports: names("actionImport").map {
                    OperationImport(kind: .action, name: $0, operation: "Model.\($0)")
                },
                functionImports: imports)
            return Schema(
                namespace: namespace, alias: nil, actions: actions, functions: functions,
                containers: namespace == "Model" ? [container] : [])
        }
    }
}
