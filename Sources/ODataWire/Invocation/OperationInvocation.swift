package import EDM
package import ODataQuery

/// A call of a function or action, independent of the protocol version.
package struct OperationInvocation: Sendable, Hashable {
    package var operation: InvokedOperation
    /// The resource that the operation is called on, or nil for an import.
    package var binding: Binding?
    package var arguments: [Argument]
    /// The query options for the entities of the result.
    package var options: QueryOptions
    /// The value of the `If-Match` header.
    package var ifMatch: String?
    /// Additional headers, which take precedence over those of the encoder.
    package var headers: HTTPHeaders

    package init(
        _ operation: InvokedOperation, on binding: Binding? = nil, _ arguments: [Argument] = [],
        options: QueryOptions = QueryOptions(), ifMatch: String? = nil, headers: HTTPHeaders = .empty
    ) {
        self.operation = operation
        self.binding = binding
        self.arguments = arguments
        self.options = options
        self.ifMatch = ifMatch
        self.headers = headers
    }

    /// A resource that an operation is called on.
    package struct Binding: Sendable, Hashable {
        package enum Resource: Sendable, Hashable {
            case entity(ResourceReference)
            /// All entities of a set, or a singleton.
            case set(EntitySet)
        }

        package var resource: Resource
        /// A structural or navigation property of the resource, if the operation is called on its value.
        package var property: Property?
        /// The qualified name of a derived type to which the URL casts the resource.
        package var cast: String?
        /// The entity set of the resource, if it is known.
        package var set: EntitySet?

        package init(_ resource: Resource, property: Property? = nil, cast: String? = nil, set: EntitySet? = nil) {
            self.resource = resource
            self.property = property
            self.cast = cast
            self.set = set
        }
    }

    package struct Argument: Sendable, Hashable {
        package var name: String
        package var content: ArgumentValue

        package init(_ name: String, _ content: ArgumentValue) {
            self.name = name
            self.content = content
        }

        package enum ArgumentValue: Sendable, Hashable {
            case value(Value)
            case entity(Entity)
            case entities([Entity])
        }

        /// An entity as an argument: a reference to an existing one, or the complete content of one.
        package enum Entity: Sendable, Hashable {
            case reference(ResourceReference, EntityType)
            case body(EntityBody)

            var type: EntityType {
                switch self {
                case .reference(_, let type): type
                case .body(let body): body.type
                }
            }
        }
    }

    /// Returns the entity set of the result, if the metadata declares it.
    package func resultSet(in model: EntityDataModel) -> EntitySet? {
        if let name = operation.entitySet { return model.findEntitySet(name) }
        guard let path = operation.entitySetPath, var set = binding?.set else { return nil }
        for name in path where !name.utf8.contains(UInt8(ascii: ".")) {
            guard let property = set.entityType.findProperty(name), let next = model.target(of: property, in: set)
            else { return nil }
            set = next
        }
        return set
    }

    /// Throws an error if an argument is invalid for its parameter.
    package func check(in model: EntityDataModel) throws(InvocationError) {
        for argument in arguments {
            guard let parameter = operation.parameters.first(where: { $0.name == argument.name }) else {
                throw InvocationError(.parameters, "\(operation.name) has no parameter \(argument.name).")
            }
            guard parameter.type.primitive != nil && !parameter.type.isCollection || !model.version.isLegacy else {
                throw InvocationError(
                    .unsupported,
                    "The parameter \(argument.name) of \(operation.name) is not a single primitive value, which a URL of OData \(model.version.rawValue) cannot contain."
                )
            }
            guard let reason = argument.mismatch(with: parameter, in: model) else { continue }
            throw InvocationError(.value, "The parameter \(argument.name) of \(operation.name) \(reason).")
        }
    }
}

extension OperationInvocation.Argument {
    fileprivate func mismatch(with parameter: ServiceOperation.Parameter, in model: EntityDataModel) -> String? {
        switch content {
        case .value(let value):
            return value.mismatch(
                with: parameter.type, facets: parameter.facets, isNullable: parameter.isNullable, in: model)
        case .entity(let entity):
            if parameter.type.isCollection { return "is one entity, not a collection of \(parameter.type.name)" }
            return Self.mismatch(entity, parameter.type, model)
        case .entities(let entities):
            guard parameter.type.isCollection else {
                return "is a collection of entities, not one value of type \(parameter.type.name)"
            }
            return entities.lazy.compactMap { Self.mismatch($0, parameter.type, model) }.first
        }
    }

    private static func mismatch(_ entity: Entity, _ type: TypeReference, _ model: EntityDataModel) -> String? {
        switch type.kind {
        case .entity(let name) where !model.isType(entity.type.name, derivedFrom: name):
            return "is an entity of type \(entity.type.name), not of \(name)"
        case .entity, .unresolved: break
        default: return "is an entity, not a value of type \(type.name)"
        }
        guard case .body(let body) = entity else { return nil }
        for (name, value) in body.values {
            guard let property = body.type.findProperty(name), !property.isNavigation else {
                if body.type.isOpen(to: name) { continue }
                return "/\(name) is not a property of \(body.type.name)"
            }
            let reason = value.mismatch(with: property.type, facets: property.facets, in: model)
            if let reason { return "/\(name) \(reason)" }
        }
        return nil
    }
}
