public import EDM
public import OfflineStore

extension OfflineODataProvider {
    /// Refreshes the metadata; see ``DataService/refreshMetadata(_:)``.
    @discardableResult
    public func refreshMetadata(
        _ policy: CompatibilityPolicy = CompatibilityPolicy()
    ) async throws(TidelogError) -> MetadataRefresh {
        let engine = try engine()
        let refresh = try await engine.refreshMetadata(policy, classes: classMetadata?.compared)
        adopt(try await engine.store.model)
        return refresh
    }

    /// Reads the service's metadata and returns the result that ``refreshMetadata(_:)`` would have. Changes nothing.
    public func rehearseMetadataRefresh(
        _ policy: CompatibilityPolicy = CompatibilityPolicy()
    ) async throws(TidelogError) -> MetadataRefresh {
        try await engine().rehearseMetadataRefresh(policy, classes: classMetadata?.compared)
    }

    /// The difference between the store's metadata and the metadata from which the app's classes were generated.
    ///
    /// ``MetadataRefresh/incompatible`` lists the changes that the classes do not support. Check it after ``open()``:
    /// a new version of an app can open an old store, and an old version can meet a changed service. `nil` if no
    /// generated service uses this provider, or before the store is open.
    public var classCompatibility: MetadataRefresh? {
        guard let model = loadedModel, let classes = classMetadata else { return nil }
        return classes.comparison(with: model)
    }
}
