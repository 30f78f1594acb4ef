package import EDM
package import ODataWire
package import Operations

/// A call of an action before its addresses are resolved to entities.
package struct ActionDraft: Sendable {
    /// The overload that the metadata have for the arguments.
    package var operation: InvokedOperation
    /// The resource that the action is bound to; `nil` for an import.
    package var binding: Binding?
    package var arguments: [Argument]
    /// The declared effect. A service ignores it.
    package var effect: Effect
    /// The treatment of an entity that the response contains. A service ignores it.
    package var answer: ActionCall.Answer

    package struct Binding: Sendable {
        package enum Resource: Sendable {
            case entity(EntityAddress)
            /// All entities of a set, or a singleton; with a type only the entities of this derived type.
            case set(EntitySet, type: String?)
        }

        package var resource: Resource
        /// The property of the resource whose value the action is called on.
        package var property: Property?
        /// The type cast in the URL.
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

    package struct Argument: Sendable {
        package var name: String
        package var content: ArgumentValue

        package init(_ name: String, _ content: ArgumentValue) {
            self.name = name
            self.content = content
        }
    }

    package enum ArgumentValue: Sendable {
        case value(Value)
        case entity(Entity)
        case entities([Entity])
    }

    package enum Entity: Sendable {
        case reference(EntityAddress, EntityType)
        case content(EntityBody)
    }

    /// The change of the store until the response of the service is known.
    package enum Effect: Sendable {
        case none
        case update(EntityAddress, changes: PropertyValues, bindings: [BindingDraft])
        case delete(EntityAddress)
    }

    package init(
        _ operation: InvokedOperation, on binding: Binding? = nil, _ arguments: [Argument] = [],
        effect: Effect = .none, answer: ActionCall.Answer = .byKey
    ) {
        self.operation = operation
        self.binding = binding
        self.arguments = arguments
        self.effect = effect
        self.answer = answer
    }
}

extension ActionDraft {
    /// Returns the call as an invocation.
    ///
    /// - Parameter reference: Returns the reference to an entity.
    package func invocation<Failure: Error>(
        _ reference: (EntityAddress) throws(Failure) -> ResourceReference
    ) throws(Failure) -> OperationInvocation {
        var invocation = OperationInvocation(operation)
        if let binding {
            let resource: OperationInvocation.Binding.Resource
            switch binding.resource {
            case .entity(let address): resource = .entity(try reference(address))
            case .set(let set, _): resource = .set(set)
            }
            invocation.binding = .init(resource, property: binding.property, cast: binding.cast, set: binding.set)
        }
        func argument(_ entity: Entity) throws(Failure) -> OperationInvocation.Argument.Entity {
            switch entity {
            case .reference(let address, let type): return .reference(try reference(address), type)
            case .content(let body): return .body(body)
            }
        }
        for given in arguments {
            let content: OperationInvocation.Argument.ArgumentValue
            switch given.content {
            case .value(let value): content = .value(value)
            case .entity(let entity): content = .entity(try argument(entity))
            case .entities(let entities):
                var resolved: [OperationInvocation.Argument.Entity] = []
                for entity in entities { resolved.append(try argument(entity)) }
                content = .entities(resolved)
            }
            invocation.arguments.append(.init(given.name, content))
        }
        return invocation
    }

    /// Returns the call as logged.
    ///
    /// - Parameter entity: Returns the ID of an entity.
    func call<Failure: Error>(_ entity: (EntityAddress) throws(Failure) -> EntityID) throws(Failure) -> ActionCall {
        var call = ActionCall(operation.name, answer: answer)
        if let binding {
            switch (binding.resource, binding.property) {
            case (.entity(let address), nil): call.binding = .entity(try entity(address))
            case (.entity(let address), let property?):
                call.binding = .property(property.name, of: try entity(address))
            case (.set(let set, let type), _): call.binding = .set(set.name, type: type)
            }
        }
        func argument(_ given: Entity) throws(Failure) -> ActionCall.Entity {
            switch given {
            case .reference(let address, _): return .reference(try entity(address))
            case .content(let body): return .content(type: body.type.name, body.values)
            }
        }
        for given in arguments {
            let content: ActionCall.ArgumentValue
            switch given.content {
            case .value(let value): content = .value(value)
            case .entity(let entity): content = .entity(try argument(entity))
            case .entities(let entities):
                var resolved: [ActionCall.Entity] = []
                for entity in entities { resolved.append(try argument(entity)) }
                content = .entities(resolved)
            }
            call.arguments.append(.init(given.name, content))
        }
        return call
    }

    /// The addresses of the entities that are arguments.
    package var argumentAddresses: [(parameter: String, address: EntityAddress)] {
        arguments.flatMap { argument in
            let entities: [Entity] =
                switch argument.content {
                case .value: []
                case .entity(let entity): [entity]
                case .entities(let entities): entities
                }
            return entities.compactMap { entity in
                if case .reference(let address, _) = entity { (argument.name, address) } else { nil }
            }
        }
    }
}
