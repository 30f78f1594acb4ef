import EDM
import ODataWire
import SyncCore
import SyncEngine

/// Modifications as requests to the service: single requests, or a change set as one batch.
struct OnlineModification {
    private let session: ServiceSession
    private let model: EntityDataModel
    private let encoder: RequestEncoder
    private let reading: OnlineReader

    private let options: ServiceOptions
    private let form: OnlineRewriter

    init(session: ServiceSession, model: EntityDataModel, options: ServiceOptions) {
        self.session = session
        self.model = model
        self.options = options
        encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: session.root, options: options)
        reading = OnlineReader(session: session, model: model)
        form = OnlineRewriter(session: session, model: model, options: options, encoder: encoder)
    }

    /// One request of an intent, and the draft that it creates.
    struct Step {
        let modification: DataModification
        let creates: EntityDraft?
    }

    func single(_ intent: Intent, _ options: IntentOptions) async throws(TidelogError) -> IntentResult {
        var writer = StepWriter(model: model, service: self.options)
        let steps = try writer.steps(intent, options)
        // An intent with several requests is a change set, so that it is never executed partially.
        guard steps.count == 1, let step = steps.first else { return try await changeSet([(intent, options)])[0] }
        let request = encoder.encode(try await form.adapted(step.modification))
        let response = try await session.modify(request)
        try ServiceSession.check(response, request.method, request.url)
        var result = IntentResult()
        add(step, response, to: &result)
        return result
    }

    func changeSet(_ intents: [(intent: Intent, options: IntentOptions)]) async throws(TidelogError) -> [IntentResult] {
        let changeSet = try await requests(of: intents)
        guard options.supportsBatch || changeSet.members.count != 1 else {
            let request = encoder.encode(try await form.adapted(changeSet.steps[0].step.modification))
            let response = try await session.modify(request)
            try ServiceSession.check(response, request.method, request.url)
            return try results(of: changeSet, [response])
        }
        let batch = BatchRequest(parts: [.changeSet(changeSet.members)])
        let outcome = try await OnlineBatch(session: session, encoder: encoder, options: options).send(batch).first
        guard case .changeSet(let answered)? = outcome else { throw OnlineBatch.unanswered }
        return try results(of: changeSet, try OnlineBatch.responses(of: answered))
    }

    /// A change set as requests.
    struct Requests {
        let members: [BatchPart.Member]
        /// The step of each member, with the index of its intent.
        fileprivate let steps: [(intent: Int, step: Step)]
        fileprivate let intents: Int
    }

    /// - Parameter first: the first Content-ID. Content-IDs are unique in a batch.
    func requests(
        of intents: [(intent: Intent, options: IntentOptions)], from first: Int = 1
    ) async throws(TidelogError) -> Requests {
        var writer = StepWriter(model: model, service: options, first: first)
        var steps: [(intent: Int, step: Step)] = []
        for (index, item) in intents.enumerated() {
            steps += try writer.steps(item.intent, item.options).map { (index, $0) }
        }
        var members: [BatchPart.Member] = []
        var adapted: [DataModification] = []
        for (number, item) in zip(first..., steps) {
            adapted.append(try await form.adapted(item.step.modification, after: adapted))
            let request = encoder.encode(adapted[adapted.count - 1])
            members.append(BatchPart.Member(contentID: String(number), request: request.asBatchPart))
        }
        return Requests(members: members, steps: steps, intents: intents.count)
    }

    func results(of changeSet: Requests, _ responses: [WireResponse]) throws(TidelogError) -> [IntentResult] {
        var results = Array(repeating: IntentResult(), count: changeSet.intents)
        for ((index, step), response) in zip(changeSet.steps, responses) { add(step, response, to: &results[index]) }
        return results
    }

    /// Adds the entity of a response to the result: its representation, or at least its key.
    private func add(_ step: Step, _ response: WireResponse, to result: inout IntentResult) {
        switch step.modification.action {
        case .create, .createRelated:
            guard let draft = step.creates, let set = model.findEntitySet(draft.set),
                let type = model.findEntityType(draft.type)
            else { return }
            if !response.body.isEmpty,
                let payload = try? PayloadReader(version: model.version, model: model, limits: session.limits.reading)
                    .entity(response.body, type: type)
            {
                let place = set.isContained ? response.headers["Location"].map(OnlineReader.Place.entity) : nil
                result.entities[draft.number] = reading.snapshot(payload, type, set, at: place)
            } else {
                let link = response.headers["OData-EntityId"] ?? response.headers["Location"] ?? ""
                result.entities[draft.number] = EntitySnapshot(
                    set: set.name, type: type.name, values: draft.values, etag: response.headers["ETag"],
                    readLink: link,
                    editLink: response.headers["Location"] ?? link)
            }
        case .update(_, let body, _):
            let type = body.type
            let set = model.entitySets.first { $0.entityType == (body.declaredType ?? type) }
            if response.status == 200, !response.body.isEmpty,
                let payload = try? PayloadReader(version: model.version, model: model, limits: session.limits.reading)
                    .entity(response.body, type: type)
            {
                result.entities[IntentResult.subject] = reading.snapshot(payload, type, set)
            } else {
                result.etag = response.headers["ETag"]
            }
        case .delete, .link, .unlink: return
        case .invoke(let invocation):
            // The action has taken effect, whether its result can be read or not.
            result.returned =
                (try? OnlineInvocation(session: session, model: model, options: options).answer(
                    of: invocation, response)) ?? .nothing
        }
    }
}

