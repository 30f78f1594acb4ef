public import EDM
import OfflineStore
public import Operations

/// The difference of an entity between two sides.
public struct EntityDifference: Sendable {
    /// The presence of an entity on the two sides.
    public enum Change: String, Sendable, Hashable {
        /// Only the second side has the entity.
        case added
        /// Only the first side has the entity.
        case removed
        /// Both sides have the entity.
        case changed
    }

    /// The difference of a property. A nil value means *unset*, which is neither null nor a default.
    public struct PropertyDifference: Sendable, Hashable {
        /// The name of the property.
        public let name: String
        /// The value on the first side.
        public let before: Value?
        /// The value on the second side.
        public let after: Value?
        /// The declared type, or nil for a dynamic property.
        public let type: TypeReference?
    }

    /// A link that only one of the sides has.
    public struct LinkDifference: Sendable, Hashable {
        /// The name of the navigation property.
        public let navigation: String
        /// The readLink of the target.
        public let target: String
        /// A Boolean value that indicates whether only the second side has the link.
        public let isAdded: Bool
    }

    /// The presence of the entity on the two sides.
    public let change: Change
    /// The name of the entity set.
    public let set: String
    /// The entity's readLink, on the second side if that has the entity.
    public let name: String
    /// The entity's ID in the store of the side that the name is from; nil for an entity of a service.
    public let entity: EntityID?
    /// The properties in the order of the metadata, followed by dynamic ones by name.
    public let properties: [PropertyDifference]
    /// The links in the order of the metadata, beginning with those of only the first side.
    public let links: [LinkDifference]
}

/// Compares two versions of an entity.
struct EntityComparison {
    let matching: StateDifference.Matching

    /// Returns the difference for an entity that only one of the sides has.
    func difference(_ entity: ComparedEntity, _ change: EntityDifference.Change) -> EntityDifference {
        let isAdded = change == .added
        let properties = names(entity).compactMap { name -> EntityDifference.PropertyDifference? in
            guard let value = entity.values[name] else { return nil }
            return .init(
                name: name, before: isAdded ? nil : value, after: isAdded ? value : nil,
                type: entity.type.findProperty(name)?.type)
        }
        let links = entity.links.flatMap { link in
            link.targets.map {
                EntityDifference.LinkDifference(navigation: link.navigation, target: $0.name, isAdded: isAdded)
            }
        }
        return EntityDifference(
            change: change, set: entity.set, name: entity.name, entity: entity.id, properties: properties, links: links)
    }

    /// Returns the difference between two versions, or nil if there is none.
    func difference(_ before: ComparedEntity, _ after: ComparedEntity) -> EntityDifference? {
        var properties: [EntityDifference.PropertyDifference] = []
        for name in names(after) + names(before).filter({ after.values[$0] == nil }) {
            let (old, new) = (before.values[name], after.values[name])
            guard old != new else { continue }
            properties.append(
                .init(name: name, before: old, after: new, type: after.type.findProperty(name)?.type))
        }
        var links: [EntityDifference.LinkDifference] = []
        for property in after.type.navigationProperties {
            let (old, new) = (targets(before, property.name), targets(after, property.name))
            let (oldNames, newNames) = (Set(old.compactMap(identity)), Set(new.compactMap(identity)))
            for end in old where !(identity(end).map(newNames.contains) ?? false) {
                links.append(.init(navigation: property.name, target: end.name, isAdded: false))
            }
            for end in new where !(identity(end).map(oldNames.contains) ?? false) {
                links.append(.init(navigation: property.name, target: end.name, isAdded: true))
            }
        }
        guard !properties.isEmpty || !links.isEmpty else { return nil }
        return EntityDifference(
            change: .changed, set: after.set, name: after.name, entity: after.id, properties: properties, links: links)
    }

    /// Returns the identity by which two ends match, or nil for an end that exists on only one side.
    private func identity(_ end: ComparedEntity.End) -> String? {
        switch matching {
        case .entityIDs: "\(end.id)"
        // The ID in the name of a keyless end belongs to another entity in another store.
        case .keys: end.hasKey ? end.name : nil
        case .keysAndLocalIDs: end.name
        }
    }

    private func targets(_ entity: ComparedEntity, _ navigation: String) -> [ComparedEntity.End] {
        entity.links.first { $0.navigation == navigation }?.targets ?? []
    }

    /// Returns the names of the set properties: declared ones in the order of the metadata, then dynamic ones by name.
    private func names(_ entity: ComparedEntity) -> [String] {
        let declared = entity.type.properties.map(\.name)
        let known = Set(declared)
        return declared.filter { entity.values[$0] != nil }
            + entity.values.names.filter { !known.contains($0) }.sorted()
    }
}
