internal import EDM
internal import ODataQuery
internal import ODataWire
internal import OfflineStore
internal import Operations
internal import Tidelog

/// A runner that performs operation lines on a store in order, and keeps the names that they define.
struct OperationRunner {
    private let provider: OfflineODataProvider
    private let model: EntityDataModel
    private let options: IntentOptions
    private var names: [String: IntentWriter.Entity] = [:]

    /// - Parameter options: The options of all operations.
    init(provider: OfflineODataProvider, options: IntentOptions = IntentOptions()) async throws {
        self.provider = provider
        self.options = options
        model = try await provider.model()
    }

    /// Performs a line. Returns when all its operations are durable. If the line is refused, none of its operations is
    /// performed, and its names remain undefined.
    mutating func run(_ line: OperationLine) async throws -> [OperationText] {
        var writer = IntentWriter(provider: provider, model: model, names: names)
        let isChangeSet: Bool
        if case .changeSet(let operations) = line {
            guard !operations.isEmpty else { throw CommandFailure("The change set is empty.") }
            isChangeSet = true
            for (index, operation) in operations.enumerated() {
                do {
                    try await writer.add(operation)
                } catch let failure as CommandFailure {
                    throw failure.inOperation(index + 1)
                }
            }
        } else {
            isChangeSet = false
            try await writer.add(line)
        }
        let intents = writer.written.map { (intent: $0.intent, options: options) }
        let results = try await provider.perform(intents, asChangeSet: isChangeSet)
        var links: [Int: String] = [:]
        for result in results {
            for (draft, snapshot) in result.entities.all where draft != IntentResult.subject {
                links[draft] = snapshot.readLink
            }
        }
        names = writer.names.mapValues { entity in
            guard case .draft(let number) = entity.address, let link = links[number] else { return entity }
            return IntentWriter.Entity(address: .link(link), set: entity.set, type: entity.type)
        }
        return zip(writer.written, results).map { written, result in
            let link = result.entities[written.draft ?? IntentResult.subject]?.readLink
            return OperationText(sequence: result.sequence ?? 0, readLink: link ?? written.link)
        }
    }
}

/// A converter from operation lines to intents: names and links become addresses, JSON becomes values of the model's
/// types.
struct IntentWriter {
    /// An entity with a name, or one that was looked up.
    struct Entity {
        var address: EntityAddress
        var set: EntitySet
        var type: EntityType
    }

    struct Written {
        var intent: Intent
        /// The draft of the created entity.
        var draft: Int?
        /// The link in the line, which is printed if the entity cannot be read afterwards because it was deleted.
        var link: String
    }

    private let provider: any ServiceBackend
    private let model: EntityDataModel
    private let reader: EntityBodyReader
    private(set) var names: [String: Entity]
    private(set) var written: [Written] = []
    private var drafts = 0

    init(provider: any ServiceBackend, model: EntityDataModel, names: [String: Entity]) {
        self.provider = provider
        self.model = model
        self.names = names
        reader = EntityBodyReader(model: model)
    }

    /// Returns whether the path consists of an entity and its navigation property, and is not a set.
    private func leadsOutOfOneEntity(_ path: String) -> Bool {
        path.contains("(") || model.singletons.contains { path.hasPrefix($0.segment + "/") }
    }

    mutating func add(_ line: OperationLine) async throws {
        switch line {
        case .create(let set, let value, let bindings, let parent, let name):
            if parent == nil, let path = try? ParentArgument(set), leadsOutOfOneEntity(set) {
                let line = OperationLine.createRelated(
                    parent: path.parent, set: nil, value: value, bindings: bindings, name: name)
                return try await add(line)
            }
            guard let parent else {
                return try create(value, bindings, in: try entitySet(set), parent: nil, name)
            }
            let address = Intent.Parent(entity: try self.address(parent.entity), navigation: parent.navigation)
            // A contained set may be named by the navigation property, because its path adds nothing to the parent.
            if model.findEntitySet(set) == nil, set == parent.navigation {
                let target = try self.target(of: set, try await entity(parent.entity))
                return try create(value, bindings, in: target, parent: address, name)
            }
            try create(value, bindings, in: try entitySet(set), parent: address, name)
        case .createRelated(let parent, let set, let value, let bindings, let name):
            let source = try await entity(parent.entity)
            let target = try set.map { try entitySet($0) } ?? self.target(of: parent.navigation, source)
            try create(
                value, bindings, in: target,
                parent: Intent.Parent(entity: source.address, navigation: parent.navigation), name)
        case .update(let reference, let value, let bindings):
            let target = try await entity(reference)
            let body = try reader.read(value, type: target.type, set: target.set.name)
            let links = try self.bindings(body.bindings, bindings, target.type, target.set)
            let inline = try self.inline(body, target.type, target.set)
            guard !body.values.isEmpty || !links.isEmpty || !inline.isEmpty else {
                throw CommandFailure("The update changes nothing.")
            }
            append(.update(target.address, changes: body.values, bindings: links, inline: inline), reference)
        case .delete(let reference):
            let target = try await entity(reference)
            append(.delete(target.address), reference)
        case .link(let from, let property, let to):
            append(.createLink(from: try address(from), navigation: property, to: try address(to)), from)
        case .relink(let from, let property, let to):
            append(.updateLink(from: try address(from), navigation: property, to: try address(to)), from)
        case .unlink(let from, let property, let to):
            append(
                .deleteLink(from: try address(from), navigation: property, to: try to.map { try address($0) }), from)
        case .changeSet: throw CommandFailure("A change set cannot contain another change set.")
        }
    }

