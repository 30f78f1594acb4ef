public import EDM
import SyncCore

/// A read query that decides which part of the service a store holds. Its path leads to an entity set or a single entity.
public struct OfflineODataDefiningQuery: Sendable, Hashable {
    /// Unique in the store.
    public var name: String
    /// Relative to the service root, with or without a leading slash: `/Events?$filter=Country eq 'CAN'&$expand=Features`.
    public var query: String
    /// Whether the content of the media entities that the query brings is downloaded as well, behind the entities.
    public var automaticallyRetrievesStreams: Bool

    public init(name: String, query: String, automaticallyRetrievesStreams: Bool = false) {
        self.name = name
        self.query = query
        self.automaticallyRetrievesStreams = automaticallyRetrievesStreams
    }

    /// A query for each entity set and singleton, with `$expand` for the relationships that are seen in no other way: everything that the
    /// service has. Good for small services and for a first look.
    public static func all(of model: EntityDataModel) -> [OfflineODataDefiningQuery] {
        DefaultQueries.of(model).map { OfflineODataDefiningQuery(name: $0.name, query: $0.query) }
    }

    /// What the service has and ``all(of:)`` does not bring, with the reason.
    public static func leftOut(of model: EntityDataModel) -> [(path: String, reason: String)] {
        DefaultQueries.leftOut(of: model).map { ($0.path, $0.reason) }
    }
}
