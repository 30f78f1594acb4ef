public import EDM
import ODataWire
public import Operations
import SyncEngine

/// What of an entity is otherwise on the second of two sides than on the first.
public struct EntityDifference: Sendable {
    public enum Change: String, Sendable, Hashable {
        /// Only the second side has the entity.
        case added
        /// Only the first side has it.
        case removed
        /// Both have it.
        case changed
    }

    /// A property. Both values are nil-able for *unset*, which is neither null nor a default.
    public struct PropertyDifference: Sendable, Hashable {
        public let name: String
        public let before: Value?
        public let after: Value?
        /// As the metadata declare it; nil for a dynamic property.
        public let type: TypeReference?
    }

    /// A link that only one of the sides has.
    public struct LinkDifference: Sendable, Hashable {
        public let navigation: String
        /// The readLink of the entity that it leads to.
        public let target: String
        public let isAdded: Bool
    }

    public let change: Change
    public let set: String
    /// The entity's readLink, on the second side where that has it.
    public let name: String
    /// The entity's ID in the store of the side that it is named by; nil for one of a service.
    public let entity: EntityID?
    /// In the order of the metadata, dynamic ones behind them by name.
    public let properties: [PropertyDifference]
    /// In the order of the metadata, those that only the first side has first.
    public let links: [LinkDifference]
}

/// Two entities, or one and none, held against each other.
struct EntityComparison {
    let matching: StateDifference.Matching

    /// Only one of the sides has the entity.
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

    /// Nil where nothing is otherwise.
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

    /// What says that two ends are one; nil for one that only its own side has.
    private func identity(_ end: ComparedEntity.End) -> String? {
        switch matching {
        case .entityIDs: "\(end.id)"
        // A name with an ID in it, of an end without a key, is that of another entity in another store.
        case .keys: end.hasKey ? end.name : nil
        case .keysAndLocalIDs: end.name
        }
    }

    private func targets(_ entity: ComparedEntity, _ navigation: String) -> [ComparedEntity.End] {
        entity.links.first { $0.navigation == navigation }?.targets ?? []
    }

    /// What is set: declared properties in the order of the metadata, then the dynamic ones by name.
    private func names(_ entity: ComparedEntity) -> [String] {
        let declared = entity.type.properties.map(\.name)
        let known = Set(declared)
        return declared.filter { entity.values[$0] != nil }
            + entity.values.names.filter { !known.contains($0) }.sorted()
    }
}
