public import EDM

/// A local intent: a modification by the app, in terms of entity IDs.
///
/// An operation is pending until the log records its outcome: confirmed, rejected or undone.
/// All copies share their values, because operations are copied often and rarely changed.
@usableFromInline
package struct Operation: Sendable, Hashable {
    @usableFromInline
    package enum Action: Sendable, Hashable {
        /// A new entity and, with a parent, the link to it (`createRelatedEntity`).
        ///
        /// Indirect, because actions are copied often and should be small.
        indirect case create(Creation, parent: Parent?)
        /// Changed properties only. The bindings set single-valued navigation properties or add to collections.
        case update(EntityID, changes: PropertyValues, bindings: [Binding])
        case delete(EntityID)
        case createLink(Link)
        /// Replaces the target of a single-valued navigation property.
        case updateLink(Link)
        case deleteLink(Link)
    }

    @usableFromInline var values: OperationValues

    @inlinable package var action: Action {
        _read { yield values.action }
        set { setAction(newValue) }
    }

    /// The first sequence number of the operation's change set in the app. The members of a change set are
    /// consecutive and are sent together or not at all.
    package var changeSet: SequenceNumber? {
        get { values.changeSet }
        set { values = OperationValues(action, newValue, baseETag, values.rare) }
    }

    /// The ETag of the version on which the app based the change; `nil` if the entity has none or is new.
    package var baseETag: String? {
        get { values.baseETag }
        set { values = OperationValues(action, changeSet, newValue, values.rare) }
    }

    @usableFromInline
    mutating func setAction(_ action: Action) { values = OperationValues(action, changeSet, baseETag, values.rare) }

    package struct Header: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package init(
        _ action: Action, changeSet: SequenceNumber? = nil, transactionID: String? = nil, baseETag: String? = nil,
        customTag: String? = nil, headers: [Header] = [], headerTemplates: [HeaderTemplate] = [],
        isUnmodifiable: Bool = false, uploadCategory: UploadCategory? = nil, delivery: Delivery = .queued,
        stream: StreamWrite? = nil, call: ActionCall? = nil
    ) {
        let rare = RareAttributes(
            transactionID: transactionID, customTag: customTag, headers: headers, headerTemplates: headerTemplates,
            isUnmodifiable: isUnmodifiable, uploadCategory: uploadCategory, delivery: delivery, stream: stream,
            call: call)
        values = OperationValues(action, changeSet, baseETag, rare.isEmpty ? [] : [rare])
    }

    /// Creates an operation without rare attributes.
    init(plain action: Action, changeSet: SequenceNumber?, baseETag: String?) {
        values = OperationValues(action, changeSet, baseETag, [])
    }

    @usableFromInline
    package static func == (a: Operation, b: Operation) -> Bool {
        let (a, b) = (a.values, b.values)
        return a === b
            || a.action == b.action && a.changeSet == b.changeSet && a.baseETag == b.baseETag && a.rare == b.rare
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        hasher.combine(values.action)
        hasher.combine(values.changeSet)
        hasher.combine(values.baseETag)
        hasher.combine(values.rare)
    }
}

/// The values of an operation.
@usableFromInline
final class OperationValues: Sendable {
    @usableFromInline let action: Operation.Action
    let changeSet: SequenceNumber?
    let baseETag: String?
    /// Contains one element if the operation has rare attributes.
    fileprivate let rare: [RareAttributes]

    fileprivate init(
        _ action: Operation.Action, _ changeSet: SequenceNumber?, _ baseETag: String?, _ rare: [RareAttributes]
    ) {
        self.action = action
        self.changeSet = changeSet
        self.baseETag = baseETag
        self.rare = rare
    }
}

// MARK: Rare attributes

private struct RareAttributes: Sendable, Hashable {
    var transactionID: String?
    var customTag: String?
    var headers: [Operation.Header] = []
    var headerTemplates: [HeaderTemplate] = []
    var isUnmodifiable = false
    var uploadCategory: UploadCategory?
    var delivery = Delivery.queued
    var stream: StreamWrite?
    var call: ActionCall?

    var isEmpty: Bool {
        transactionID == nil && customTag == nil && headers.isEmpty && headerTemplates.isEmpty && !isUnmodifiable
            && uploadCategory == nil && delivery == .queued && stream == nil && call == nil
    }
}

extension Operation {
    /// Whether it has an attribute that few operations have.
    var hasRareAttributes: Bool { !values.rare.isEmpty }

    /// The app's transaction, whose operations are sent in one change set from any positions in the queue; see
    /// ``changeSet`` for operations of one call.
    package var transactionID: String? {
        get { values.rare.first?.transactionID }
        set { setRare(\.transactionID, newValue) }
    }

    /// A tag set by the app, which is returned with errors.
    package var customTag: String? {
        get { values.rare.first?.customTag }
        set { setRare(\.customTag, newValue) }
    }

    /// The app's headers for this request, sent unchanged.
    package var headers: [Header] {
        get { values.rare.first?.headers ?? [] }
        set { setRare(\.headers, newValue) }
    }

