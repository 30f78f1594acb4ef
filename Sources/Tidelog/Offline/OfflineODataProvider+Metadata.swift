public import EDM
public import SyncEngine

extension OfflineODataProvider {
    /// As ``DataService/refreshMetadata(_:)``.
    @discardableResult
    public func refreshMetadata(
        _ policy: CompatibilityPolicy = CompatibilityPolicy()
    ) async throws(TidelogError) -> MetadataRefresh {
        let engine = try engine()
        let refresh = try await engine.refreshMetadata(policy, classes: classMetadata?.compared)
        adopt(try await engine.store.model)
        return refresh
    }

    /// Reads the service's metadata and tells what ``refreshMetadata(_:)`` would do. Changes nothing.
    public func rehearseMetadataRefresh(
        _ policy: CompatibilityPolicy = CompatibilityPolicy()
    ) async throws(TidelogError) -> MetadataRefresh {
        try await engine().rehearseMetadataRefresh(policy, classes: classMetadata?.compared)
    }

    /// How the store's metadata differ from those that the app's classes were generated from; ``MetadataRefresh/incompatible``
    /// lists what the classes cannot live with. Look at it after ``open()``: a new version of an app may meet an old store, and
    /// an old one a service that has changed. nil if no generated service was made with this provider, or before it is open.
    public var classCompatibility: MetadataRefresh? {
        guard let model = loadedModel, let classes = classMetadata else { return nil }
        return classes.comparison(with: model)
    }
}
