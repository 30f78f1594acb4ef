public import EDM

/// A new entity with everything that is created together with it.
///
/// The log and the service have a ``Creation``, which refers to entities by ID. A call of the app refers to its new
/// entities by number and to existing ones by address, until ``map(identity:reference:)`` replaces both.
///
/// This type and its parts are `@usableFromInline`, because otherwise other modules map them without specialization.
@usableFromInline
package struct EntityCreation<Identity: Sendable, Reference: Sendable>: Sendable {
    @usableFromInline package var entity: Identity
    @usableFromInline package var set: String
    /// The qualified name of the entity type, which may derive from the set's.
    @usableFromInline package var type: String
    /// Only the set properties: an absent property is *unset*, which is neither null nor its default.
    @usableFromInline package var values: PropertyValues
    @usableFromInline package var bindings: [EntityBinding<Reference>]
    /// Deep insert: new entities of a navigation property.
    @usableFromInline package var inline: [Inline]

    @usableFromInline
    package struct Inline: Sendable {
        @usableFromInline package var navigation: String
        @usableFromInline package var entities: [EntityCreation]

        @inlinable
        package init(navigation: String, entities: [EntityCreation]) {
            self.navigation = navigation
            self.entities = entities
        }
    }

    @inlinable
    package init(
        entity: Identity, set: String, type: String, values: PropertyValues,
        bindings: [EntityBinding<Reference>] = [], inline: [Inline] = []
    ) {
        self.entity = entity
        self.set = set
        self.type = type
        self.values = values
        self.bindings = bindings
        self.inline = inline
    }

    /// Returns the creation with other identities and references. An entity is mapped before its bindings, and these
    /// before the entities below it.
    @inlinable
    package func map<NewIdentity, NewReference, Failure>(
        identity: (Identity) throws(Failure) -> NewIdentity, reference: (Reference) throws(Failure) -> NewReference
    ) throws(Failure) -> EntityCreation<NewIdentity, NewReference> {
        EntityCreation<NewIdentity, NewReference>(
            entity: try identity(entity), set: set, type: type, values: values,
            bindings: try bindings.map { binding throws(Failure) in try binding.map(reference) },
            inline: try inline.map { level throws(Failure) in
                .init(
                    navigation: level.navigation,
                    entities: try level.entities.map { child throws(Failure) in
                        try child.map(identity: identity, reference: reference)
                    })
            })
    }
}

/// A link to existing entities that is created as part of a create or update.
@usableFromInline
package struct EntityBinding<Reference: Sendable>: Sendable {
    @usableFromInline package var navigation: String
    @usableFromInline package var targets: [Reference]

    @inlinable
    package init(navigation: String, targets: [Reference]) {
        self.navigation = navigation
        self.targets = targets
    }

    @inlinable
    package func map<NewReference, Failure>(
        _ reference: (Reference) throws(Failure) -> NewReference
    ) throws(Failure) -> EntityBinding<NewReference> {
        EntityBinding<NewReference>(navigation: navigation, targets: try targets.map(reference))
    }
}

/// The parent in whose navigation property an entity is created.
@usableFromInline
package struct EntityParent<Reference: Sendable>: Sendable {
    @usableFromInline package var entity: Reference
    @usableFromInline package var navigation: String

    @inlinable
    package init(entity: Reference, navigation: String) {
        self.entity = entity
        self.navigation = navigation
    }

    @inlinable
    package func map<NewReference, Failure>(
        _ reference: (Reference) throws(Failure) -> NewReference
    ) throws(Failure) -> EntityParent<NewReference> {
        EntityParent<NewReference>(entity: try reference(entity), navigation: navigation)
    }
}

@usableFromInline package typealias Creation = EntityCreation<EntityID, EntityID>
@usableFromInline package typealias Binding = EntityBinding<EntityID>
@usableFromInline package typealias Parent = EntityParent<EntityID>

// Only for the logged types, so that the synthesized functions are not generic: operations are compared often.
extension EntityCreation: Hashable, Equatable where Identity == EntityID, Reference == EntityID {}
extension EntityCreation.Inline: Hashable, Equatable where Identity == EntityID, Reference == EntityID {}
extension EntityBinding: Hashable, Equatable where Reference == EntityID {}
extension EntityParent: Hashable, Equatable where Reference == EntityID {}

extension Creation {
    /// The entity and all entities created below it, in order of appearance.
    package var createdEntities: [EntityID] {
        inline.isEmpty ? [entity] : [entity] + inline.flatMap { $0.entities.flatMap(\.createdEntities) }
    }

    /// The existing entities to which the creation binds, at any level.
    package var boundEntities: [EntityID] {
        var found: [EntityID] = []
        addBoundEntities(to: &found)
        return found
    }

    /// Encodes the values of all new entities, so that the log, the queue and the state share the bytes.
    package mutating func encodeValues(with names: NameTable) {
        values.encode(with: names)
        for level in inline.indices {
            for place in inline[level].entities.indices { inline[level].entities[place].encodeValues(with: names) }
        }
    }

    private func addBoundEntities(to found: inout [EntityID]) {
        for binding in bindings { found += binding.targets }
        for level in inline { for entity in level.entities { entity.addBoundEntities(to: &found) } }
    }
}
