import EDM
import Synchronization

/// The entity types of declared classes, each created once.
enum DeclaredTypes {
    /// The name of the key property of classes without ``DeclaredEntity/keyMembers``. It has no value.
    static let keyName = "ID"

    private static let known = Mutex<[ObjectIdentifier: EntityType]>([:])

    static func type(of declared: any DeclaredEntity.Type) -> EntityType {
        let identifier = ObjectIdentifier(declared)
        if let type = known.withLock({ $0[identifier] }) { return type }
        // Outside of the lock, because the members may declare relations to other classes.
        let type = build(declared)
        return known.withLock { types in
            if let first = types[identifier] { return first }
            types[identifier] = type
            return type
        }
    }

    private static func build(_ declared: any DeclaredEntity.Type) -> EntityType {
        let members = declared.members.map(\.property)
        let keys = declared.keyMembers.map(\.property)
        let generated = Property(
            name: keyName, type: TypeReference(.primitive(.int64)), isNullable: false,
            declaringType: declared.qualifiedName)
        let own = members.filter { !$0.isNavigation }
        return StructuredType(
            kind: .entity, name: declared.qualifiedName, properties: (keys.isEmpty ? [generated] : []) + own,
            navigationProperties: members.filter(\.isNavigation), keyProperties: keys.isEmpty ? [generated] : keys)
    }
}
