public import EDM
public import SyncEngine

extension OfflineODataProvider {
    /// As ``DataService/refreshMetadata(_:)``.
    @discardableResult
    public func refreshMetadata(
        _ policy: CompatibilityPolicy = CompatibilityPolicy()
    ) async throws(TidelogError) -> MetadataRefresh {
        let engine = try engine()
        let refresh = try await engine.refreshMetadata(policy)
        adopt(try await engine.store.model)
        return refresh
    }

    /// Reads the service's metadata and tells what ``refreshMetadata(_:)`` would do. Changes nothing.
    public func rehearseMetadataRefresh(
        _ policy: CompatibilityPolicy = CompatibilityPolicy()
    ) async throws(TidelogError) -> MetadataRefresh {
        try await engine().rehearseMetadataRefresh(policy)
    }
}
