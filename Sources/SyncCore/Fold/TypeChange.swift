import EDM
import Operations

/// A change of an entity's type by the service.
///
/// A service may replace an entity by one with the same key and another type, for example the base type, which it omits
/// from payloads.
struct TypeChange {
    private let former: EntityType
    private let type: EntityType

    /// Sets the type of an entity to that of an image, and removes the values and links that the new type does not have.
    ///
    /// An image with nothing but the key is a reference, from which the service may omit the type.
    static func apply(
        _ image: EntityImage, _ type: EntityType, to row: inout EntityRow, _ editor: inout StateEditor
    ) throws(StateError) {
        if let change = TypeChange(of: row, to: type, in: editor.model) {
            if image.isKeyOnly(type), editor.model.isType(row.type, derivedFrom: type.name) { return }
            try change.apply(to: &row, &editor)
        }
        row.type = type.name
    }

    /// Returns nil if the new type has all properties of the former one, because it is the same or derived from it.
    private init?(of row: EntityRow, to type: EntityType, in model: EntityDataModel) {
        guard row.type != type.name, let former = model.findEntityType(row.type),
            !model.isType(type.name, derivedFrom: former.name)
        else { return nil }
        self.former = former
        self.type = type
    }

    private func apply(to row: inout EntityRow, _ editor: inout StateEditor) throws(StateError) {
        for name in row.values.names where type.findProperty(name) == nil {
            if former.findProperty(name) != nil || !type.isOpen(to: name) { row.values[name] = nil }
        }
        for link in try editor.storage.links(of: row.id) where link.inLocal {
            let isFirst = link.first == row.id
            let partner = isFirst ? link.second : link.first
            // The row of an entity that is linked with itself still has the former type.
            let stored = try editor.storage.type(of: partner)
            guard let other = partner == row.id ? type.name : stored else { continue }
            let (first, second) = isFirst ? (type.name, other) : (other, type.name)
            if editor.model.multiplicities(of: link.relationship, from: first, to: second) != nil { continue }
            if contains(Relationship(name: link.relationship, isForward: isFirst)) {
                // A contained entity does not exist without its container.
                let hasPending = try editor.storage.state.hasPendingChange(of: partner)
                try editor.removeFromBase(partner, hasPending: hasPending)
            } else {
                try editor.unlink(link, clearing: false)
            }
        }
    }

    private func contains(_ relationship: Relationship) -> Bool {
        former.navigationProperties.contains {
            $0.navigation?.containsTarget == true && $0.navigation?.relationship == relationship
        }
    }
}

extension EntityDataModel {
    /// Returns the multiplicities at the ends of a link, or nil if no navigation property of these types leads from one
    /// end to the other.
    func multiplicities(
        of relationship: String, from first: String, to second: String
    ) -> (first: Multiplicity, second: Multiplicity)? {
        func find(_ isForward: Bool, from source: String, to target: String) -> Navigation? {
            let wanted = Relationship(name: relationship, isForward: isForward)
            return findEntityType(source)?.navigationProperties.lazy.compactMap(\.navigation).first {
                $0.relationship == wanted && isType(target, derivedFrom: $0.targetType)
            }
        }
        if let forward = find(true, from: first, to: second) {
            return (first: forward.multiplicity, second: forward.sourceMultiplicity)
        }
        return find(false, from: second, to: first).map { (first: $0.sourceMultiplicity, second: $0.multiplicity) }
    }
}