/// Translates intents into requests, with `$<Content-ID>` for entities that earlier requests of the change set
/// create.
private struct StepWriter {
    let model: EntityDataModel
    let service: ServiceOptions
    private var contentIDs: [Int: String] = [:]
    private var drafts: [Int: EntityDraft] = [:]
    private var count: Int

    /// - Parameter first: the first Content-ID.
    init(model: EntityDataModel, service: ServiceOptions, first: Int = 1) {
        self.model = model
        self.service = service
        count = first - 1
    }

    mutating func steps(_ intent: Intent, _ options: IntentOptions) throws(TidelogError) -> [OnlineModification.Step] {
        var steps: [OnlineModification.Step] = []
        switch intent {
        case .create(let draft, let parent):
            guard let set = model.findEntitySet(draft.set) else { throw unknown("entity set \(draft.set)") }
            var separate: [(Property, EntityDraft)] = []
            let body = try body(draft, set.entityType, &separate)
            if let parent {
                let navigation = try navigation(parent.navigation, of: parent.entity, fallback: set)
                if navigation.isCollection {
                    add(
                        .createRelated(in: try reference(parent.entity), navigation: navigation, body), options, draft,
                        &steps)
                } else {
                    add(.create(in: set, body), options, draft, &steps)
                    add(
                        .link(
                            from: try reference(parent.entity), navigation: navigation,
                            to: try reference(.draft(draft.number))), options, nil, &steps)
                }
            } else {
                add(.create(in: set, body), options, draft, &steps)
            }
            try addBelow(draft, separate, options, &steps)
        case .update(let address, let changes, var bindings, let inline):
            for level in inline {
                for child in level.entities {
                    steps += try self.steps(.create(child, in: nil), options)
                    bindings.append(BindingDraft(navigation: level.navigation, targets: [.draft(child.number)]))
                }
            }
            let set = try set(of: address)
            let body = EntityBody(
                type: set.entityType, declaredType: set.entityType, values: changes,
                bindings: try bodyBindings(bindings, set.entityType))
            add(.update(try reference(address), body, replaces: false), options, nil, &steps, isConditional: true)
        case .delete(let address): add(.delete(try reference(address)), options, nil, &steps, isConditional: true)
        case .createLink(let from, let name, let to), .updateLink(let from, let name, let to):
            let navigation = try navigation(name, of: from, fallback: nil)
            add(.link(from: try reference(from), navigation: navigation, to: try reference(to)), options, nil, &steps)
        case .deleteLink(let from, let name, let to):
            let navigation = try navigation(name, of: from, fallback: nil)
            let target: ResourceReference? = if let to, navigation.isCollection { try reference(to) } else { nil }
            add(.unlink(from: try reference(from), navigation: navigation, to: target), options, nil, &steps)
        case .invoke(let draft):
            for (parameter, address) in draft.argumentAddresses {
                guard case .draft = address else { continue }
                throw TidelogError(
                    .refused(.notAllowed),
                    "The parameter \(parameter) of \(draft.operation.name) is an entity that the same change set creates, which no body of an action can refer to.",
                    recovery: "Create the entity in a change set before.")
            }
            let invocation = try draft.invocation { address throws(TidelogError) in try reference(address) }
            add(.invoke(invocation), options, nil, &steps, isConditional: !model.version.isLegacy)
        }
        return steps
    }

    private mutating func add(
        _ action: DataModification.Action, _ options: IntentOptions, _ draft: EntityDraft?,
        _ steps: inout [OnlineModification.Step], isConditional: Bool = false
    ) {
        count += 1
        if let draft {
            contentIDs[draft.number] = String(count)
            drafts[draft.number] = draft
        }
        let modification = DataModification(
            action, ifMatch: isConditional ? options.ifMatch : nil, headers: options.headers)
        steps.append(OnlineModification.Step(modification: modification, creates: draft))
    }

