package import Operations
package import SyncCore

/// An assignment of a key to an entity.
package struct KeyMapEntry: Sendable, Hashable {
    package let entity: EntityID
    package let set: String
    /// The text of the key, such as `CustomerID=5`.
    package let key: String

    package init(entity: EntityID, set: String, key: String) {
        self.entity = entity
        self.set = set
        self.key = key
    }
}

extension SQLiteState {
    package func keyMap() throws(StateError) -> [KeyMapEntry] {
        try list("SELECT entity, name, key FROM keys JOIN sets ON id = set_number ORDER BY entity, key") {
            KeyMapEntry(
                entity: $0.entity(0), set: $0.text(1) ?? "",
                key: $0.text(2) ?? "")
        }
    }

    /// Returns whether the service addresses entities by other names than their keys, so that a link has to be looked
    /// up before it is read. The result is cached until the state of the store changes.
    package func hasNames() throws(StateError) -> Bool {
        let applied = try header().applied
        if let namesSeen, namesSeen.applied == applied { return namesSeen.any }
        let any = try first("SELECT 1 FROM sets JOIN keys ON set_number = id WHERE name = '' LIMIT 1") != nil
        namesSeen = (applied, any)
        return any
    }
}
