import EDM
import OfflineStore
import Operations
import SyncCore

/// Generates calls of the public interface for pending operations.
struct OperationSource {
    private(set) var lines: [String] = []
    private let model: EntityDataModel
    /// The links of entities that exist before the first operation.
    private let links: [EntityID: String]
    private var known: Set<EntityID> = []
    private var changeSet: SequenceNumber?

    init(model: EntityDataModel, links: [EntityID: String]) {
        self.model = model
        self.links = links
    }

    /// Adds an operation.
    ///
    /// - Throws: `unsupported` for operations on streams and for calls of actions.
    mutating func add(_ pending: PendingOperation) throws(TidelogError) {
        let operation = pending.operation
        if changeSet != operation.changeSet { endChangeSet() }
        if changeSet == nil, operation.changeSet != nil {
            changeSet = operation.changeSet
            line("let changes\(operation.changeSet ?? 0) = ChangeSet()")
        }
        guard operation.stream == nil else { throw Self.unsupported(pending, "writes a stream") }
        guard operation.call == nil else { throw Self.unsupported(pending, "calls an action") }
        for id in operation.referencedEntities { find(id) }
        switch operation.action {
        case .create(let creation, let parent): create(creation, parent)
        case .update(let entity, let changes, let bindings):
            set(changes, entity)
            bind(bindings, entity)
            call("updateEntity(\(Self.name(entity)))")
        case .delete(let entity): call("deleteEntity(\(Self.name(entity)))")
        case .createLink(let link): call("createLink(\(Self.ends(link)))")
        case .updateLink(let link): call("updateLink(\(Self.ends(link)))")
        case .deleteLink(let link): call("deleteLink(\(Self.ends(link)))")
        }
    }

    mutating func end() { endChangeSet() }

    private mutating func endChangeSet() {
        if let changeSet { line("try await service.applyChanges(changes\(changeSet))") }
        changeSet = nil
    }

    private mutating func create(_ creation: Creation, _ parent: Parent?) {
        let name = Self.name(creation.entity)
        make(creation)
        if let parent {
            let property = Self.property(parent.entity, parent.navigation)
            call("createRelatedEntity(\(name), in: \(Self.name(parent.entity)), property: \(property))")
        } else {
            call("createEntity(\(name))")
        }
    }

    /// Adds the object of a new entity with everything that is created together with it.
    private mutating func make(_ creation: Creation) {
        let name = Self.name(creation.entity)
        line("let \(name) = EntityValue(try #require(metadata.findEntityType(\(SwiftLiteral.text(creation.type)))))")
        line("\(name).entitySet = try service.entitySet(withName: \(SwiftLiteral.text(creation.set)))")
        known.insert(creation.entity)
        set(creation.values, creation.entity)
        bind(creation.bindings, creation.entity)
        for inline in creation.inline {
            for child in inline.entities { make(child) }
            let property = Self.property(creation.entity, inline.navigation)
            let children = inline.entities.map { Self.name($0.entity) }
            if model.findEntityType(creation.type)?.findProperty(inline.navigation)?.isCollection == true {
                line("\(property).setEntityList(in: \(name), to: [\(children.joined(separator: ", "))])")
            } else if let child = children.first {
                line("\(property).setEntityValue(in: \(name), to: \(child))")
            }
        }
    }

    private mutating func set(_ values: PropertyValues, _ entity: EntityID) {
        for (name, value) in values {
            line("\(Self.name(entity))[\(SwiftLiteral.text(name))] = \(SwiftLiteral.value(value))")
        }
    }

    private mutating func bind(_ bindings: [Binding], _ entity: EntityID) {
        for binding in bindings {
            for target in binding.targets {
                line(
                    "\(Self.name(entity)).bindEntity(\(Self.name(target)), to: \(Self.property(entity, binding.navigation)))"
                )
            }
        }
    }

    private mutating func find(_ id: EntityID) {
        guard known.insert(id).inserted, let link = links[id] else { return }
        line(
            "let \(Self.name(id)) = try await service.executeQuery(DataQuery().withURL(\(SwiftLiteral.text(link)))).requiredEntity()"
        )
    }

    private mutating func call(_ call: String) {
        line(changeSet.map { "changes\($0).\(call)" } ?? "try await service.\(call)")
    }

    private mutating func line(_ text: String) { lines.append(text) }

    private static func name(_ id: EntityID) -> String { "entity\(id.rawValue)" }

    private static func property(_ entity: EntityID, _ name: String) -> String {
        "try #require(\(self.name(entity)).entityType.findProperty(\(SwiftLiteral.text(name))))"
    }

    private static func ends(_ link: Link) -> String {
        "from: \(name(link.from)), property: \(property(link.from, link.navigation)), to: \(name(link.to))"
    }

    private static func unsupported(_ pending: PendingOperation, _ what: String) -> TidelogError {
        TidelogError(
            .unsupported, "Operation \(pending.sequence) \(what), which a generated test does not support.",
            recovery: "Remove the operation with 'tidelog minimise' first.")
    }
}
