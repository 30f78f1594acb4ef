public import EDM
import SyncCore

/// A read query that defines a part of the service to be kept in the store. Its path leads to an entity set or a
/// single entity.
public struct OfflineODataDefiningQuery: Sendable, Hashable {
    /// The name, unique in the store.
    public var name: String
    /// The query, relative to the service root, with or without a leading slash: `/Events?$filter=Country eq
    /// 'CAN'&$expand=Features`.
    public var query: String
    /// A Boolean value that indicates whether the content of downloaded media entities is downloaded too, after the
    /// entities.
    public var automaticallyRetrievesStreams: Bool

    /// Creates a defining query; by default media streams are not downloaded.
    public init(name: String, query: String, automaticallyRetrievesStreams: Bool = false) {
        self.name = name
        self.query = query
        self.automaticallyRetrievesStreams = automaticallyRetrievesStreams
    }

    /// Returns a query for each entity set and singleton, which together download everything that the service has.
    ///
    /// The queries have `$expand` for relationships that are not visible otherwise. Suitable for small services and
    /// for a first look.
    public static func all(of model: EntityDataModel) -> [OfflineODataDefiningQuery] {
        DefaultQueries.of(model).map { OfflineODataDefiningQuery(name: $0.name, query: $0.query) }
    }

    /// Returns the resources that ``all(of:)`` does not download, each with the reason.
    public static func omittedElements(of model: EntityDataModel) -> [(path: String, reason: String)] {
        DefaultQueries.omittedElements(of: model).map { ($0.path, $0.reason) }
    }
}
