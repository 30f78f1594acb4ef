package import EDM

/// A call of an action of the service as a part of an operation.
///
/// The action of the operation is the declared effect in the store: an update or a deletion of an entity, usually of
/// the bound one. The response of the service replaces it.
package struct ActionCall: Sendable, Hashable {
    /// The name of an import, or the qualified name of a bound action.
    package var name: String
    /// The resource that the action is bound to; `nil` for an import.
    package var binding: Binding?
    /// The arguments in the order of the app.
    package var arguments: [Argument]
    /// The treatment of an entity that the response contains.
    package var answer: Answer

    package enum Binding: Sendable, Hashable {
        case entity(EntityID)
        /// A property of an entity: the targets of a navigation property, or a structural value.
        case property(String, of: EntityID)
        /// All entities of a set, or a singleton; with a type only the entities of this derived type.
        case set(String, type: String?)
    }

    package enum Answer: UInt8, Sendable, Hashable {
        /// The returned entity is the one with its key.
        case byKey = 0
        /// The returned entity is the bound one, even if its key differs.
        case boundEntity = 1
    }

    package struct Argument: Sendable, Hashable {
        package var name: String
        package var content: ArgumentValue

        package init(_ name: String, _ content: ArgumentValue) {
            self.name = name
            self.content = content
        }
    }

    package enum ArgumentValue: Sendable, Hashable {
        case value(Value)
        case entity(Entity)
        case entities([Entity])
    }

    /// An entity as an argument.
    package enum Entity: Sendable, Hashable {
        /// An entity of the store, sent as a reference.
        case reference(EntityID)
        /// The content of an entity that does not exist.
        case content(type: String, PropertyValues)
    }

    package init(
        _ name: String, on binding: Binding? = nil, _ arguments: [Argument] = [], answer: Answer = .byKey
    ) {
        self.name = name
        self.binding = binding
        self.arguments = arguments
        self.answer = answer
    }
}

extension ActionCall {
    /// The entity that the action is bound to, or whose property it is bound to.
    package var boundEntity: EntityID? {
        switch binding {
        case .entity(let entity), .property(_, of: let entity): entity
        case .set, nil: nil
        }
    }

    /// The entities that the arguments refer to, each once, in order.
    package var argumentEntities: [EntityID] {
        var found: [EntityID] = []
        for argument in arguments {
            for case .reference(let entity) in argument.content.entities where !found.contains(entity) {
                found.append(entity)
            }
        }
        return found
    }
}

extension ActionCall.ArgumentValue {
    /// The entities of the argument.
    package var entities: [ActionCall.Entity] {
        switch self {
        case .value: []
        case .entity(let entity): [entity]
        case .entities(let entities): entities
        }
    }
}

extension EntityID {
    /// The ID that no entity has: the subject of a call that is not about an entity of the store.
    package static let unbound = EntityID(rawValue: 0)
}
