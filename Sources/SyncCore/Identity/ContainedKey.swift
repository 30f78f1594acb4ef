import EDM
package import Operations

/// The text of a contained entity in the key map: its container, and its key, which is unique only below that container
/// (OData 4.01 Part 1, 4.2).
///
/// The container is identified by its ID, because a new one has no key before its upload, and a key may change.
package enum ContainedKey {
    /// Returns a text such as `#12(ID=0)`, or `#12()` if a parent contains at most one entity.
    ///
    /// - Parameter key: A text of ``KeyText``, or nil if the entity needs none.
    package static func text(_ parent: EntityID, _ key: String?) -> String { "#\(parent.rawValue)(\(key ?? ""))" }
}
