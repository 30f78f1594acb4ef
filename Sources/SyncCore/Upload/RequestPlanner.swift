import EDM
import ODataWire
import Operations

/// Converts the operations of a change set to numbered requests, in the forms that the service supports.
/// `$<Content-ID>` references new entities.
struct RequestPlanner {
    let resolver: EntityResolver<WorkingSet>
    private(set) var options: ServiceOptions
    /// The options without the deviations of a single change set.
    private let usualOptions: ServiceOptions
    private var nextContentID: Int
    private(set) var contentIDs = IDTable<String>()
    /// The entities that earlier requests of the change set change or link.
    private(set) var changed = ChangedEntities()
    /// Whether a request of the change set may depend on ``changed``.
    private var readsChanged = false
    /// Entities that requests of the change set refer to, so that they need a Content-ID of their own.
    private(set) var referenced = EntityIDs()
    /// The values of entities after earlier requests: if updates are replacements, those of the change set, otherwise
    /// all of the batch, and only for complex values; see ``completed(_:of:_:)``.
    var standing: [EntityID: PropertyValues] = [:]
    private var requests: [PlannedRequest] = []
    /// The custom headers of the operation.
    private var headers = HTTPHeaders.empty
    /// Entities whose keys will be known when the requests are sent, because an earlier round creates them.
    private let knownLater: Set<EntityID>
    /// The reason why the service does not support the change set, as the end of a sentence.
    private(set) var obstacle: String?

    init(
        resolver: EntityResolver<WorkingSet>, options: ServiceOptions, knownLater: Set<EntityID> = [],
        firstContentID: Int = 1
    ) {
        self.resolver = resolver
        nextContentID = firstContentID
        usualOptions = options.resolved(for: resolver.model.version)
        self.options = usualOptions
        self.knownLater = knownLater
    }

    /// Returns the requests of a change set.
    ///
    /// - Parameters:
    ///   - carried: The operations that each operation carries.
    ///   - given: Entities that the change set creates before these operations. They get the same Content-ID, because
    ///     their requests are not part of the result.
    ///   - references: The supported references to new entities, if they differ from the options.
    mutating func changeSet(
        _ operations: [PendingOperation], carrying carried: [SequenceNumber: [SequenceNumber]] = [:],
        given: Set<EntityID> = [], references: ServiceOptions.ContentIDReferences? = nil
    ) throws(StateError) -> PlannedChangeSet {
        options = usualOptions
        if let references { options.contentIDReferences = references }
        contentIDs.removeAll()
        for entity in given { contentIDs.updateValue("0", for: entity) }
        changed = ChangedEntities()
        readsChanged = operations.count > 1 && operations.contains(where: \.operation.maySendETag)
        // Only looked up for nested creations.
        let hasNested = operations.contains(where: \.operation.hasNestedCreation)
        referenced = hasNested ? EntityIDs(operations.flatMap(\.operation.referencedEntities)) : []
        if !options.supportsPatch { standing = [:] }
        requests = []
        obstacle = nil
        let superseded = try SupersededLinks(in: operations, resolver)
        var tracker = LinkTracker(resolver)
        let sorted = try GuardedUpdateOrder(resolver: resolver).sorted(superseded.others)
        var unguarded: [PendingOperation] = []
        for (index, pending) in sorted.operations.enumerated() {
            unguarded += sorted.unguarded[index] ?? []
            if !superseded.operations.contains(pending.sequence) {
                for later in unguarded where !pending.operation.sendsETag(of: later.operation.subject) {
                    try addCheck(before: later)
                }
                unguarded = []
            }
            if !options.supportsPatch, pending.operation.call == nil {
                try nullDependents(pending.operation, &tracker)
            }
            guard !superseded.operations.contains(pending.sequence) else { continue }
            let first = requests.count
            try add(pending)
            if let unlinked = sorted.unlinked[index] { didChange(unlinked) }
            guard requests.count > first else { continue }
            // Carried operations end with the operation, and so with its response.
            requests[first].carries =
                (carried[pending.sequence] ?? []) + (superseded.replacements[pending.sequence] ?? [])
        }
        if !options.supportsBatch, requests.count > 1 {
            obstacle =
                "it needs \(requests.count) requests that must take effect together, and the service has no $batch"
        }
        return PlannedChangeSet(requests: requests)
    }