    private mutating func append(_ intent: Intent, _ link: String) {
        written.append(Written(intent: intent, draft: nil, link: link))
    }

    // MARK: Creating

    private mutating func create(
        _ value: JSONObject, _ bindings: [OperationLine.Binding], in set: EntitySet, parent: Intent.Parent?,
        _ name: String?
    ) throws {
        if let name, names[name] != nil {
            throw CommandFailure("The name \"\(oneLine(name))\" is already used.", recovery: "Use another name.")
        }
        let body = try reader.read(value, type: set.entityType, set: set.name)
        let type = body.type.flatMap { model.findEntityType($0) } ?? set.entityType
        let draft = try draft(body, bindings, type, set)
        written.append(Written(intent: .create(draft, in: parent), draft: draft.number, link: set.name))
        if let name { names[name] = Entity(address: .draft(draft.number), set: set, type: type) }
    }

    private mutating func draft(
        _ body: RequestBody, _ bindings: [OperationLine.Binding], _ type: EntityType, _ set: EntitySet
    ) throws -> EntityDraft {
        drafts += 1
        let number = drafts
        return EntityDraft(
            number: number, set: set.name, type: type.name, values: body.values,
            bindings: try self.bindings(body.bindings, bindings, type, set), inline: try inline(body, type, set))
    }

    private mutating func inline(_ body: RequestBody, _ type: EntityType, _ set: EntitySet) throws -> [InlineDraft] {
        var drafts: [InlineDraft] = []
        for level in body.inline {
            let target = try target(of: level.navigation, type, set)
            var entities: [EntityDraft] = []
            for child in level.entities {
                let type =
                    child.type.flatMap { model.findEntityType($0) } ?? declaredTarget(level.navigation, type)
                    ?? target.entityType
                entities.append(try draft(child, [], type, target))
            }
            drafts.append(InlineDraft(navigation: level.navigation, entities: entities))
        }
        return drafts
    }

    /// Returns the bindings in the JSON and in the operation.
    private func bindings(
        _ inside: [RequestBody.Binding], _ outside: [OperationLine.Binding], _ type: EntityType, _ set: EntitySet
    ) throws -> [BindingDraft] {
        var drafts: [BindingDraft] = []
        for (navigation, targets) in inside.map({ ($0.navigation, $0.urls) })
            + outside.map({ ($0.navigation, $0.targets) })
        {
            _ = try self.navigation(navigation, type, set)
            let addresses = try targets.map { try address($0) }
            if let index = drafts.firstIndex(where: { $0.navigation == navigation }) {
                drafts[index].targets += addresses
            } else {
                drafts.append(BindingDraft(navigation: navigation, targets: addresses))
            }
        }
        return drafts
    }

    // MARK: The model

    private func entitySet(_ name: String) throws -> EntitySet {
        guard let set = model.findEntitySet(name) else {
            throw CommandFailure(
                "There is no entity set \(oneLine(name)).",
                recovery: "The entity sets are \(nearest(name, model.entitySets.map(\.name))).")
        }
        return set
    }

    private func navigation(_ name: String, _ type: EntityType, _ set: EntitySet) throws -> Property {
        guard let property = type.findProperty(name), property.isNavigation else {
            let known = type.navigationProperties.map(\.name)
            throw CommandFailure(
                "\(set.name) has no navigation property \(oneLine(name)).",
                recovery: known.isEmpty ? nil : "Its navigation properties are \(nearest(name, known)).")
        }
        return property
    }

    private func target(of name: String, _ source: Entity) throws -> EntitySet {
        try target(of: name, source.type, source.set)
    }

    private func target(of name: String, _ type: EntityType, _ set: EntitySet) throws -> EntitySet {
        let property = try navigation(name, type, set)
        guard let target = model.target(of: property, in: set, from: type) else {
            throw CommandFailure(
                "The metadata does not define the entity set to which \(set.name)/\(name) leads.",
                recovery: "Create the entity in its set, and link it.")
        }
        return target
    }

    private func declaredTarget(_ navigation: String, _ type: EntityType) -> EntityType? {
        type.findProperty(navigation)?.navigation.flatMap { model.findEntityType($0.targetType) }
    }

    /// Returns some names as suggestions, similar ones first.
    private func nearest(_ name: String, _ known: [String]) -> String {
        let alike = known.filter { $0.lowercased().hasPrefix(name.lowercased().prefix(3)) }
        let shown = (alike + known.filter { !alike.contains($0) }).prefix(8)
        return shown.joined(separator: ", ")
            + (shown.count < known.count ? " and \(known.count - shown.count) more" : "")
    }

    // MARK: References

    private func address(_ reference: String) throws -> EntityAddress {
        if let named = names[reference] { return named.address }
        guard isLink(reference) else {
            throw CommandFailure(
                "No entity has the name \"\(oneLine(reference))\".",
                recovery: "Use a readLink such as Customers(~7), or a name that an earlier line defines with \"as\".")
        }
        return .link(reference)
    }

    private func isLink(_ reference: String) -> Bool {
        reference.contains("(") || reference.contains("/") || model.findEntitySet(reference)?.isSingleton == true
    }

    private func entity(_ reference: String) async throws -> Entity {
        if let named = names[reference] { return named }
        let snapshot = try await provider.load(try address(reference), options: QueryOptions(), headers: .empty)
        guard let set = model.findEntitySet(snapshot.set), let type = model.findEntityType(snapshot.type) else {
            throw CommandFailure("The metadata does not contain the entity set of \(oneLine(reference)).")
        }
        return Entity(address: .link(snapshot.readLink), set: set, type: type)
    }
}
