public import ODataWire

/// What the service can do. Less than everything makes it like one of the many that lack something.
public struct Abilities: Sendable, Hashable {
    /// Otherwise `$batch` is answered with 501.
    public var batch = true
    /// Whether bodies may link to existing entities; otherwise they are refused with 400.
    public var bind = true
    /// PATCH, and MERGE in V2; otherwise 405.
    public var patch = true
    /// Where `$<Content-ID>` is understood.
    public var contentIDReferences = ServiceOptions.ContentIDReferences.urlsAndBodies
    /// Whether a change set that is refused leaves nothing behind; otherwise what was done before the refused request stays.
    public var rollsBackChangeSets = true
    /// Whether other methods than GET and POST get through; what they are is then in `X-HTTP-Method`.
    public var methods = true

    /// Whether an entity gets the key that the client gives it, in sets whose keys the service does not count up.
    public var keepsClientKeys = true

    /// How a deep insert is answered.
    public enum DeepInsertAnswer: String, Sendable, Hashable, CaseIterable {
        /// The new entities of a collection in the order of the request.
        case inOrder
        case reversed
        /// Only the outermost entity.
        case outermost
        /// With headers only, as every creation.
        case withoutBody
    }

    public var deepInsertAnswer = DeepInsertAnswer.inOrder
    /// Whether the answer repeats `@Core.ContentID`.
    public var repeatsContentIDs = true

    public init() {}
}

/// What the request of a deep insert said of one of its entities.
struct DeepInsertMark: Sendable {
    /// Counted over the whole body.
    let place: Int
    let contentID: String?
}
