public import ODataWire

/// The capabilities of the service. Disabling some makes it behave like a service that lacks them.
public struct Capabilities: Sendable, Hashable {
    /// Whether `$batch` is supported. Otherwise the response is 501.
    public var batch = true
    /// Whether bodies may link to existing entities. Otherwise the response is 400.
    public var bind = true
    /// Whether PATCH, and MERGE in V2, are supported. Otherwise the response is 405.
    public var patch = true
    /// The positions at which `$<Content-ID>` is supported.
    public var contentIDReferences = ServiceOptions.ContentIDReferences.urlsAndBodies
    /// Whether `If-Match` may refer to the ETag in the response to an earlier request of a batch, in V4.
    public var etagReferences = true
    /// Whether `if` is evaluated in batches in JSON. Otherwise a request that has it fails with 424.
    public var requestConditions = true
    /// Whether a rejected change set is rolled back. Otherwise the changes before the rejected request are kept.
    public var rollsBackChangeSets = true
    /// Whether methods other than GET and POST are accepted. If not, `X-HTTP-Method` contains the method.
    public var methods = true

    /// Whether an entity gets the key from the client, in sets whose keys the service does not generate.
    public var keepsClientKeys = true

    /// The form of the response to a deep insert.
    public enum DeepInsertAnswer: String, Sendable, Hashable, CaseIterable {
        /// The new entities of a collection in the order of the request.
        case inOrder
        /// The new entities of a collection in the reverse order of the request.
        case reversed
        /// Only the outermost entity.
        case outermost
        /// Headers only, as in the response to any create.
        case withoutBody
    }

    /// The form of the response to a deep insert.
    public var deepInsertAnswer = DeepInsertAnswer.inOrder
    /// The only format of V2. Bodies in a different one are rejected, and so are requests for a different one unless
    /// ``acceptsOtherFormats``.
    public var v2Format = ServiceOptions.PayloadFormat.json
    /// Whether requests for a different format get a response in ``v2Format`` instead of an error.
    public var acceptsOtherFormats = false
    /// Whether the response repeats `@Core.ContentID`.
    public var repeatsContentIDs = true

    /// Creates the default capabilities.
    public init() {}
}

/// The properties of one entity in the request of a deep insert.
struct DeepInsertMark: Sendable {
    /// The position, counted over the whole body.
    let place: Int
    let contentID: String?
}
