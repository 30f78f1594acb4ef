public import EDM

/// An OData service in memory: V2 under `/v2/` and V4 under `/v4/` over the same entities.
///
/// A sandbox is a value, synchronous and deterministic: the same requests in the same order result in the same
/// responses and the same ``state``. Copy it to keep a snapshot. Use ``stateText(of:values:)`` to compare the contents
/// of two services.
public struct Sandbox: Sendable {
    /// The settings of a service.
    public struct Options: Sendable {
        /// The number of entities in a page, or nil for no paging. A client may request fewer.
        public var pageSize: Int?
        /// V2: whether modifications require the token that a GET with `X-CSRF-Token: Fetch` returns.
        public var requiresToken = true
        /// Whether the error of a failed change set is inside of a multipart, as with some services, instead of a
        /// single part.
        public var wrapsFailedChangeSets = false
        /// Whether the response to an update contains the entity, unless the client prefers otherwise.
        public var answersUpdates = false
        /// The features that the service supports.
        public var capabilities = Capabilities()
        /// The value of `now()` in expressions, which also determines when repeatable requests are forgotten.
        public var now: GlobalDateTime?
        /// The recognition of repeated requests, or nil if every request is executed.
        public var repeatability: Repeatability?
        /// The asynchronous processing, or nil if the service always responds at once.
        public var asynchrony: Asynchrony?
        /// The change tracking, or nil if the service has none.
        public var deltas: Deltas?

        /// Creates the default settings: no paging, repeatability, asynchrony or change tracking.
        public init() {}
    }

    /// The scheme, host and port of absolute URLs, without a slash at the end.
    public var origin = "http://127.0.0.1"
    /// The settings of the service, which can change between requests.
    public var options = Options()
    /// The implementations of functions and actions in the metadata, by the name of the import or the unqualified name
    /// of the bound operation.
    ///
    /// A V2 function import of the same name uses the same implementation. The response for a missing one is 501.
    public var operations: [String: SandboxOperation] = [:]
    /// The faults for requests that are passed to ``reply(to:)``. All matching ones apply in order, up to the first
    /// decisive one.
    public var faults: [Fault] = []
    /// The stored entities and links.
    public internal(set) var state = SandboxState()
    /// The effects of faults on the current request.
    var activeFaults: ActiveFaults?
    var sessions = Sessions()
    var repeatable = RepeatableRequests()
    var monitors = StatusMonitors()
    var baselines = DeltaBaselines()
    var batchWriter = BatchResponseWriter()
    private var metadata: SandboxMetadata
    var schema: SandboxSchema { metadata.schema }

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - v4Metadata: The master metadata, which declare all content of the service.
    ///   - v2Metadata: The same sets under the same names, without properties that V2 cannot represent.
    /// - Throws: An error with line and column if one of the documents is not metadata that the reader can use.
    public init(v4Metadata: [UInt8], v2Metadata: [UInt8], configuration: SandboxConfiguration) throws(CSDLError) {
        metadata = try SandboxMetadata(v4: v4Metadata, v2: v2Metadata, configuration)
    }

    /// Replaces the metadata, as an upgrade of the service does. Sets, keys and relationships must remain. No ETag
    /// changes. Existing entities get `values` of new properties, or null.
    package mutating func upgrade(
        v4Metadata: [UInt8], v2Metadata: [UInt8], values: PropertyValues
    ) throws(CSDLError) {
        metadata = try SandboxMetadata(v4: v4Metadata, v2: v2Metadata, schema.configuration)
        state.convert(to: schema.model, values)
    }

    /// Returns the content of the service as text, with one entity per line and its links below it, and the sets sorted
    /// by name.
    ///
    /// - Parameters:
    ///   - sets: The sets to include, in this order. Nil for all.
    ///   - values: Whether to include values in addition to keys and links.
    public func stateText(of sets: [String]? = nil, values: Bool = true) -> String {
        state.text(of: sets, values: values, schema: schema)
    }

    /// Runs a transaction and takes over its state. If `body` throws, the state does not change.
    mutating func transact<Result>(
        _ body: (inout Transaction) throws(SandboxError) -> Result
    ) throws(SandboxError) -> Result {
        var transaction = Transaction(on: state, schema: schema)
        let result = try body(&transaction)
        try transaction.finish()
        state = transaction.state
        return result
    }

    mutating func keep(_ transaction: Transaction) { state = transaction.state }

    func view(_ version: ODataVersion) -> ServiceView {
        let capabilities = activeFaults?.restricting(options.capabilities) ?? options.capabilities
        return version.isLegacy
            ? ServiceView(
                version: .v2, model: metadata.v2.model, metadata: metadata.v2.document, root: origin + "/v2/",
                master: schema, capabilities: capabilities, operations: operations)
            : ServiceView(
                version: .v4, model: schema.model, metadata: metadata.v4, root: origin + "/v4/", master: schema,
                capabilities: capabilities, operations: operations)
    }
}

/// The metadata of a service in both protocol versions.
private struct SandboxMetadata: Sendable {
    let schema: SandboxSchema
    /// The document of the master metadata.
    let v4: [UInt8]
    let v2: (document: [UInt8], model: EntityDataModel)

    init(v4: [UInt8], v2: [UInt8], _ configuration: SandboxConfiguration) throws(CSDLError) {
        schema = SandboxSchema(model: try CSDLReader.read(v4), configuration: configuration)
        self.v4 = v4
        self.v2 = (v2, try CSDLReader.read(v2))
    }
}

/// The service in one protocol version.
struct ServiceView: Sendable {
    let version: ODataVersion
    let model: EntityDataModel
    let metadata: [UInt8]
    /// The absolute service root with a slash at its end.
    let root: String
    let master: SandboxSchema
    var capabilities = Capabilities()
    var operations: [String: SandboxOperation] = [:]

    var isLegacy: Bool { version.isLegacy }

    func set(_ name: String) -> EntitySet? { model.findEntitySet(name) }
}
