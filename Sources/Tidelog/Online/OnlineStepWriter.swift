import EDM
import ODataWire
import OfflineStore
import SyncCore

/// Translates intents into requests, with `$<Content-ID>` for entities that earlier requests of the change set
/// create.
package struct OnlineStepWriter {
    private let model: EntityDataModel
    private let service: ServiceOptions
    private let addresses: OnlineAddresses
    private var contentIDs: [Int: String] = [:]
    private var drafts: [Int: EntityDraft] = [:]
    private var count: Int
    private var intent = 0
    private var steps: [OnlineStep] = []

    /// - Parameters:
    ///   - service: the capabilities of the service.
    ///   - first: the first Content-ID.
    package init(model: EntityDataModel, service: ServiceOptions, first: Int = 1) {
        self.model = model
        self.service = service.resolved(for: model.version)
        addresses = OnlineAddresses(model: model)
        count = first - 1
    }

    /// Returns the requests of intents that take effect together.
    package mutating func steps(
        _ intents: [(intent: Intent, options: IntentOptions)]
    ) throws(TidelogError) -> [OnlineStep] {
        steps = []
        for (index, item) in intents.enumerated() {
            intent = index
            try add(item.intent, item.options)
        }
        return OnlineReferenceForms(model: model, service: service).rewritten(steps).map(cast)
    }

    /// The number after the last Content-ID.
    var next: Int { count + 1 }

    // MARK: Intents

    private mutating func add(_ intent: Intent, _ options: IntentOptions) throws(TidelogError) {
        switch intent {
        case .create(let draft, let parent): try create(draft, in: parent, options)
        case .update(let address, let changes, let bindings, let inline):
            try update(address, changes, bindings, inline, options)
        case .delete(let address): try add(.delete(try reference(address)), options, isConditional: true)
        case .createLink(let from, let name, let to), .updateLink(let from, let name, let to):
            let navigation = try navigation(name, of: from, options)
            try add(.link(from: try reference(from), navigation: navigation, to: try reference(to)), options)
        case .deleteLink(let from, let name, let to):
            let navigation = try navigation(name, of: from, options)
            let target: ResourceReference? = if let to, navigation.isCollection { try reference(to) } else { nil }
            try add(.unlink(from: try reference(from), navigation: navigation, to: target), options)
        case .invoke(let draft): try invoke(draft, options)
        }
    }

    private mutating func create(
        _ draft: EntityDraft, in parent: Intent.Parent?, _ options: IntentOptions
    ) throws(TidelogError) {
        let set = try set(draft.set)
        if options.stream != nil { try checkIsMedia(draft) }
        let path = try parent.map { parent throws(TidelogError) in
            try self.navigation(parent.navigation, of: parent.entity, options)
        }
        var (body, creation, after) = try body(draft, set.entityType, options, through: path)
        guard let parent else {
            try add(.create(in: set, body), options, creation, draft)
            return try addBelow(draft, after, options)
        }
        let navigation = try navigation(parent.navigation, of: parent.entity, options)
        let owner = try reference(parent.entity)
        guard options.stream == nil || navigation.isCollection else {
            throw TidelogError(
                .unsupported,
                "A media entity is created by a request of its own (OData 4.01 Part 1, section 11.4.7.1; MS-ODATA 2.2.7.1.3), which cannot set \(navigation.name), a single-valued property, as well.",
                recovery: "Create the media entity first, and link it in another call.")
        }
        if navigation.isCollection {
            try add(.createRelated(in: owner, navigation: navigation, body), options, creation, draft)
        } else if service.contentIDReferences != .urlsAndBodies, service.supportsBind,
            let partner = model.partner(of: navigation)
        {
            // The link from the other end needs no reference to the new entity.
            body.bindings.append(EntityBody.Binding(navigation: partner, targets: [owner]))
            try add(.create(in: set, body), options, creation, draft)
        } else {
            try add(.create(in: set, body), options, creation, draft)
            try add(.link(from: owner, navigation: navigation, to: try reference(.draft(draft.number))), options)
        }
        try addBelow(draft, after, options)
    }

    private mutating func update(
        _ address: EntityAddress, _ changes: PropertyValues, _ bound: [BindingDraft], _ inline: [InlineDraft],
        _ options: IntentOptions
    ) throws(TidelogError) {
        let declared = try setOf(address).entityType
        let type = try type(of: address, options)
        let target = try reference(address)
        if let stream = options.stream {
            try checkHasStream(stream.property, type)
            let body = EntityBody(type: type, declaredType: declared, values: [:])
            return try add(.update(target, body, replaces: true), options, isConditional: true)
        }
        var bindings = bound
        var members: [(child: EntityDraft, collection: String)] = []
        for level in inline {
            let navigation = try navigation(level.navigation, of: address, options)
            for child in level.entities {
                // The creation in a collection links the new entity without a reference to it. It may change the ETag
                // of the owner, so it follows the update.
                guard !navigation.isCollection else {
                    members.append((child, level.navigation))
                    continue
                }
                if service.contentIDReferences != .urlsAndBodies, service.supportsBind,
                    let partner = model.partner(of: navigation)
                {
                    var child = child
                    child.bindings.append(BindingDraft(navigation: partner.name, targets: [address]))
                    try create(child, in: nil, options.forRelated)
                    continue
                }
                try create(child, in: nil, options.forRelated)
                bindings.append(BindingDraft(navigation: level.navigation, targets: [.draft(child.number)]))
            }
        }
        if !changes.isEmpty || !bindings.isEmpty || inline.isEmpty {
            // A PUT replaces complex values as a whole.
            let values =
                service.supportsPatch ? changes.replacing(options.formerValues, of: type, model) : changes
            let body = EntityBody(
                type: type, declaredType: declared, values: values, bindings: try bodyBindings(bindings, type))
            try add(.update(target, body, replaces: false), options, isConditional: true)
        }
        for (child, collection) in members {
            try create(child, in: Intent.Parent(entity: address, navigation: collection), options.forRelated)
        }
    }

    private mutating func invoke(_ draft: ActionDraft, _ options: IntentOptions) throws(TidelogError) {
        for (parameter, address) in draft.argumentAddresses {
            guard case .draft = address else { continue }
            throw TidelogError(
                .refused(.notAllowed),
                "The parameter \(parameter) of \(draft.operation.name) is an entity that the same change set creates, which no body of an action can refer to.",
                recovery: "Create the entity in a change set before.")
        }
        let invocation = try draft.invocation { address throws(TidelogError) in try reference(address) }
        try add(.invoke(invocation), options, isConditional: !model.version.isLegacy)
    }

    private mutating func add(
        _ action: DataModification.Action, _ options: IntentOptions, _ creation: OnlineCreation? = nil,
        _ draft: EntityDraft? = nil, isConditional: Bool = false
    ) throws(TidelogError) {
        count += 1
        if let draft {
            contentIDs[draft.number] = String(count)
            drafts[draft.number] = draft
        }
        var modification = DataModification(
            action, ifMatch: isConditional ? options.ifMatch : nil, headers: try addresses.headers(options))
        modification.stream = options.stream.map {
            StreamHead(
                property: $0.property, mediaType: $0.content?.mediaType, name: $0.content?.name,
                editLink: options.streamLink)
        }
        steps.append(
            OnlineStep(
                modification: modification, contentID: String(count), intent: intent, creation: creation,
                content: options.streamContent))
    }

    /// Adds the new entities of collections recursively, each after its owner.
    private mutating func addBelow(
        _ owner: EntityDraft, _ children: [(Property, EntityDraft)], _ options: IntentOptions
    ) throws(TidelogError) {
        for (navigation, child) in children {
            try create(
                child, in: Intent.Parent(entity: .draft(owner.number), navigation: navigation.name), options.forRelated)
        }
    }

    // MARK: Bodies

    /// Whether new entities of a collection are in the body of their owner: because the service supports it, or because
    /// it supports no separate requests that could name the owner.
    private var nestsCollections: Bool {
        switch service.deepInsertToMany {
        case .split: !service.supportsBatch || service.contentIDReferences == .none
        case .inOrder: true
        case .contentID: !model.version.isLegacy || !service.supportsBatch || service.contentIDReferences == .none
        }
    }

    /// Returns the body of a create, and the new entities that are created in requests after it.
    private mutating func body(
        _ draft: EntityDraft, _ declared: EntityType, _ options: IntentOptions, isInside: Bool = false,
        through owner: Property? = nil
    ) throws(TidelogError) -> (EntityBody, OnlineCreation, after: [(Property, EntityDraft)]) {
        guard let type = model.findEntityType(draft.type) else { throw .unknownAtService("entity type \(draft.type)") }
        var creation = OnlineCreation(draft)
        var body = EntityBody(type: type, declaredType: declared, values: draft.values)
        var bindings = draft.bindings
        var after: [(Property, EntityDraft)] = []
        for level in draft.inline {
            guard let navigation = type.findProperty(level.navigation) else {
                throw .unknownAtService("property \(level.navigation)")
            }
            if navigation.isCollection, !nestsCollections, !isInside {
                after += level.entities.map { (navigation, $0) }
                continue
            }
            if !navigation.isCollection, !nestsCollections, !isInside, navigation.navigation?.containsTarget != true,
                level.entities.contains(where: { hasCollection($0) })
            {
                // Its own collections are created by requests that name it.
                for child in level.entities {
                    try create(child, in: nil, options.forRelated)
                    bindings.append(BindingDraft(navigation: level.navigation, targets: [.draft(child.number)]))
                }
                continue
            }
            let target = navigation.navigation.flatMap { model.findEntityType($0.targetType) } ?? type
            var level = (bodies: [EntityBody](), creations: [OnlineCreation](), drafts: level.entities)
            for child in level.drafts {
                var (childBody, below, _) = try self.body(
                    child, target, options, isInside: true, through: navigation)
                if navigation.isCollection, service.deepInsertToMany == .contentID, !model.version.isLegacy {
                    childBody.contentID = String(child.number)
                }
                level.bodies.append(childBody)
                level.creations.append(below)
            }
            body.inline.append(EntityBody.InlineEntities(navigation: navigation, entities: level.bodies))
            creation.below.append(OnlineCreation.Level(navigation: navigation, entities: level.creations))
        }
        body.bindings = try bodyBindings(bindings, type)
        body.bindings += keyTargets(of: draft, type, body, through: owner)
        return (body, creation, after)
    }

    /// Returns the targets whose keys are part of the new entity's key, unless the body includes them (OData 4.01 Part
    /// 1, section 11.4.2).
    private func keyTargets(
        of draft: EntityDraft, _ type: EntityType, _ body: EntityBody, through owner: Property?
    ) -> [EntityBody.Binding] {
        guard service.supportsBind, let set = model.findEntitySet(draft.set) else { return [] }
        let known = body.bindings.map(\.navigation.name) + body.inline.map(\.navigation.name)
        return KeyReference.all(of: type, in: set, model).compactMap { item in
            guard !known.contains(item.navigation.name),
                item.navigation.navigation?.relationship.name != owner?.navigation?.relationship.name,
                let named = item.principalValues(draft.values)
            else { return nil }
            let new = drafts.filter { _, other in
                other.set == item.set.name && named.allSatisfy { other.values[$0.name] == $0.value }
            }
            guard let number = new.keys.min() else {
                return item.reference(draft.values).map { .init(navigation: item.navigation, targets: [$0]) }
            }
            // Without references in bodies, the service determines the target by the key.
            guard let contentID = contentIDs[number], service.contentIDReferences == .urlsAndBodies else { return nil }
            return .init(navigation: item.navigation, targets: [.contentID(contentID)])
        }
    }

    private func hasCollection(_ draft: EntityDraft) -> Bool {
        let type = model.findEntityType(draft.type)
        return draft.inline.contains { level in
            type?.findProperty(level.navigation)?.isCollection == true || level.entities.contains(where: hasCollection)
        }
    }

    private func bodyBindings(
        _ bindings: [BindingDraft], _ type: EntityType
    ) throws(TidelogError) -> [EntityBody.Binding] {
        var result: [EntityBody.Binding] = []
        for binding in bindings {
            guard let navigation = type.findProperty(binding.navigation) else {
                throw .unknownAtService("property \(binding.navigation)")
            }
            var targets: [ResourceReference] = []
            for target in binding.targets { targets.append(try reference(target)) }
            result.append(EntityBody.Binding(navigation: navigation, targets: targets))
        }
        return result
    }

    // MARK: Streams

    private func checkIsMedia(_ draft: EntityDraft) throws(TidelogError) {
        guard model.findEntityType(draft.type)?.hasStream != true else { return }
        throw TidelogError(.invalidRequest, "\(draft.type) is not a media entity.")
    }

    private func checkHasStream(_ property: String?, _ type: EntityType) throws(TidelogError) {
        guard let property else {
            guard !type.hasStream else { return }
            throw TidelogError(.invalidRequest, "\(type.name) is not a media entity.")
        }
        guard type.findProperty(property)?.type.primitive != .stream else { return }
        throw TidelogError(.invalidRequest, "\(type.name) has no stream property \(property).")
    }

    // MARK: References

    private func reference(_ address: EntityAddress) throws(TidelogError) -> ResourceReference {
        guard case .draft(let number) = address else { return try addresses.reference(address) }
        guard let contentID = contentIDs[number] else {
            throw TidelogError(
                .refused(.entityNotFound), "The call refers to an entity that is neither saved nor created before.",
                recovery: "Create the entity first, in the same change set or before it.")
        }
        return .contentID(contentID)
    }

    private func setOf(_ address: EntityAddress) throws(TidelogError) -> EntitySet {
        guard case .draft(let number) = address else { return try addresses.set(of: address) }
        guard let name = drafts[number]?.set else {
            throw TidelogError(.invalidRequest, "The link of the entity does not determine its entity set.")
        }
        return try set(name)
    }

    private func set(_ name: String) throws(TidelogError) -> EntitySet {
        guard let set = model.findEntitySet(name) else { throw .unknownAtService("entity set \(name)") }
        return set
    }

    /// Returns the type of an entity: that of the app's object if the set can contain it, otherwise the set's type.
    private func type(of address: EntityAddress, _ options: IntentOptions) throws(TidelogError) -> EntityType {
        if case .draft(let number) = address, let own = drafts[number].flatMap({ model.findEntityType($0.type) }) {
            return own
        }
        let declared = try setOf(address).entityType
        guard let known = options.sourceType.flatMap(model.findEntityType),
            model.isType(known.name, derivedFrom: declared.name)
        else { return declared }
        return known
    }

    private func navigation(
        _ name: String, of address: EntityAddress, _ options: IntentOptions
    ) throws(TidelogError) -> Property {
        let type = try type(of: address, options)
        let declarations = model.declarations(of: name, in: type)
        guard declarations.count == 1, declarations[0].isNavigation else {
            throw TidelogError(.refused(.unknownNavigationProperty), "\(type.name) has no navigation property \(name).")
        }
        return declarations[0]
    }

    /// Returns the request with a type cast in its URL if the declared type of the set does not have the property at its
    /// end.
    private func cast(_ step: OnlineStep) -> OnlineStep {
        func having(_ source: ResourceReference, _ property: Property?) -> ResourceReference {
            let set: EntitySet? =
                switch source {
                case .entity(let set, _): set
                case .contentID(let id):
                    contentIDs.first { $0.value == id }.flatMap { drafts[$0.key] }.flatMap { try? self.set($0.set) }
                case .url(let url): try? addresses.set(of: .link(url))
                case .contained, .cast: nil
                }
            guard let set, let property else { return source }
            return source.having(property, in: set, version: model.version)
        }
        var step = step
        switch step.modification.action {
        case .link(let source, let navigation, let target):
            step.modification.action = .link(from: having(source, navigation), navigation: navigation, to: target)
        case .unlink(let source, let navigation, let target):
            step.modification.action = .unlink(from: having(source, navigation), navigation: navigation, to: target)
        case .createRelated(let owner, let navigation, let body):
            step.modification.action = .createRelated(in: having(owner, navigation), navigation: navigation, body)
        case .update(let target, let body, let replaces):
            let stream = step.modification.stream?.property.flatMap(body.type.findProperty)
            step.modification.action = .update(having(target, stream), body, replaces: replaces)
        case .create, .delete, .invoke: break
        }
        return step
    }
}

extension IntentOptions {
    /// The options of a request for a related entity: the stream and the version are those of the entity itself.
    fileprivate var forRelated: IntentOptions {
        var options = self
        (options.stream, options.streamContent, options.streamLink, options.ifMatch) = (nil, nil, nil, nil)
        options.formerValues = [:]
        return options
    }
}
