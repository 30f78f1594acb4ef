public import EDM
internal import ODataWire

/// An OData service in memory, V2 under `/v2/` and V4 under `/v4/` over the same entities.
///
/// A value, synchronous and deterministic: the same requests in the same order give the same responses and the same
/// ``state``. Copy it to keep a moment; compare ``stateText(of:values:)`` to compare what two services hold.
public struct Sandbox: Sendable {
    public struct Options: Sendable {
        /// How many entities a page holds before a next link follows; nil for no paging. A client may ask for less.
        public var pageSize: Int?
        /// V2: modifications need the token that a GET with `X-CSRF-Token: Fetch` hands out.
        public var requiresToken = true
        /// Whether a failed change set comes back inside of a multipart, as some services do, rather than as a single part.
        public var wrapsFailedChangeSets = false
        /// Whether an update is answered with the entity, unless the client prefers otherwise.
        public var answersUpdates = false
        public var abilities = Abilities()
        /// What `now()` is in expressions, and by which repeatable requests are forgotten.
        public var now: GlobalDateTime?
        /// Nil where the service carries a request out as often as it comes.
        public var repeatability: Repeatability?
        /// Nil where the service answers at once whatever a client prefers.
        public var asynchrony: Asynchrony?
        /// Nil where the service does not tell what has changed.
        public var deltas: Deltas?

        public init() {}
    }

    /// The scheme, host and port that absolute URLs begin with, without a slash at the end.
    public var origin = "http://127.0.0.1"
    public var options = Options()
    /// What functions and actions do that the metadata declare, by the name of their import, or the last part of the name of
    /// what is bound. A V2 function import of that name does the same. One that is not here is answered with 501.
    public var operations: [String: SandboxOperation] = [:]
    /// What hits the requests that are given to ``reply(to:)``: of those that match all, in their order, up to the first that
    /// decides the answer.
    public var faults: [Fault] = []
    public internal(set) var state = SandboxState()
    /// While a request is replied to.
    var faultsAtWork: FaultsAtWork?
    var sessions = Sessions()
    var repeatable = RepeatableRequests()
    /// Monitored under their place, counted from 1.
    var accepted: [AcceptedRequest] = []
    var cancelled: Set<Int> = []
    var moments = Moments()
    /// How many boundaries were used up.
    var batches = 0
    let schema: SandboxSchema
    private let v2: EntityDataModel
    private let v2Metadata: [UInt8]
    private let v4Metadata: [UInt8]

    /// - Parameters:
    ///   - v4Metadata: the master; everything that the service holds is declared there.
    ///   - v2Metadata: the same sets under the same names; properties that V2 cannot tell are missing there.
    public init(v4Metadata: [UInt8], v2Metadata: [UInt8], configuration: SandboxConfiguration) throws(CSDLError) {
        schema = SandboxSchema(model: try CSDLReader.read(v4Metadata), configuration: configuration)
        v2 = try CSDLReader.read(v2Metadata)
        self.v4Metadata = v4Metadata
        self.v2Metadata = v2Metadata
    }

    /// What the service holds as text, one entity a line and its links beneath it, the sets in the order of their names.
    ///
    /// - Parameters:
    ///   - sets: only these, in this order; nil for all.
    ///   - values: false leaves only keys and links.
    public func stateText(of sets: [String]? = nil, values: Bool = true) -> String {
        state.text(of: sets, values: values, schema: schema)
    }

    /// Takes over the transaction's state; where `body` throws, nothing has happened.
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
        var abilities = options.abilities
        if faultsAtWork?.assignsKeys == true { abilities.keepsClientKeys = false }
        if faultsAtWork?.keepsRefused == true { abilities.rollsBackChangeSets = false }
        if faultsAtWork?.ignoresBodyReferences == true, abilities.contentIDReferences != .none {
            abilities.contentIDReferences = .urlsOnly
        }
        return version.isLegacy
            ? ServiceView(
                version: .v2, model: v2, metadata: v2Metadata, root: origin + "/v2/", master: schema,
                abilities: abilities, operations: operations)
            : ServiceView(
                version: .v4, model: schema.model, metadata: v4Metadata, root: origin + "/v4/", master: schema,
                abilities: abilities, operations: operations)
    }
}

/// One protocol version's face of the service.
struct ServiceView: Sendable {
    let version: ODataVersion
    let model: EntityDataModel
    let metadata: [UInt8]
    /// The absolute service root, ending in a slash.
    let root: String
    let master: SandboxSchema
    var abilities = Abilities()
    var operations: [String: SandboxOperation] = [:]

    var isLegacy: Bool { version.isLegacy }

    func set(_ name: String) -> EntitySet? { model.findEntitySet(name) }
}