    private mutating func add(_ pending: PendingOperation) throws(StateError) {
        let operation = pending.operation
        try setHeaders(of: operation)
        if let stream = operation.stream { return try add(stream, pending) }
        if let call = operation.call { return try add(call, pending) }
        switch operation.action {
        case .create(let creation, let parent):
            try addCreate(creation, parent, pending)
            // A service may treat a link as a change of either end.
            if readsChanged { didChange(operation.referencedEntities) }
        case .update(let entity, let changes, let bindings):
            let type = try type(of: entity, in: operation)
            let replaces = !options.supportsPatch
            let values =
                try replaces ? replacement(of: entity, changes, bindings, type) : completed(changes, of: entity, type)
            let content = try content(values, bindings, type)
            let isSaidByLinks = changes.isEmpty && content.expressesByLinks(bindings)
            // The effect of an action is known only after its response.
            if replaces, !isSaidByLinks, requests.contains(where: { $0.called.contains(entity) }) {
                throw StateError(
                    .unsendable, "a PUT after the call would reset values of entity \(entity) that the call changes")
            }
            if !isSaidByLinks {
                let body = EntityBody(
                    type: type, declaredType: resolver.model.findEntitySet(try set(of: entity))?.entityType,
                    values: content.values, bindings: content.bindings)
                add(.update(try reference(entity), body, replaces: replaces), pending, ifMatch: try etag(entity))
                if readsChanged { didChange([entity] + bindings.flatMap(\.targets), etagOf: entity) }
            }
            for link in content.links { try add(link, of: entity, pending) }
        case .delete(let entity):
            add(.delete(try reference(entity)), pending, ifMatch: try etag(entity))
            didChange([entity])
        case .createLink(let link), .updateLink(let link):
            let navigation = try navigation(link.navigation, of: link.from, in: operation)
            try addLink(from: link.from, navigation, to: link.to, pending)
        case .deleteLink(let link):
            let navigation = try navigation(link.navigation, of: link.from, in: operation)
            let target = navigation.isCollection ? try reference(link.to) : nil
            let source = try reference(link.from, having: navigation)
            add(.unlink(from: source, navigation: navigation, to: target), pending)
            didChange([link.from, link.to])
        }
    }

    mutating func setHeaders(of operation: Operation) throws(StateError) {
        headers = operation.headers.isEmpty ? .empty : HTTPHeaders(operation.headers.map { ($0.name, $0.value) })
        for template in operation.headerTemplates {
            if case .value(let value) = try resolver.fill(template) { headers.add(name: template.name, value: value) }
        }
    }

    // MARK: Links

    /// Adds a link that no body expresses.
    mutating func add(_ link: LinkContent, of entity: EntityID, _ pending: PendingOperation) throws(StateError) {
        guard let target = link.target else {
            didChange([entity])
            let source = try reference(entity, having: link.navigation)
            return add(.unlink(from: source, navigation: link.navigation, to: nil), pending)
        }
        try addLink(from: entity, link.navigation, to: target, pending)
    }

    /// Adds a link from the end whose URL refers to the new entity, if a body cannot.
    private mutating func addLink(
        from: EntityID, _ navigation: Property, to: EntityID, _ pending: PendingOperation
    ) throws(StateError) {
        if options.contentIDReferences != .urlsAndBodies, contentIDs[to] != nil, contentIDs[from] == nil,
            let partner = resolver.model.partner(of: navigation)
        {
            let source = try reference(to, having: partner)
            add(.link(from: source, navigation: partner, to: try reference(from)), pending)
        } else {
            let source = try reference(from, having: navigation)
            add(.link(from: source, navigation: navigation, to: try reference(to)), pending)
        }
        // A service may treat a link as a change of either end.
        didChange([from, to])
        if !options.supportsPatch { try follow(from, navigation, to) }
    }

    // MARK: Parts

    mutating func add(
        _ action: DataModification.Action, _ pending: PendingOperation, ifMatch: String? = nil,
        creates: NewEntity? = nil, stream: StreamWrite? = nil, streamLink: String? = nil
    ) {
        let contentID = String(nextContentID)
        // A logged batch may begin with any number.
        nextContentID &+= 1
        if let creates { contentIDs.updateValue(contentID, for: creates.id) }
        obstacle = options.obstacle(to: action) ?? obstacle
        // Changed in place, because a request is a large value.
        requests.append(
            PlannedRequest(
                contentID: contentID, operation: pending.sequence,
                modification: DataModification(action, ifMatch: ifMatch, headers: headers), creates: creates?.id,
                below: creates?.below ?? []))
        let last = requests.count - 1
        requests[last].called = pending.operation.called
        if let stream { requests[last].write(stream, of: pending.operation.subject, editLink: streamLink) }
    }

