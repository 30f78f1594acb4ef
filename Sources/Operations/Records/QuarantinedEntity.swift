/// A downloaded entity that the store could not apply. The store keeps its version, and the next download of the
/// query tries again.
public struct QuarantinedEntity: Sendable, Hashable, CustomStringConvertible {
    /// The reason why it was not applied.
    public enum Reason: UInt8, Sendable, Hashable, CaseIterable {
        /// A value, or the whole entity, does not have its type in the metadata.
        case unreadable = 0
        /// A key property is missing or null, and no link contains the key.
        case withoutKey = 1
        /// It exceeds the size of a log record, or the reader's limits on bytes or values.
        case tooLarge = 2
        /// Represents ``count`` further entities, of which only the number is stored.
        case further = 3
    }

    /// The defining query's name.
    public var query: String
    /// The entity set.
    public var set: String
    /// The entity's URL relative to the service root, like `Orders(7)`; `nil` if its key cannot be read.
    public var name: String?
    /// The ID, or `nil` if the store does not have the entity.
    public var entity: EntityID?
    /// The reason why the entity was not applied.
    public var reason: Reason
    /// The path of the property as a JSON Pointer within the entity; empty for the whole entity.
    public var path: String
    /// A sentence for a person.
    public var message: String
    /// The value as JSON, truncated.
    public var text: String
    /// Whether it may contain other entities, so that the download is incomplete and removes nothing.
    public var hidesOthers: Bool
    /// The number of entities that it represents.
    public var count: UInt64

    /// The maximum number per query in a store.
    package static let limit = 200

    /// Creates the record of an entity that was not applied.
    public init(
        query: String, set: String, name: String? = nil, entity: EntityID? = nil, reason: Reason, path: String = "",
        message: String, text: String = "", hidesOthers: Bool = false, count: UInt64 = 1
    ) {
        self.query = query
        self.set = set
        self.name = name
        self.entity = entity
        self.reason = reason
        self.path = path
        self.message = message
        self.text = text
        self.hidesOthers = hidesOthers
        self.count = count
    }

    /// For people: `Orders(7)/Date: "2026-02-30" is no date.`
    public var description: String {
        "\(name ?? "\(set) (key unknown)")\(path): \(message)"
    }
}
