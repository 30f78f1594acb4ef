import EDM
import ODataWire
import Operations
import SyncCore
import Views

/// The entity ID of each draft of a call.
struct DraftTable {
    /// The drafts in the order in which their entities get IDs, which is usually that of their numbers.
    private(set) var created: [(number: Int, id: EntityID)] = []

    /// - Parameter capacity: The number of intents, which usually have one draft each.
    init(capacity: Int) { created.reserveCapacity(capacity) }

    /// Returns the entity of a draft, or nil if it does not have one yet.
    subscript(number: Int) -> EntityID? {
        guard let last = created.last else { return nil }
        let place = created.count &- 1 &- (last.number &- number)
        if created.indices.contains(place), created[place].number == number { return created[place].id }
        return created.last { $0.number == number }?.id
    }

    mutating func add(_ number: Int, _ id: EntityID) { created.append((number, id)) }
}

/// Converts intents, which refer to entities by addresses, to operations, which refer to them by IDs.
struct OperationBuilder {
    let state: WorkingSet
    let model: EntityDataModel
    let root: String?
    var drafts: DraftTable
    private var next: EntityID
    private var binder: ConstraintBinder { ConstraintBinder(storage: state, model: model) }

    init(state: WorkingSet, model: EntityDataModel, root: String?, drafts: DraftTable) throws {
        self.state = state
        self.model = model
        self.root = root
        self.drafts = drafts
        next = try state.nextEntity
    }

    /// Continues after the IDs of the last folded operation.
    mutating func advance() throws(StateError) {
        next = max(next, try state.nextEntity)
    }

    /// Returns the actions of an intent: usually one, and for an update with new entities one for each of them.
    mutating func actions(_ intent: Intent, sendsEmptyUpdate: Bool = false) throws -> [Operation.Action] {
        switch intent {
        case .create(let draft, let parent):
            return [try create(draft, in: try parent.map { try $0.map(entity) })]
        case .update(let address, let changes, let bindings, let inline):
            let id = try entity(address)
            var actions: [Operation.Action] = []
            // New entities are created in the updated one, because some may not exist without a partner, and no request
            // has to refer to an entity of another one.
            for level in inline {
                let parent = Parent(entity: id, navigation: level.navigation)
                for child in level.entities { actions.append(try create(child, in: parent)) }
            }
            let update = try binder.binding(
                .update(id, changes: changes, bindings: try bindings.map { try $0.map(entity) }))
            if case .update(_, _, let bindings) = update {
                let isEmpty = changes.isEmpty && bindings.isEmpty
                if !isEmpty || sendsEmptyUpdate && actions.isEmpty { actions.append(update) }
            }
            return actions
        case .delete(let address): return [.delete(try entity(address))]
        case .createLink(let from, let navigation, let to):
            return [.createLink(Link(from: try entity(from), navigation: navigation, to: try entity(to)))]
        case .updateLink(let from, let navigation, let to):
            return [.updateLink(Link(from: try entity(from), navigation: navigation, to: try entity(to)))]
        case .deleteLink(let from, let navigation, let to):
            let source = try entity(from)
            let target = try to.map { try entity($0) } ?? onlyTarget(of: source, navigation)
            return [.deleteLink(Link(from: source, navigation: navigation, to: target))]
        case .invoke(let draft): return [try effect(of: draft)]
        }
    }

    /// Returns the actions of an intent, with client-only changes separated from those for the service.
    mutating func parts(
        of intent: Intent, sendsEmptyUpdate: Bool
    ) throws -> [ClientOnlySplit.PartialAction] {
        // The usual case needs no list of actions.
        if !model.hasClientOnly, case .create(let draft, let parent) = intent {
            return [.init(try create(draft, in: try parent.map { try $0.map(entity) }), isClientOnly: false)]
        }
        let actions = try actions(intent, sendsEmptyUpdate: sendsEmptyUpdate)
        // The effect of a call is not sent.
        if case .invoke = intent { return actions.map { .init($0, isClientOnly: false) } }
        let split = ClientOnlySplit(storage: state, model: model)
        if actions.count == 1 { return try split.parts(of: actions[0]) }
        return try actions.flatMap { try split.parts(of: $0) }
    }

    /// Returns the entity that the app passed to the call. The last operation may concern another entity.
    func subject(of intent: Intent) throws -> EntityID? {
        switch intent {
        case .create: nil
        case .update(let address, _, _, _), .delete(let address): try entity(address)
        case .createLink(let from, _, _), .updateLink(let from, _, _), .deleteLink(let from, _, _): try entity(from)
        case .invoke(let draft):
            switch (draft.effect, draft.binding?.resource) {
            case (.update(let address, _, _), _), (.delete(let address), _), (.none, .entity(let address)):
                try entity(address)
            case (.none, .set), (.none, nil): nil
            }
        }
    }

    // MARK: Calls

    /// Returns the declared effect of a call: an update of the bound entity without changes if there is none.
    private func effect(of draft: ActionDraft) throws -> Operation.Action {
        switch draft.effect {
        case .update(let address, let changes, let bindings):
            return try binder.binding(
                .update(try entity(address), changes: changes, bindings: try bindings.map { try $0.map(entity) }))
        case .delete(let address): return .delete(try entity(address))
        case .none:
            guard case .entity(let address)? = draft.binding?.resource else {
                return .update(.unbound, changes: [:], bindings: [])
            }
            return .update(try entity(address), changes: [:], bindings: [])
        }
    }