    func reference(_ entity: EntityID) throws(StateError) -> ResourceReference {
        if let contentID = contentIDs[entity] { return .contentID(contentID) }
        if knownLater.contains(entity) { return .url(try resolver.storage.set(of: entity) ?? "") }
        guard let reference = try resolver.reference(to: entity) else {
            throw StateError(.unsendable, "the request needs entity \(entity), which the service does not have")
        }
        return reference
    }

    /// Returns a reference to the entity whose URL can continue with the property.
    func reference(_ entity: EntityID, having property: Property) throws(StateError) -> ResourceReference {
        let reference = try reference(entity)
        guard let set = resolver.model.findEntitySet(try set(of: entity)) else { return reference }
        return reference.having(property, in: set, version: resolver.model.version)
    }

    /// Stores that the last request changed these entities.
    ///
    /// - Parameter result: The entity whose ETag the response to that request contains.
    mutating func didChange(_ entities: some Collection<EntityID>, etagOf result: EntityID? = nil) {
        if readsChanged { changed.add(entities, etagOf: result, contentID: requests.last?.contentID) }
    }

    /// Returns the value of `If-Match`: the ETag that the service had before the change set; for an entity that an
    /// earlier request changed, a reference to the ETag in its response (OData 4.01 Part 1, section 11.7.5), or `*` if
    /// the service does not support one.
    func etag(_ entity: EntityID) throws(StateError) -> String? {
        if options.refersToETags(resolver.model.version), let source = changed.etagSources[entity], try hasETag(entity)
        {
            return "$\(source)"
        }
        guard contentIDs[entity] == nil, let etag = try resolver.sharedServiceRow(entity)?.row.etag else { return nil }
        return changed.all.contains(entity) ? "*" : etag
    }

    /// Returns whether responses contain an ETag of the entity: it has one, or the metadata declare it for its set.
    private func hasETag(_ entity: EntityID) throws(StateError) -> Bool {
        guard contentIDs[entity] != nil else { return try resolver.sharedServiceRow(entity)?.row.etag != nil }
        return resolver.model.findEntitySet(try set(of: entity))?.hasOptimisticConcurrency == true
    }

    func set(of entity: EntityID) throws(StateError) -> String { try resolver.set(of: entity) ?? "" }

    func type(of entity: EntityID, in operation: Operation) throws(StateError) -> EntityType {
        if let type = try resolver.entityType(of: entity, in: operation) { return type }
        guard let type = resolver.model.findEntitySet(try set(of: entity))?.entityType else {
            throw missing("type of entity \(entity)")
        }
        return type
    }

    func navigation(_ name: String, of entity: EntityID, in operation: Operation) throws(StateError) -> Property {
        guard let property = try resolver.navigation(name, of: entity, in: operation) else {
            throw missing("navigation property \(name)")
        }
        return property
    }

    func property(_ name: String, of type: EntityType) throws(StateError) -> Property {
        guard let property = type.findProperty(name) else { throw missing("navigation property \(type.name)/\(name)") }
        return property
    }

    func missing(_ what: String) -> StateError {
        StateError(.noModel, "The metadata no longer has the \(what), which a pending operation uses.")
    }
}

extension PlannedRequest {
    /// Adds the content of a stream of the entity.
    fileprivate mutating func write(_ stream: StreamWrite, of subject: EntityID, editLink: String?) {
        modification.stream = StreamHead(stream, editLink: editLink)
        content = stream.content
        entity = subject
    }
}

extension ServiceOptions {
    /// Returns why the service does not support the references of the request to new entities, as the end of a
    /// sentence; nil if it does.
    fileprivate func obstacle(to action: DataModification.Action) -> String? {
        guard contentIDReferences != .urlsAndBodies else { return nil }
        let isNamedInBody = action.bodyReferences.contains(where: \.isBelowContentID)
        if contentIDReferences == .none, isNamedInBody || action.urlReference?.isBelowContentID == true {
            return
                "a request refers to an entity that another request creates, and the service does not support Content-ID references"
        }
        return isNamedInBody
            ? "a body refers to an entity that another request creates, and the service supports Content-ID references only in URLs"
            : nil
    }
}
