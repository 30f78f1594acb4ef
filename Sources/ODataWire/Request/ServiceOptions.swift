public import EDM

/// What a service lacks, or does in its own way. Everything that is sent to it follows: which requests there are, how they
/// refer to each other, and what has to wait.
///
/// The defaults are what the standard promises. A change for which no legal request exists under these options is held,
/// with the reason, before anything is sent.
public struct ServiceOptions: Sendable, Hashable {
    // MARK: What it can do

    /// Whether it has `$batch`. Without, each request goes by itself: a change that needs several requests which must take
    /// effect together is held, unless a deep insert says it in one.
    public var supportsBatch = true
    /// Whether a body may link to existing entities (`Customer@odata.bind`, in V2 `__metadata.uri`). Without, dependent
    /// properties say it, or the address that the entity is created at, or requests to `$ref` (V2: `$links`).
    public var supportsBind = true
    /// Whether it has PATCH (V2: MERGE). Without, an update is a PUT with all properties that the store knows.
    public var supportsPatch = true

    /// Where `$<Content-ID>` may stand for an entity that the same change set creates.
    public enum ContentIDReferences: String, Sendable, Hashable, CaseIterable {
        /// As the version's standard has it: ``urlsAndBodies`` for V4, ``urlsPreferred`` for V2 and V3.
        case standard
        /// In the first segment of URLs, and in bodies: `"Customer@odata.bind": "$1"`, in V2 `{"uri": "$1"}`. V4 leaves
        /// bodies open; V2 and V3 do not have them (MS-ODATA 2.2.7.6.1).
        case urlsAndBodies
        /// In the first segment of URLs; in bodies only where a change that has to take effect as a whole has no other form.
        case urlsPreferred
        /// In the first segment of URLs, the only place where V2 and V4 promise it.
        case urlsOnly
        /// Nowhere: what refers to a new entity waits until its key is known.
        case none

        /// What the value means for a service of that version; never ``standard``.
        public func resolved(for version: ODataVersion) -> ContentIDReferences {
            guard self == .standard else { return self }
            return version.isLegacy ? .urlsPreferred : .urlsAndBodies
        }
    }

    /// An upload finds out by itself where a service understands less than this says, and the store remembers it; see
    /// `LearnedOptions`.
    public var contentIDReferences = ContentIDReferences.standard

    /// Whether a service takes back what it has done of a change set that it refuses.
    public enum ChangeSetRollback: String, Sendable, Hashable, CaseIterable {
        /// As the standard says. Before a create of a refused change set is sent again it is looked for all the same.
        case verified
        /// Known to. Nothing is looked for.
        case trusted
        /// Known not to. A create of a refused change set is sent again only if it is known not to be there.
        case absent
    }

    /// An upload that finds a create of a refused change set at the service sets this to `absent`; see `LearnedOptions`.
    public var changeSetRollback = ChangeSetRollback.verified

    /// How a service knows that a request comes a second time, so that it answers what it answered the first time.
    public enum Repeatability: String, Sendable, Hashable, CaseIterable {
        /// It does not. What became of a request without an answer is found out by reading, or never.
        case none
        /// OASIS Repeatable Requests 1.0: `Repeatability-Request-ID`, `Repeatability-First-Sent`,
        /// `Repeatability-Client-ID`.
        case oasis
        /// The older headers of SAP Gateway: `RequestID`, `RepeatabilityCreation`.
        case sap
    }

    /// Where it is not `none`, requests without an answer are sent again, and a success is believed. A service that does not
    /// know them again does them twice then, and so it does where something between drops the headers. Set it only for a
    /// service of which this was tried; what the metadata declare needs no setting.
    public var repeatability = Repeatability.none
    /// Whether batches ask for an answer later (`Prefer: respond-async`). A service that does not know this answers at once.
    public var respondsAsync = false
    /// Properties that hold what no other entity of the set has, by set: the app gives each new entity a value of its own
    /// (a GUID), and the service keeps it. Then a creation without an answer can be looked for, though the service gives the
    /// key.
    public var correlationProperties: [String: String] = [:]

    /// How a create whose answer was lost is settled where the service gives the key and knows no repetitions.
    public enum DoubtPolicy: String, Sendable, Hashable, CaseIterable {
        /// By the values that were sent: one entity that has them, and that the store did not know, is adopted; none, after
        /// ``ServiceOptions/lostRequestSeconds``, lets the create go again; anything else stays with the person.
        case evidence
        /// By ``ServiceOptions/correlationProperties`` and alternate keys only.
        case correlation
        /// Not at all: it stays in doubt until a person settles it.
        case ask
    }

    public var doubts = DoubtPolicy.evidence
    /// The policies of sets that differ from ``doubts``, by set.
    public var doubtsBySet: [String: DoubtPolicy] = [:]
    /// How long a request without an answer may still be running. Before that, a create that is not found is not sent again.
    public var lostRequestSeconds = 120

    /// The policy for creates in a set.
    public func doubts(of set: String) -> DoubtPolicy { doubtsBySet[set] ?? doubts }

    // MARK: How it wants things

    /// What a `$batch` looks like.
    public enum BatchFormat: String, Sendable, Hashable, CaseIterable {
        /// `multipart/mixed`, which every service with `$batch` has.
        case multipart
        /// `application/json` of OData 4.01. V2 has no such thing, and stays with multipart.
        case json
    }

