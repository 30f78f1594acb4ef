import EDM
import ODataWire
import Operations
import SyncCore

/// Operations in doubt that took effect together or not at all, and the create among them that tells the most.
struct ContentDoubt {
    let members: [PendingOperation]
    /// The creates with the most telling content: one, or several that are equal.
    let anchors: [PendingOperation]
    let content: SentContent
    let set: EntitySet
    /// Where the set is read, if it is a contained one.
    let place: ResourceReference?
    let container: EntityID?
    /// The other creates whose keys the service gives, each as a doubt of its own.
    var companions: [ContentDoubt] = []

    var batch: BatchID { anchors[0].status.batch ?? 0 }

    /// Whether one may stand for the other.
    func isTwin(of other: ContentDoubt) -> Bool {
        set == other.set && container == other.container && content.isSame(as: other.content)
            && anchors.count == other.anchors.count && members.count == other.members.count
    }
}

/// Makes doubts of operations.
struct ContentDoubtReader {
    let store: LocalStore
    /// In the place of the store's, for all sets.
    let policy: ServiceOptions.DoubtPolicy?
    /// All operations in doubt, those together that took effect together.
    let sets: [[PendingOperation]]

    /// Nil if nothing of it can be searched for, or if the policy does not want it.
    @_optimize(none)
    func doubt(of members: [PendingOperation]) async throws(TidelogError) -> ContentDoubt? {
        let options = try await store.serviceOptions
        let creates = members.filter(\.isCreate)
        // What the policy of one set leaves to a person stays with all that was sent with it.
        let isAllowed = creates.allSatisfy {
            guard case .create(let creation, _) = $0.operation.action else { return true }
            return (policy ?? options.doubts(of: creation.set)) == .evidence
        }
        guard isAllowed else { return nil }
        var doubts: [ContentDoubt] = []
        for create in creates { if let doubt = try await single(create, among: members) { doubts.append(doubt) } }
        guard let most = doubts.max(by: { $0.content.bits < $1.content.bits }) else { return nil }
        let anchors = doubts.filter { $0.isTwin(of: most) }
        return ContentDoubt(
            members: members, anchors: anchors.flatMap(\.anchors), content: most.content, set: most.set,
            place: most.place,
            container: most.container, companions: doubts.filter { !$0.isTwin(of: most) })
    }

    /// The contents of all creates in doubt, those of deep inserts below them included.
    @_optimize(none)
    func contents() async throws(TidelogError) -> [SequenceNumber: [SentContent]] {
        var contents: [SequenceNumber: [SentContent]] = [:]
        for members in sets {
            for member in members {
                guard case .create(let creation, _) = member.withFinalValues(among: members).operation.action else {
                    continue
                }
                for created in creation.andBelow {
                    guard let content = try await store.content(of: created, besides: doubtful) else { continue }
                    contents[member.sequence, default: []].append(content)
                }
            }
        }
        return contents
    }

    /// One create whose key the service gives, as if it were alone.
    @_optimize(none)
    private func single(
        _ create: PendingOperation, among members: [PendingOperation]
    ) async throws(TidelogError) -> ContentDoubt? {
        let model = try await store.model
        let final = create.withFinalValues(among: members)
        guard case .create(let creation, let parent) = final.operation.action, create.operation.stream == nil,
            let set = model.findEntitySet(creation.set), let type = model.findEntityType(creation.type),
            !set.isSingleton, !set.isContainedSingle, KeyPredicate(of: type, in: creation.values) == nil,
            let collection = try await store.collection(of: set, below: parent),
            var content = try await store.content(of: creation, besides: doubtful)
        else { return nil }
        for (navigation, created) in CreatedLinks(members, model).levels(below: creation, type) {
            var contents: [SentContent] = []
            for child in created {
                if let child = try await store.content(of: child, besides: doubtful) { contents.append(child) }
            }
            content.add(contents, below: navigation)
        }
        return ContentDoubt(
            members: [create], anchors: [create], content: content, set: set, place: collection.place,
            container: collection.container)
    }

    /// The entities that are not known to be at the service.
    private var doubtful: Set<EntityID> { Set(sets.joined().flatMap(\.operation.createdEntities)) }
}

/// Which of the new entities of a change set are linked to which others.
struct CreatedLinks {
    private let members: [PendingOperation]
    private let model: EntityDataModel
    private var creations: [EntityID: Creation] = [:]

    init(_ members: [PendingOperation], _ model: EntityDataModel) {
        self.members = members
        self.model = model
        for member in members {
            guard case .create(let creation, _) = member.operation.action else { continue }
            for created in creation.andBelow { creations[created.entity] = created }
        }
    }

    /// The new entities below each navigation property of another one, by the property's name.
    func levels(below creation: Creation, _ type: EntityType) -> [(navigation: String, created: [Creation])] {
        var levels: [String: [EntityID: Creation]] = [:]
        func add(_ id: EntityID, _ navigation: String) {
            guard id != creation.entity, let created = creations[id] else { return }
            levels[navigation, default: [:]][id] = created
        }
        for inline in creation.inline { for created in inline.entities { add(created.entity, inline.navigation) } }
        for binding in creation.bindings { for target in binding.targets { add(target, binding.navigation) } }
        for member in members {
            switch member.operation.action {
            case .create(let other, let parent?) where parent.entity == creation.entity:
                add(other.entity, parent.navigation)
            case .create(let other, _):
                for binding in other.bindings where binding.targets.contains(creation.entity) {
                    guard let property = model.findEntityType(other.type)?.findProperty(binding.navigation),
                        let partner = model.partner(of: property)
                    else { continue }
                    add(other.entity, partner.name)
                }
            case .createLink(let link) where link.from == creation.entity,
                .updateLink(let link) where link.from == creation.entity:
                add(link.to, link.navigation)
            default: break
            }
        }
        return levels.sorted { $0.key < $1.key }.map { navigation, created in
            (navigation, created.sorted { $0.key < $1.key }.map(\.value))
        }
    }
}

extension Creation {
    /// Itself and the new entities below it.
    fileprivate var andBelow: [Creation] { [self] + inline.flatMap { $0.entities.flatMap(\.andBelow) } }
}
