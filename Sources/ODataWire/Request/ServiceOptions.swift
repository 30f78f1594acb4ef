public import EDM

/// The capabilities and conventions of a service.
///
/// They determine all requests to the service: which requests there are, how they refer to each other, and which ones
/// must wait.
///
/// The defaults are those of the standard. A change that cannot be expressed by a valid request under these options is
/// held back with the reason before anything is sent.
public struct ServiceOptions: Sendable, Hashable {
    // MARK: Capabilities

    /// Whether the service supports `$batch`.
    ///
    /// Without it, each request is sent separately. A change that requires several atomic requests is held back, unless
    /// a deep insert expresses it in one request.
    public var supportsBatch = true
    /// Whether a body may link to existing entities (`Customer@odata.bind`, in V2 `__metadata.uri`).
    ///
    /// Without it, links are expressed by dependent properties, by the URL at which the entity is created, or by
    /// requests to `$ref` (V2: `$links`).
    public var supportsBind = true
    /// Whether the service supports PATCH (V2: MERGE). Without it, an update is a PUT with all properties in the store.
    public var supportsPatch = true

    /// The positions at which `$<Content-ID>` may refer to an entity that the same change set creates.
    public enum ContentIDReferences: String, Sendable, Hashable, CaseIterable {
        /// The default of the protocol version: ``urlsAndBodies`` for V4, ``urlsPreferred`` for V2 and V3.
        case standard
        /// In the first segment of URLs, and in bodies: `"Customer@odata.bind": "$1"`, in V2 `{"uri": "$1"}`. V4 does
        /// not specify bodies; V2 and V3 do not permit them (MS-ODATA 2.2.7.6.1).
        case urlsAndBodies
        /// In the first segment of URLs; in bodies only if an atomic change has no other form.
        case urlsPreferred
        /// In the first segment of URLs, the only position that V2 and V4 guarantee.
        case urlsOnly
        /// Nowhere: an operation that refers to a new entity waits until the entity's key is known.
        case none

        /// Returns the meaning of the value for a protocol version, which is never ``standard``.
        package func resolved(for version: ODataVersion) -> ContentIDReferences {
            guard self == .standard else { return self }
            return version.isLegacy ? .urlsPreferred : .urlsAndBodies
        }
    }

    /// The supported Content-ID references. An upload detects if a service supports less, and the store records it; see
    /// `DetectedOptions`.
    public var contentIDReferences = ContentIDReferences.standard

    /// Whether `If-Match` may refer to the ETag that an earlier request of the batch returned (`If-Match: $1`, OData 4.01
    /// Part 1, section 11.7.5). The metadata declare it by `EtagReferencesSupported`.
    public var supportsETagReferences = false
    /// Whether the service evaluates `if` in batches in JSON (OData JSON Format 4.01, section 19.1). The metadata declare
    /// it by `RequestDependencyConditionsSupported`.
    public var supportsRequestConditions = false

    /// Whether a service rolls back a change set that it rejects.
    public enum ChangeSetRollback: String, Sendable, Hashable, CaseIterable {
        /// As the standard requires. Nevertheless, a create of a rejected change set is looked up before it is sent
        /// again.
        case verified
        /// Known to roll back. Nothing is looked up.
        case trusted
        /// Known not to roll back. A create of a rejected change set is sent again only if it is known not to exist.
        case absent
    }

    /// The rollback behavior. An upload that finds a create of a rejected change set on the service sets this to
    /// `absent`; see `DetectedOptions`.
    public var changeSetRollback = ChangeSetRollback.verified

    /// The mechanism by which a service recognizes a repeated request and returns the first response again.
    public enum Repeatability: String, Sendable, Hashable, CaseIterable {
        /// None. The outcome of a request without a response is determined by reading, or not at all.
        case none
        /// OASIS Repeatable Requests 1.0: `Repeatability-Request-ID`, `Repeatability-First-Sent`,
        /// `Repeatability-Client-ID`.
        case oasis
        /// The older headers of SAP Gateway: `RequestID`, `RepeatabilityCreation`.
        case sap
    }

