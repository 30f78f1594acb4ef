package import EDM
package import OfflineStore
public import Transport

/// Limits on service responses, so that a large, slow or endless response cannot exhaust memory or block an app for
/// ever. The defaults exceed the needs of real services.
public struct ServiceLimits: Sendable, Hashable {
    /// The limits on time and size of each response. A transport that the app supplies has its own limits instead.
    public var response = ResponseLimits()
    /// The largest size of an entity in bytes, as JSON and including expanded entities. A larger one is quarantined
    /// (see the provider's `quarantine()`), and the rest of its page is ingested. A log record holds at most 15 MiB in
    /// any case.
    public var entityBytes = 16 << 20
    /// The largest number of values in such an entity, including nested ones.
    public var entityValues = 1_000_000
    /// The largest number of consecutive pages that contain nothing new for the query.
    public var fruitlessPages = 100

    /// Creates the default limits.
    public init() {}

    /// The limits for the payload readers.
    package var reading: JSONScanner.Limits { JSONScanner.Limits(itemSize: entityBytes, elements: entityValues) }

    /// The longest link to another page that is followed, in bytes.
    static let linkBytes = 1 << 16
}

extension TransportOptions {
    /// Creates options for the platform's transport with these limits.
    package init(_ limits: ServiceLimits) { self.init(limits: limits.response) }
}

extension TidelogError {
    /// Returns the error for a collection whose pages continue without new content.
    package static func withoutProgress(_ url: String, _ limits: ServiceLimits) -> TidelogError {
        TidelogError(
            .tooLarge,
            "The next links of the service do not end: \(limits.fruitlessPages) consecutive pages were empty or began with an entity "
                + "of an earlier page.",
            place: "GET \(URLText.withoutSecrets(url))",
            recovery: "Report the error to the operator of the service. The entities of earlier pages are stored.")
    }
}
