public import OfflineStore

/// Stores that an app is shipped with, so that its first download is a short one.
///
/// ```swift
/// // On the developer's machine, after a download:
/// try await PreparedODataStore.write(from: provider, to: "Shop.prepared")
///
/// // On the device, at the first start:
/// parameters.preparedStore = bundledPath
/// try await OfflineODataProvider(serviceRoot: root, parameters: parameters).open()
/// ```
public enum PreparedODataStore {
    /// Writes a copy of an open store for other devices to a directory that must not exist.
    ///
    /// The copy contains the entities of the service, the client-only entities, the metadata, and the defining queries
    /// with their delta links. It contains no history, undone operations, media content, credentials or keys, and is not
    /// encrypted: do not prepare a store with the data of one user.
    ///
    /// - Throws: `refused(.notAllowed)` if operations are pending.
    public static func write(
        from provider: OfflineODataProvider, to directory: String
    ) async throws(TidelogError) {
        let engine = try provider.engine()
        try await PreparedStore.write(
            engine.store, root: engine.session.givenRoot, service: provider.parameters.serviceOptions, to: directory)
    }
}