    /// Adds the new entities of collections recursively, each after its owner.
    private mutating func addBelow(
        _ owner: EntityDraft, _ children: [(Property, EntityDraft)], _ options: IntentOptions,
        _ steps: inout [OnlineModification.Step]
    ) throws(TidelogError) {
        for (navigation, child) in children {
            guard let set = model.findEntitySet(child.set) else { throw unknown("entity set \(child.set)") }
            var deeper: [(Property, EntityDraft)] = []
            let body = try body(child, set.entityType, &deeper)
            add(
                .createRelated(in: try reference(.draft(owner.number)), navigation: navigation, body), options, child,
                &steps)
            try addBelow(child, deeper, options, &steps)
        }
    }

    // MARK: Bodies

    private func body(
        _ draft: EntityDraft, _ declared: EntityType, _ separate: inout [(Property, EntityDraft)]
    ) throws(TidelogError) -> EntityBody {
        guard let type = model.findEntityType(draft.type) else { throw unknown("entity type \(draft.type)") }
        var inline: [EntityBody.InlineEntities] = []
        for level in draft.inline {
            guard let navigation = type.findProperty(level.navigation) else {
                throw unknown("property \(level.navigation)")
            }
            if navigation.isCollection, service.deepInsertToMany == .split {
                separate += level.entities.map { (navigation, $0) }
            } else {
                let target = navigation.navigation.flatMap { model.findEntityType($0.targetType) } ?? type
                var bodies: [EntityBody] = []
                for child in level.entities {
                    var below: [(Property, EntityDraft)] = []
                    bodies.append(try body(child, target, &below))
                    // An inline entity has no Content-ID by which separate requests could name it as their owner.
                    guard below.isEmpty else {
                        throw TidelogError(
                            .unsupported, "A new entity in \(level.navigation) contains a collection of new entities.",
                            recovery: "Create it first, or in a change set before the entities that are linked to it.")
                    }
                }
                inline.append(EntityBody.InlineEntities(navigation: navigation, entities: bodies))
            }
        }
        return EntityBody(
            type: type, declaredType: declared, values: draft.values, bindings: try bodyBindings(draft.bindings, type),
            inline: inline)
    }

    private func bodyBindings(_ bindings: [BindingDraft], _ type: EntityType) throws(TidelogError) -> [EntityBody
        .Binding]
    {
        var result: [EntityBody.Binding] = []
        for binding in bindings {
            guard let navigation = type.findProperty(binding.navigation) else {
                throw unknown("property \(binding.navigation)")
            }
            var targets: [ResourceReference] = []
            for target in binding.targets { targets.append(try reference(target)) }
            result.append(EntityBody.Binding(navigation: navigation, targets: targets))
        }
        return result
    }

    // MARK: References

    private func reference(_ address: EntityAddress) throws(TidelogError) -> ResourceReference {
        switch address {
        case .link(let url): return .url(url)
        case .key(let name, let key):
            guard let set = model.findEntitySet(name) else { throw unknown("entity set \(name)") }
            return .entity(set: set, key: key)
        case .draft(let number):
            guard let contentID = contentIDs[number] else {
                throw TidelogError(
                    .refused(.entityNotFound), "The call refers to an entity that is neither saved nor created before.",
                    recovery: "Create the entity first, in the same change set or before it.")
            }
            return .contentID(contentID)
        case .id(let id): throw .onlyInStore(id)
        }
    }

    private func set(of address: EntityAddress) throws(TidelogError) -> EntitySet {
        switch address {
        case .draft(let number):
            if let set = drafts[number].flatMap({ model.findEntitySet($0.set) }) { return set }
        case .key(let name, _):
            if let set = model.findEntitySet(name) { return set }
        case .link(let url):
            // The last segment without its key is the set's name, whatever root precedes it.
            let request = try? ServiceRequest.parse(url, model: model, version: model.version)
            if let path = request.flatMap({ ContainmentPath($0.path, model) }), path.set.isContained { return path.set }
            let path = url.prefix { $0 != "?" }.split(separator: "/").last ?? ""
            if let set = model.findEntitySet(String(path.prefix { $0 != "(" })) { return set }
        case .id(let id): throw .onlyInStore(id)
        }
        throw TidelogError(.invalidRequest, "The link of the entity does not determine its entity set.")
    }

    private func navigation(
        _ name: String, of address: EntityAddress, fallback: EntitySet?
    ) throws(TidelogError) -> Property {
        let type = try set(of: address).entityType
        guard let property = type.findProperty(name), property.isNavigation else {
            throw TidelogError(.refused(.unknownNavigationProperty), "\(type.name) has no navigation property \(name).")
        }
        return property
    }

    private func unknown(_ what: String) -> TidelogError {
        TidelogError(.refused(.unknownProperty), "The service has no \(what).")
    }
}