    /// The repeatability mechanism of the service.
    ///
    /// Unless it is `none`, requests without a response are sent again. A service that does not recognize them executes
    /// them twice, and so does one behind an intermediary that drops the headers. With ``Repeatability/oasis`` a success
    /// counts only with `Repeatability-Result: accepted`, and a store does not repeat requests after a response without
    /// it. Set it only for a service for which it was tested. A declaration in the metadata needs no setting.
    public var repeatability = Repeatability.none
    /// Whether batches request asynchronous processing (`Prefer: respond-async`). A service that does not support it
    /// responds at once.
    public var respondsAsync = false
    /// Properties with a unique value in each entity of a set, by set.
    ///
    /// The app assigns each new entity a value of its own (a GUID), and the service stores it. A create without a
    /// response can then be looked up although the service generates the key.
    public var correlationProperties: [String: String] = [:]

    /// The resolution of a create without a response, if the service generates the key and supports no repeatability.
    public enum DoubtPolicy: String, Sendable, Hashable, CaseIterable {
        /// By the values that were sent: a single entity with these values that the store did not know is adopted. If
        /// there is none after ``ServiceOptions/lostRequestSeconds``, the create is sent again. Any other result is
        /// left to the user.
        case evidence
        /// By ``ServiceOptions/correlationProperties`` and alternate keys only.
        case correlation
        /// Not automatically: the create stays in doubt until the user resolves it.
        case ask
    }

    /// The policy for creates in sets without a policy of their own in ``doubtsBySet``.
    public var doubts = DoubtPolicy.evidence
    /// The policies of sets that differ from ``doubts``, by set.
    public var doubtsBySet: [String: DoubtPolicy] = [:]
    /// The time for which a request without a response may still be running, in seconds. Before it has passed, a create
    /// that is not found is not sent again.
    public var lostRequestSeconds = 120

    /// Returns the policy for creates in a set.
    public func doubts(of set: String) -> DoubtPolicy { doubtsBySet[set] ?? doubts }

    // MARK: Request conventions

    /// The format of entities and other payloads.
    public enum PayloadFormat: String, Sendable, Hashable, CaseIterable {
        /// JSON: verbose JSON in V2 and V3, otherwise the JSON format of V4.
        case json
        /// Atom and XML of V2 and V3, for services without JSON. V4 does not support it and uses JSON.
        case atom
    }

    /// The format in which requests are written and responses are requested. A response of V2 or V3 that is XML is read
    /// as Atom in any case.
    public var payloadFormat = PayloadFormat.json

    /// The format of `$batch` requests.
    public enum BatchFormat: String, Sendable, Hashable, CaseIterable {
        /// `multipart/mixed`, which every service with `$batch` supports.
        case multipart
        /// `application/json` of OData 4.01. V2 does not support it and uses multipart.
        case json
    }

    /// The format in which `$batch` requests are sent.
    public var batchFormat = BatchFormat.multipart

    /// The location of a request's Content-ID in a multipart batch.
    public enum ContentIDLocation: String, Sendable, Hashable, CaseIterable {
        /// The head of its MIME part, as the standard requires.
        case part
        /// The headers of the request inside of the part.
        case request
        /// Both locations.
        case both
    }

    /// The location of the Content-IDs in multipart batches.
    public var contentIDLocation = ContentIDLocation.part

    /// The way in which new entities of a collection are created along with their parent (`Orders` of a new customer).
    public enum DeepInsertToMany: String, Sendable, Hashable, CaseIterable {
        /// With requests of their own in the same change set. Each one has a response with a key.
        case split
        /// In the body of the parent. The service returns them in the order in which they were sent.
        case inOrder
        /// In the body of the parent, each with a `@Core.ContentID` that the response repeats (OData 4.01). V2 does not
        /// support it and splits.
        case contentID
    }

    /// The way in which new entities of a collection are created along with their parent.
    public var deepInsertToMany = DeepInsertToMany.split

    /// Whether to use POST with `X-HTTP-Method` for PATCH, MERGE, PUT and DELETE, for intermediaries that only support
    /// GET and POST.
    public var tunnelsMethods = false
    /// V2: whether the content of a collection in a body is `{"results":[…]}` instead of a plain array.
    public var wrapsInlineCollections = false
    /// V4: whether to send `Edm.Int64` and `Edm.Decimal` as strings.
    public var isIEEE754Compatible = false

