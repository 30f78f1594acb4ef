public import EDM

/// A store (``OfflineODataProvider``, ``HistoricalODataProvider``) or the service itself (``OnlineODataProvider``), for a
/// ``DataService``.
///
/// Apps use the providers through a ``DataService``. A type of an app can conform only by returning the ``backend`` of
/// one of these providers.
public protocol DataServiceProvider: AnyObject, Sendable {
    /// The metadata, or `nil` if it has not been read.
    var loadedModel: EntityDataModel? { get }
    /// The implementation of the calls of a ``DataService``.
    var backend: ProviderBackend { get }
}

extension DataServiceProvider {
    /// The defects of the service's metadata, each with the affected sets, properties and so on, which are neither
    /// read nor sent. Empty if the metadata has not been read.
    public var metadataDefects: [MetadataDefect] { loadedModel?.defects ?? [] }
}

/// The implementation of a ``DataServiceProvider``. Only the providers of this package create one.
public struct ProviderBackend: Sendable {
    package let calls: any ServiceBackend

    package init(_ calls: any ServiceBackend) { self.calls = calls }
}
