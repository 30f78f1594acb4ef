package import ODataWire
public import Transport

/// Bounds on what a service may send, so that no answer, however large, slow or endless, uses up memory or holds up an app for
/// ever. The defaults are above what real services need.
public struct ServiceLimits: Sendable, Hashable {
    /// Time and size of each response. A transport that the app brings has limits of its own instead.
    public var response = ResponseLimits()
    /// The largest entity, as JSON and with what is expanded below it. A larger one is set aside
    /// (see `quarantine()` of the provider) and the rest of its page is taken. A record of the log takes 15 MiB anyway.
    public var entityBytes = 16 << 20
    /// How many values such an entity may hold, those inside of others included.
    public var entityValues = 1_000_000
    /// How many pages in a row may bring nothing that earlier pages of the same query did not bring.
    public var fruitlessPages = 100

    public init() {}

    /// What the readers of answers go by.
    package var reading: JSONScanner.Limits { JSONScanner.Limits(itemSize: entityBytes, elements: entityValues) }

    /// The longest link to another page that is followed, in bytes.
    static let linkBytes = 1 << 16
}

extension TransportOptions {
    /// Those of the platform's transport within these limits.
    public init(_ limits: ServiceLimits) { self.init(limits: limits.response) }
}

extension TidelogError {
    /// The pages of a collection go on and bring nothing new.
    package static func withoutProgress(_ url: String, _ limits: ServiceLimits) -> TidelogError {
        TidelogError(
            .tooLarge,
            "The service's next links do not end: \(limits.fruitlessPages) pages in a row were empty or began with an entity "
                + "that had come before.",
            place: "GET \(URLText.withoutSecrets(url))",
            recovery: "What earlier pages brought is kept; the service has to be mended.")
    }
}