    // MARK: Meaning of responses

    /// Whether a deletion is confirmed if the service responds that the entity does not exist (404, 410).
    ///
    /// Otherwise it counts as rejected the first time, and as confirmed when it is sent again.
    public var deletedOnServiceIsDone = true
    /// V2 and V3: whether JSON deltas contain deletions, as those of Olingo do.
    ///
    /// V2 defines no form for deletions in JSON, and SAP Gateway reports them in Atom only. Without this option, or
    /// ``PayloadFormat/atom``, a delta link of V2 is not used; the downloaded entities are compared instead.
    public var tellsDeletionsInV2 = false

    /// Whether deltas of V2 contain deletions: in JSON by option, in Atom as tombstones (RFC 6721).
    public var hasDeletionsInV2: Bool { tellsDeletionsInV2 || payloadFormat == .atom }

    /// Creates options. The properties describe the parameters with the same names.
    public init(
        supportsBatch: Bool = true, supportsBind: Bool = true, supportsPatch: Bool = true,
        batchFormat: BatchFormat = .multipart,
        contentIDReferences: ContentIDReferences = .standard, contentIDLocation: ContentIDLocation = .part,
        deepInsertToMany: DeepInsertToMany = .split, tunnelsMethods: Bool = false,
        wrapsInlineCollections: Bool = false, isIEEE754Compatible: Bool = false, deletedOnServiceIsDone: Bool = true,
        repeatability: Repeatability = .none, respondsAsync: Bool = false,
        correlationProperties: [String: String] = [:], tellsDeletionsInV2: Bool = false,
        changeSetRollback: ChangeSetRollback = .verified, doubts: DoubtPolicy = .evidence,
        doubtsBySet: [String: DoubtPolicy] = [:], lostRequestSeconds: Int = 120,
        payloadFormat: PayloadFormat = .json,
        supportsETagReferences: Bool = false, supportsRequestConditions: Bool = false
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
        self.payloadFormat = payloadFormat
        self.supportsETagReferences = supportsETagReferences
        self.supportsRequestConditions = supportsRequestConditions
    }

    /// Returns the options with all version-dependent values resolved.
    package func resolved(for version: ODataVersion) -> ServiceOptions {
        var options = self
        options.contentIDReferences = contentIDReferences.resolved(for: version)
        return options
    }

    /// The meaning of options that the fingerprint of a batch in the log does not contain. It never changes; otherwise
    /// batches of older logs would be rebuilt differently from how they were sent.
    package static var unnamedInFingerprints: ServiceOptions { ServiceOptions(contentIDReferences: .urlsAndBodies) }

    /// Creates the options that the metadata declares by annotations of the container (Capabilities vocabulary:
    /// `BatchSupported`, `BatchSupport`; Repeatability vocabulary: `Supported`). Undeclared options have their
    /// defaults.
    public init(declaredBy model: EntityDataModel) {
        self.init()
        let namespace = "Org.OData.Capabilities.V1."
        for annotation in model.schemas.flatMap(\.containers).flatMap(\.annotations) {
            switch annotation.term {
            case "Org.OData.Repeatability.V1.Supported":
                // A tag is true unless it has a different value.
                if annotation.value != "false" { repeatability = .oasis }
            case namespace + "BatchSupported": if annotation.value == "false" { supportsBatch = false }
            case namespace + "BatchSupport":
                let fields = annotation.expression.flatMap { $0.name == "Record" ? $0.children : [] }
                for field in fields {
                    switch (field.attributes["Property"], field.attributes["Bool"]) {
                    case ("Supported", "false"): supportsBatch = false
                    case ("ReferencesInRequestBodiesSupported", "false"): contentIDReferences = .urlsOnly
                    case ("EtagReferencesSupported", "true"): supportsETagReferences = true
                    case ("RequestDependencyConditionsSupported", "true"): supportsRequestConditions = true
                    default: break
                    }
                }
            default: break
            }
        }
    }
}
