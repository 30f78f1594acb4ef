public import EDM
public import OfflineStore

extension OfflineODataProvider {
    /// Refreshes the metadata; see ``DataService/refreshMetadata(_:)``.
    ///
    /// - Throws: Like ``DataService/refreshMetadata(_:)``; `cancelled` if the task is cancelled while the call waits;
    ///   `noStore` if the store is not open.
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
    ///
    /// - Throws: `notOData` if the response is not metadata; the errors of a request; `noStore` if the store is not
    ///   open. Incompatible changes are in the result.
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