    /// Headers that contain keys of entities, sent once the keys are known.
    package var headerTemplates: [HeaderTemplate] {
        get { values.rare.first?.headerTemplates ?? [] }
        set { setRare(\.headerTemplates, newValue) }
    }

    /// Whether the request must be sent exactly as it was made, not combined with other operations.
    package var isUnmodifiable: Bool {
        get { values.rare.first?.isUnmodifiable ?? false }
        set { setRare(\.isUnmodifiable, newValue) }
    }

    /// The category by which an upload can select the operation.
    package var uploadCategory: UploadCategory? {
        get { values.rare.first?.uploadCategory }
        set { setRare(\.uploadCategory, newValue) }
    }

    package var delivery: Delivery {
        get { values.rare.first?.delivery ?? .queued }
        set { setRare(\.delivery, newValue) }
    }

    /// The stream content that a create or update writes; `nil` for all operations on properties and links.
    ///
    /// A create with a stream has no properties: the service accepts only the bytes, and a following update contains
    /// the rest.
    package var stream: StreamWrite? {
        get { values.rare.first?.stream }
        set { setRare(\.stream, newValue) }
    }

    /// The action of the service that the operation calls; `nil` for all operations that modify data directly.
    ///
    /// The ``action`` of a call is its declared effect: an update or a deletion, which no request expresses.
    package var call: ActionCall? {
        get { values.rare.first?.call }
        set { setRare(\.call, newValue) }
    }

    private mutating func setRare<Attribute>(
        _ attribute: WritableKeyPath<RareAttributes, Attribute>, _ value: Attribute
    ) {
        var changed = values.rare.first ?? RareAttributes()
        changed[keyPath: attribute] = value
        // Normalizes, so that equal operations have equal parts.
        values = OperationValues(action, changeSet, baseETag, changed.isEmpty ? [] : [changed])
    }
}

/// A link between two entities by a navigation property of the first.
@usableFromInline
package struct Link: Sendable, Hashable {
    package var from: EntityID
    package var navigation: String
    package var to: EntityID

    package init(from: EntityID, navigation: String, to: EntityID) {
        self.from = from
        self.navigation = navigation
        self.to = to
    }
}

extension Operation {
    /// The entities that the operation creates.
    package var createdEntities: [EntityID] {
        if case .create(let creation, _) = action { creation.createdEntities } else { [] }
    }

    /// The entity that the operation creates; `nil` if it creates none or several. Unlike a pattern with the whole
    /// creation, this copies nothing.
    package var onlyCreatedEntity: EntityID? {
        switch action {
        case .create(let creation, _) where creation.inline.isEmpty: creation.entity
        default: nil
        }
    }

    /// The entities that must exist for the operation: those that it changes, deletes, links or binds to.
    package var referencedEntities: [EntityID] {
        var own: [EntityID]
        switch action {
        case .create(let creation, let parent):
            own = creation.boundEntities
            if let parent { own.append(parent.entity) }
        case .update(let entity, _, let bindings):
            own = [entity]
            for binding in bindings { own += binding.targets }
        case .delete(let entity): own = [entity]
        case .createLink(let link), .updateLink(let link), .deleteLink(let link): own = [link.from, link.to]
        }
        guard let call else { return own }
        var all = own.filter { $0 != .unbound }
        for entity in (call.boundEntity.map { [$0] } ?? []) + call.argumentEntities where !all.contains(entity) {
            all.append(entity)
        }
        return all
    }

    /// Calls the closure for each referenced entity, without allocating a list for the usual single entity.
    package func forEachReferenced(_ body: (EntityID) -> Void) {
        switch action {
        case _ where call != nil: referencedEntities.forEach(body)
        case .update(let entity, _, let bindings) where bindings.isEmpty: body(entity)
        case .delete(let entity): body(entity)
        case .create, .update, .createLink, .updateLink, .deleteLink: referencedEntities.forEach(body)
        }
    }

    /// All entities that the operation names, created and referenced.
    package var touchedEntities: [EntityID] { createdEntities + referencedEntities }

    /// Calls the closure for each touched entity, without allocating a list for the usual single entity.
    package func forEachTouched(_ body: (EntityID) -> Void) {
        switch action {
        case _ where call != nil: touchedEntities.forEach(body)
        case .update(let entity, _, let bindings) where bindings.isEmpty: body(entity)
        case .delete(let entity): body(entity)
        case .create(let creation, let parent) where creation.inline.isEmpty:
            body(creation.entity)
            for binding in creation.bindings { binding.targets.forEach(body) }
            if let parent { body(parent.entity) }
        case .create, .update, .createLink, .updateLink, .deleteLink: touchedEntities.forEach(body)
        }
    }

    /// The main entity of the operation; ``EntityID/unbound`` for a call that is not about an entity.
    package var subject: EntityID {
        switch action {
        case .create(let creation, _): creation.entity
        case .update(let entity, _, _), .delete(let entity): entity
        case .createLink(let link), .updateLink(let link), .deleteLink(let link): link.from
        }
    }
}
