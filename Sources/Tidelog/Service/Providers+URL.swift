#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension OfflineODataProvider {
    /// A store of the service at `serviceRoot`.
    public convenience init(serviceRoot: URL, parameters: OfflineODataParameters) {
        self.init(serviceRoot: serviceRoot.absoluteString, parameters: parameters)
    }
}

extension OnlineODataProvider {
    /// - Parameter serviceRoot: an absolute URL.
    public convenience init(serviceRoot: URL) { self.init(serviceRoot: serviceRoot.absoluteString) }
}
