public import Tidelog

/// The data of a technician who works without a connection most of the time.
///
/// Entities belong to one task. Therefore, the calls for views return values, such as ``OrderRow``.
public final class FieldStore: Sendable {
    public let provider: OfflineODataProvider
    let service: FieldData

    /// Opens the store. The first time, this requires a connection.
    public init(serviceRoot: String, parameters: OfflineODataParameters) async throws {
        provider = OfflineODataProvider(serviceRoot: serviceRoot, parameters: parameters)
        for set in ["Customers", "WorkOrders", "Photos"] {
            try await provider.add(definingQuery: OfflineODataDefiningQuery(name: set, query: "/\(set)"))
        }
        try await provider.open()
        service = FieldData(provider: provider)
    }

    public func close() async { await provider.close() }
}

/// A work order in a list.
public struct OrderRow: Sendable, Hashable, Identifiable {
    /// The address in the store. It remains valid when the service has assigned the key.
    public var id: String
    public var title: String
    public var customer: String
    public var status: String
    /// Whether the service does not have the latest changes.
    public var isPending: Bool
}
