package import EDM
package import ODataQuery
package import Operations
import SyncCore
import Views

/// An entity with its links, for comparisons.
package struct ComparedEntity: Sendable {
    package var id: EntityID
    package var set: String
    package var type: EntityType
    /// The readLink of the entity.
    package var name: String
    /// The key, or nil if the entity has none yet.
    package var key: KeyPredicate?
    package var values: PropertyValues
    /// The targets by navigation property, in the order of the metadata, with ascending IDs. A link that can be
    /// navigated from both ends is listed at its first end.
    package var links: [(navigation: String, targets: [End])] = []

    package init(
        id: EntityID, set: String, type: EntityType, name: String, key: KeyPredicate?, values: PropertyValues
    ) {
        self.id = id
        self.set = set
        self.type = type
        self.name = name
        self.key = key
        self.values = values
    }

    /// Returns the key of a contained entity, which other stores identify only by its whole path. Nil if an entity on
    /// the path has no key yet.
    static func key(link: String) -> KeyPredicate? {
        link.contains("(~") ? nil : KeyPredicate([(name: "", value: .string(link))])
    }

    static func link(in key: KeyPredicate) -> String? {
        guard key.values.count == 1, key.values[0].name.isEmpty, case .string(let link) = key.values[0].value else {
            return nil
        }
        return link
    }

    /// The target of a link.
    package struct End: Sendable, Hashable {
        package var id: EntityID
        package var name: String
        /// Whether the name identifies the entity in other stores too.
        package var hasKey: Bool
    }
}