    public var batchFormat = BatchFormat.multipart

    /// Where the Content-ID of a request in a multipart batch stands.
    public enum ContentIDLocation: String, Sendable, Hashable, CaseIterable {
        /// In the head of its MIME part, as the standard says.
        case part
        /// Among the headers of the request inside of the part.
        case request
        case both
    }

    public var contentIDLocation = ContentIDLocation.part

    /// How new entities below a collection are created with the one above (`Orders` of a new customer).
    public enum DeepInsertToMany: String, Sendable, Hashable, CaseIterable {
        /// By requests of their own in the same change set: each has an answer, and so a key.
        case split
        /// In the body of the one above. The service answers them in the order in which they were sent.
        case inOrder
        /// In the body of the one above, each with a `@Core.ContentID` that the answer repeats (OData 4.01). V2 has no such
        /// thing, and splits.
        case contentID
    }

    public var deepInsertToMany = DeepInsertToMany.split

    /// POST with `X-HTTP-Method` for PATCH, MERGE, PUT and DELETE, for what lies between and knows only GET and POST.
    public var tunnelsMethods = false
    /// V2: what goes into a collection in a body as `{"results":[…]}` instead of a plain array.
    public var wrapsInlineCollections = false
    /// V4: `Edm.Int64` and `Edm.Decimal` as strings.
    public var isIEEE754Compatible = false

    // MARK: What its answers mean

    /// Whether a deletion is done when the service answers that it has no such entity (404, 410). Otherwise it counts as
    /// refused the first time and as done when it is sent again.
    public var deletedOnServiceIsDone = true
    /// V2 and V3: whether deltas in JSON say what was deleted, as those of Olingo do. V2 has no form for it, and SAP Gateway
    /// says it in Atom only; without it a delta link of V2 is not used, and what the service sends is compared instead.
    public var tellsDeletionsInV2 = false

    public init(
        supportsBatch: Bool = true, supportsBind: Bool = true, supportsPatch: Bool = true,
        batchFormat: BatchFormat = .multipart,
        contentIDReferences: ContentIDReferences = .standard, contentIDLocation: ContentIDLocation = .part,
        deepInsertToMany: DeepInsertToMany = .split, tunnelsMethods: Bool = false,
        wrapsInlineCollections: Bool = false, isIEEE754Compatible: Bool = false, deletedOnServiceIsDone: Bool = true,
        repeatability: Repeatability = .none, respondsAsync: Bool = false,
        correlationProperties: [String: String] = [:], tellsDeletionsInV2: Bool = false,
        changeSetRollback: ChangeSetRollback = .verified, doubts: DoubtPolicy = .evidence,
        doubtsBySet: [String: DoubtPolicy] = [:], lostRequestSeconds: Int = 120
    ) {
        self.supportsBatch = supportsBatch
        self.supportsBind = supportsBind
        self.supportsPatch = supportsPatch
        self.batchFormat = batchFormat
        self.contentIDReferences = contentIDReferences
        self.contentIDLocation = contentIDLocation
        self.deepInsertToMany = deepInsertToMany
        self.tunnelsMethods = tunnelsMethods
        self.wrapsInlineCollections = wrapsInlineCollections
        self.isIEEE754Compatible = isIEEE754Compatible
        self.deletedOnServiceIsDone = deletedOnServiceIsDone
        self.repeatability = repeatability
        self.respondsAsync = respondsAsync
        self.correlationProperties = correlationProperties
        self.tellsDeletionsInV2 = tellsDeletionsInV2
        self.changeSetRollback = changeSetRollback
        self.doubts = doubts
        self.doubtsBySet = doubtsBySet
        self.lostRequestSeconds = lostRequestSeconds
    }

    /// The options with everything that depends on the service's version decided.
    public func resolved(for version: ODataVersion) -> ServiceOptions {
        var options = self
        options.contentIDReferences = contentIDReferences.resolved(for: version)
        return options
    }

    /// What an option means that a fingerprint of a batch in the log does not name. Never changes, or batches of older logs
    /// would be rebuilt otherwise than they were sent.
    public static var unnamedInFingerprints: ServiceOptions { ServiceOptions(contentIDReferences: .urlsAndBodies) }

    /// What the metadata say of the service in annotations of its container (Capabilities vocabulary: `BatchSupported`,
    /// `BatchSupport`; Repeatability vocabulary: `Supported`). What they do not say is as the standard promises.
    public init(declaredBy model: EntityDataModel) {
        self.init()
        let namespace = "Org.OData.Capabilities.V1."
        for annotation in model.schemas.flatMap(\.containers).flatMap(\.annotations) {
            switch annotation.term {
            case "Org.OData.Repeatability.V1.Supported":
                // A tag: it is true unless it says something else.
                if annotation.value != "false" { repeatability = .oasis }
            case namespace + "BatchSupported": if annotation.value == "false" { supportsBatch = false }
            case namespace + "BatchSupport":
                let fields = annotation.expression.flatMap { $0.name == "Record" ? $0.children : [] }
                for field in fields where field.attributes["Bool"] == "false" {
                    switch field.attributes["Property"] {
                    case "Supported": supportsBatch = false
                    case "ReferencesInRequestBodiesSupported": contentIDReferences = .urlsOnly
                    default: break
                    }
                }
            default: break
            }
        }
    }
}
