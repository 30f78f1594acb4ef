import EDM

/// A navigation property of an object whose targets are expanded, loaded, or set by the app.
struct KnownRelation {
    let name: String
    /// The navigation property; `nil` if the entity's type does not declare it.
    let property: Property?
    let targets: RelatedEntities
}

/// The known relations of an entity object. A list, because an object has few of them, and most have none.
struct RelationList {
    private(set) var all: [KnownRelation] = []

    var isEmpty: Bool { all.isEmpty }

    /// The targets of a navigation property, or `nil` if they are not known.
    subscript(name: String) -> RelatedEntities? { all.first { $0.name == name }?.targets }

    /// Sets the targets of a navigation property of an entity of the type.
    mutating func set(_ targets: RelatedEntities, of name: String, _ type: EntityType) {
        if let place = all.firstIndex(where: { $0.name == name }) {
            all[place] = KnownRelation(name: name, property: all[place].property, targets: targets)
        } else {
            all.append(KnownRelation(name: name, property: type.findProperty(name), targets: targets))
        }
    }

    /// Removes and returns the targets of a navigation property.
    mutating func remove(_ name: String) -> RelatedEntities? {
        all.firstIndex { $0.name == name }.map { all.remove(at: $0).targets }
    }

    // MARK: Changes

    /// Whether the app has changed a relation and not saved it.
    var isEdited: Bool { all.contains { $0.targets.edit != .none } }

    /// The relations that the app has changed and not saved, in the order of their names.
    var changed: [KnownRelation] {
        // Usually there is one, and it needs no new array.
        let areChanged = all.allSatisfy { $0.targets.edit != .none }
        let changed = areChanged ? all : all.filter { $0.targets.edit != .none }
        return changed.count > 1 ? changed.sorted { $0.name < $1.name } : changed
    }

    /// Removes the relations that the app has changed.
    mutating func removeChanged() { if isEdited { all.removeAll { $0.targets.edit != .none } } }

    /// Adds relations. They replace relations with the same names.
    mutating func merge(_ others: [KnownRelation]) {
        for other in others {
            all.removeAll { $0.name == other.name }
            all.append(other)
        }
    }
}
