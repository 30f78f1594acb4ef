/// An entity that a service sent in the answer to a defining query and that the store could not take: what the store had of
/// it stays as it was, and the next download of the query tries again.
public struct QuarantinedEntity: Sendable, Hashable, CustomStringConvertible {
    /// Why it was not taken.
    public enum Reason: UInt8, Sendable, Hashable, CaseIterable {
        /// A value, or the whole entity, is not of the type that the metadata say.
        case unreadable = 0
        /// A key property is missing or null, and no link tells the key either.
        case withoutKey = 1
        /// It has more bytes than a record of the log takes, or more bytes or values than the reader takes.
        case tooLarge = 2
        /// Stands for ``count`` further ones, of which only the number is kept.
        case further = 3
    }

    /// The defining query's name.
    public var query: String
    /// The entity set.
    public var set: String
    /// The entity as a URL names it, below the service root, as `Orders(7)`; nil where its key cannot be read.
    public var name: String?
    /// nil if the store does not have the entity.
    public var entity: EntityID?
    public var reason: Reason
    /// The property, behind those that lead to it, as a JSON Pointer below the entity; empty for the whole entity.
    public var path: String
    /// A sentence for a person.
    public var message: String
    /// The value, as JSON, shortened.
    public var text: String
    /// Whether other entities may be hidden in it, so that the download did not see all that the query brings: nothing is
    /// removed then.
    public var hidesOthers: Bool
    /// How many it stands for.
    public var count: UInt64

    /// The most that a store keeps for one query.
    public static let limit = 200

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
