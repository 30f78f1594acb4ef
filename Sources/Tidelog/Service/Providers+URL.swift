#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension OfflineODataProvider {
    /// Creates a provider for a store of the service at `serviceRoot`.
    public convenience init(serviceRoot: URL, parameters: OfflineODataParameters) {
        self.init(serviceRoot: serviceRoot.absoluteString, parameters: parameters)
    }
}

extension OnlineODataProvider {
    /// Creates a provider for a service.
    ///
    /// - Parameter serviceRoot: an absolute URL.
    public convenience init(serviceRoot: URL) { self.init(serviceRoot: serviceRoot.absoluteString) }
}
