/// A model as a tree of comparable elements, from the schemas' declarations.
///
/// A schema is not an element, only the start of names. Terms are omitted, because annotations are not compared.
struct ModelOutline {
    private let model: EntityDataModel
    private let types: [String: StructuredType]
    /// The navigation properties of each association.
    private let walkers: [String: [String]]

    init(_ model: EntityDataModel) {
        self.model = model
        let declared = model.schemas.flatMap { $0.entityTypes + $0.complexTypes }
        types = Dictionary(declared.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        walkers = declared.reduce(into: [:]) { result, type in
            for property in type.navigationProperties where property.declaringType == type.name {
                guard let walk = property.navigation?.walk else { continue }
                result[walk.association, default: []].append(property.description)
            }
        }
    }

    /// The top-level elements.
    var elements: [ModelElement] {
        var result: [ModelElement] = []
        for schema in model.schemas {
            for type in schema.entityTypes + schema.complexTypes { result.append(element(type)) }
            for type in schema.enumerationTypes { result.append(element(type)) }
            for definition in schema.typeDefinitions { result.append(element(definition)) }
            for association in schema.associations { result.append(element(association)) }
            for operation in schema.actions + schema.functions { result.append(element(operation)) }
            for container in schema.containers { result.append(element(container)) }
        }
        return result
    }

    // MARK: Types

    /// Returns the element of a type. Flags and key include inherited ones, because a document may repeat them in a
    /// derived type.
    private func element(_ type: StructuredType) -> ModelElement {
        var element = ModelElement(type.kind == .entity ? .entityType : .complexType, type.name)
        element.aspects[.baseType] = type.baseType
        element.state(.abstract, type.isAbstract)
        element.state(.open, type.isOpen)
        if type.kind == .entity {
            element.state(.hasStream, type.hasStream)
            element.aspects[.key] = key(type)
        }
        for property in type.properties + type.navigationProperties where property.declaringType == type.name {
            element.children.append(self.element(property))
        }
        return element
    }

    private func key(_ type: StructuredType) -> String? {
        guard !type.keyReferences.isEmpty else { return nil }
        let references = type.keyReferences.map { reference in
            reference.alias.map { "\(reference.path) as \($0)" } ?? reference.path
        }
        return references.joined(separator: ", ")
    }

    private func element(_ property: Property) -> ModelElement {
        guard let navigation = property.navigation else {
            var element = ModelElement(.property, property.name)
            element.describe(property.type, isNullable: property.isNullable, property.facets, in: model.version)
            return element
        }
        var element = ModelElement(.navigationProperty, property.name)
        element.state(.containsTarget, navigation.containsTarget)
        if let walk = navigation.walk {
            // The association contains all other aspects.
            element.aspects[.relationship] = "\(walk.association) from \(walk.fromRole) to \(walk.toRole)"
            return element
        }
        element.aspects[.type] = navigation.targetType
        element.aspects[.multiplicity] = navigation.multiplicity.rawValue
        element.aspects[.partner] = navigation.partner.map {
            path(of: $0, from: navigation.targetType) ?? "\(navigation.targetType)/\($0)"
        }
        element.aspects[.referentialConstraint] = navigation.constraints.text
        element.aspects[.onDelete] = navigation.onDelete
        return element
    }

    private func element(_ type: EnumerationType) -> ModelElement {
        var element = ModelElement(.enumerationType, type.name)
        element.aspects[.underlyingType] = type.underlyingType.rawValue
        element.state(.flags, type.isFlags)
        element.children = type.members.map {
            var member = ModelElement(.enumerationMember, $0.name)
            member.aspects[.value] = "\($0.value)"
            return member
        }
        return element
    }

    private func element(_ definition: TypeDefinition) -> ModelElement {
        var element = ModelElement(.typeDefinition, definition.name)
        element.describe(
            TypeReference(.primitive(definition.underlyingType)), isNullable: nil, definition.facets, in: model.version)
        return element
    }

    private func element(_ association: Association) -> ModelElement {
        var element = ModelElement(.association, association.name)
        element.companions = walkers[association.name] ?? []
        element.aspects[.referentialConstraint] = association.constraint.map {
            "\($0.dependentRole) to \($0.principalRole): \($0.pairs.text ?? "")"
        }
        element.children = [association.first, association.second].map {
            var end = ModelElement(.associationEnd, $0.role)
            end.aspects[.type] = $0.type
            end.aspects[.multiplicity] = $0.multiplicity.rawValue
            end.aspects[.onDelete] = $0.onDelete
            return end
        }
        return element
    }

    // MARK: Operations

    /// Returns the element of an overload, named as in annotations: a function by all parameter types, an action by
    /// its binding type.
    private func element(_ operation: ServiceOperation) -> ModelElement {
        let telling =
            operation.kind == .function
            ? operation.parameters[...] : operation.parameters.prefix(operation.isBound ? 1 : 0)
        var element = ModelElement(
            operation.kind == .action ? .action : .function, "\(operation.name)\(Self.signature(telling))")
        element.family = operation.name
        element.state(.bound, operation.isBound)
        element.state(.composable, operation.isComposable)
        element.aspects[.entitySetPath] = operation.entitySetPath
        element.children = parts(operation.parameters, operation.returnType)
        return element
    }

    private static func signature(_ parameters: ArraySlice<ServiceOperation.Parameter>) -> String {
        "(\(parameters.map(\.type.text).joined(separator: ",")))"
    }

    private func parts(
        _ parameters: [ServiceOperation.Parameter], _ returnType: ServiceOperation.ReturnType?
    ) -> [ModelElement] {
        var result: [ModelElement] = []
        for parameter in parameters {
            var element = ModelElement(.parameter, parameter.name)
            element.describe(parameter.type, isNullable: parameter.isNullable, parameter.facets, in: model.version)
            result.append(element)
        }
        if let returnType {
            var element = ModelElement(.returnType, "$ReturnType")
            element.describe(returnType.type, isNullable: returnType.isNullable, returnType.facets, in: model.version)
            result.append(element)
        }
        return result
    }

    // MARK: Containers

    private func element(_ container: EntityContainer) -> ModelElement {
        var element = ModelElement(.container, container.name)
        element.aspects[.extends] = container.extends
        for set in container.entitySets + container.singletons {
            element.children.append(self.element(set, in: container.name))
        }
        for operation in container.actionImports + container.functionImports {
            element.children.append(self.element(operation))
        }
        for set in container.associationSets { element.children.append(self.element(set, in: container.name)) }
        return element
    }

    private func element(_ set: EntitySet, in container: String) -> ModelElement {
        var element = ModelElement(set.isSingleton ? .singleton : .entitySet, set.name)
        element.aspects[.type] = set.entityType.name
        guard !model.version.isLegacy else { return element }
        element.children = set.bindings.map { navigation, target in
            var binding = ModelElement(.binding, navigation)
            binding.aspects[.target] = target
            binding.companions = ["\(container)/\(target)"]
            if let property = path(of: navigation, from: set.entityType.name) { binding.companions.append(property) }
            return binding
        }
        return element
    }

    /// Returns the element of an import. In V2 and V3, the import declares the operation and can be overloaded.
    private func element(_ operation: OperationImport) -> ModelElement {
        let isDeclaration = operation.operation == nil
        var element = ModelElement(
            operation.kind == .action ? .actionImport : .functionImport,
            operation.name + (isDeclaration ? Self.signature(operation.parameters[...]) : ""))
        element.family = isDeclaration ? operation.name : nil
        element.aspects[.operation] = operation.operation
        element.aspects[.resultSet] = operation.entitySet
        element.aspects[.httpMethod] = operation.httpMethod
        element.children = parts(operation.parameters, operation.returnType)
        return element
    }

    private func element(_ set: AssociationSet, in container: String) -> ModelElement {
        var element = ModelElement(.associationSet, set.name)
        element.aspects[.association] = set.association
        element.aspects[.ends] = set.ends.map { "\($0.role) in \($0.entitySet)" }.sorted().joined(separator: ", ")
        element.companions = [set.association] + set.ends.map { "\(container)/\($0.entitySet)" }
        return element
    }

    // MARK: Paths

    /// Returns the path, by declaring type, of the property at the end of a path of properties and casts.
    private func path(of path: String, from type: String) -> String? {
        var current = types[type]
        var last: Property?
        for segment in path.split(separator: "/") {
            if segment.contains(".") {
                current = types[String(segment)]
                continue
            }
            guard let property = current?.findProperty(String(segment)) else { return nil }
            last = property
            current = types[property.type.name]
        }
        return last?.description
    }
}