    /// Returns the call of an intent.
    ///
    /// - Parameter isInChangeSet: Whether new entities of the intents before it are created in the same change set.
    private func call(_ intent: Intent, isInChangeSet: Bool) throws -> ActionCall? {
        guard case .invoke(let draft) = intent else { return nil }
        for (parameter, address) in draft.argumentAddresses {
            guard isInChangeSet, case .draft = address else { continue }
            throw OperationRefused(
                .notAllowed,
                "The parameter \(parameter) of \(draft.operation.name) is an entity that the same change set creates, which no body of an action can refer to.",
                recovery: "Create the entity in a change set before.")
        }
        return try draft.call { try entity($0) }
    }

    // MARK: Options

    /// Returns the operation for an action of the intent, with its options.
    func operation(
        _ action: Operation.Action, of intent: Intent, _ options: IntentOptions, changeSet: SequenceNumber?
    ) throws -> Operation {
        let call = try call(intent, isInChangeSet: changeSet != nil)
        return Operation(
            action, changeSet: changeSet, transactionID: options.transactionID,
            baseETag: try call.map { try $0.boundEntity.flatMap { try state.row($0)?.etag } } ?? etag(of: action),
            customTag: options.customTag,
            headers: options.headers.fields.map { .init(name: $0.name, value: $0.value) },
            headerTemplates: try options.headerTemplates.map { try template($0) },
            isUnmodifiable: options.isUnmodifiable,
            uploadCategory: try options.uploadCategory.map { try category($0, of: intent) },
            delivery: options.delivery, stream: options.stream, call: call)
    }

    private func template(_ draft: HeaderDraft) throws -> HeaderTemplate {
        HeaderTemplate(
            name: draft.name,
            parts: try draft.parts.map { part in
                switch part {
                case .text(let text): return .text(text)
                case .key(let address, let property):
                    let id = try entity(address)
                    let set = try state.set(of: id).flatMap { model.findEntitySet($0) }
                    guard let set, set.entityType.keyProperties.contains(where: { $0.name == property }) else {
                        throw OperationRefused(
                            .unknownProperty,
                            "The header \(draft.name) names \(property), which is not a key property of \(set?.name ?? "the entity's set").",
                            recovery: "Name a key property.")
                    }
                    return .key(id, property: property)
                }
            })
    }

    private func category(_ draft: CategoryDraft, of intent: Intent) throws -> UploadCategory {
        switch draft {
        case .named(let name): return .named(name)
        case .entity(let address): return .entity(try entity(address))
        case .created:
            guard case .create(let new, _) = intent, let id = drafts[new.number] else {
                throw OperationRefused(
                    .notAllowed, "The upload category refers to the new entity, but the call does not create one.",
                    recovery: "Set a category by name, or an entity that exists.")
            }
            return .entity(id)
        }
    }

    /// Returns the ETag of the version that was changed.
    func etag(of action: Operation.Action) throws -> String? {
        switch action {
        case .update(let id, _, _), .delete(let id): try state.row(id)?.etag
        default: nil
        }
    }

    // MARK: Drafts

    private mutating func create(_ draft: EntityDraft, in parent: Parent?) throws -> Operation.Action {
        var creation = try creation(draft)
        try binder.bind(&creation, in: parent)
        return .create(creation, parent: parent)
    }

    private mutating func creation(_ draft: EntityDraft) throws -> Creation {
        var creation = try draft.map { number in
            defer { next = EntityID(rawValue: next.rawValue &+ 1) }
            drafts.add(number, next)
            return next
        } reference: {
            try entity($0)
        }
        // Once for the record, the queue, the row and the result.
        creation.encodeValues(with: state.names)
        return creation
    }

    private func onlyTarget(of id: EntityID, _ navigation: String) throws -> EntityID {
        guard let row = try state.row(id), let property = model.findEntityType(row.type)?.findProperty(navigation),
            let end = property.navigation
        else {
            let set = try state.set(of: id) ?? "The entity's set"
            throw OperationRefused(.unknownNavigationProperty, "\(set) has no navigation property \(navigation).")
        }
        guard !property.isCollection else { throw OperationRefused.targetNeeded(property) }
        guard let target = try state.targets(of: id, along: end).first else {
            throw OperationRefused(
                .linkNotFound, "\(try state.name(of: id, model)) is not linked to anything by \(navigation).",
                recovery: "Check the links of the entity; none can be removed.")
        }
        return target
    }

    // MARK: Addresses

    func entity(_ address: EntityAddress) throws -> EntityID {
        switch address {
        case .draft(let number):
            guard let id = drafts[number] else {
                throw OperationRefused(
                    .entityNotFound,
                    "The operation refers to an entity that is neither in the store nor created earlier in the change set.",
                    recovery: "Create the entity first, in the same change set or before it.")
            }
            return id
        case .link, .key, .id: return try AddressResolver(state: state, model: model, root: root).entity(address)
        }
    }
}
