import EDM
public import Operations

/// The text under which the key map finds a contained entity: the entity that contains it, and its key, which is unique only
/// below that one (OData 4.01 Part 1, 4.2).
///
/// The parent is named by its ID: a new one has no key before it was uploaded, and a key may change.
public enum ContainedKey {
    /// `#12(ID=0)`, and `#12()` where a parent contains one entity at most.
    ///
    /// - Parameter key: see ``KeyText``; nil where the entity needs none.
    public static func text(_ parent: EntityID, _ key: String?) -> String { "#\(parent.rawValue)(\(key ?? ""))" }
}
