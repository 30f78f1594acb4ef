import EDM
import ODataQuery
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Operations in doubt that took effect all or none, with the create that has the most distinctive content.
struct ContentInDoubt {
    let members: [PendingOperation]
    /// The creates with the most distinctive content: one, or several with equal content.
    let anchors: [PendingOperation]
    let content: SentContent
    let set: EntitySet
    /// The collection to read if the set is a contained one.
    let place: ResourceReference?
    let container: EntityID?
    /// The other creates with service-generated keys, each as a doubt of its own.
    var companions: [ContentInDoubt] = []

    var batch: BatchID { anchors[0].status.batch ?? 0 }

    /// Returns whether the two doubts have the same content and are interchangeable.
    func isTwin(of other: ContentInDoubt) -> Bool {
        set == other.set && container == other.container && content.isSame(as: other.content)
            && anchors.count == other.anchors.count && members.count == other.members.count
    }
}

/// Derives content doubts from operations in doubt.
struct ContentInDoubtReader {
    let store: LocalStore
    /// The policy that replaces the store's policy for all sets, if there is one.
    let policy: ServiceOptions.DoubtPolicy?
    /// All operations in doubt, grouped by those that took effect all or none.
    let sets: [[PendingOperation]]

    /// Returns the doubt of one group, or nil if none of its creates can be searched for or the policy forbids it.
    func doubt(of members: [PendingOperation]) async throws(TidelogError) -> ContentInDoubt? {
        let options = try await store.serviceOptions
        let creates = members.filter(\.isCreate)
        // If the policy leaves one set to the user, the whole group waits for the user.
        let isAllowed = creates.allSatisfy {
            guard case .create(let creation, _) = $0.operation.action else { return true }
            return (policy ?? options.doubts(of: creation.set)) == .evidence
        }
        guard isAllowed else { return nil }
        var doubts: [ContentInDoubt] = []
        for create in creates { if let doubt = try await single(create, among: members) { doubts.append(doubt) } }
        guard let most = doubts.max(by: { $0.content.bits < $1.content.bits }) else { return nil }
        let anchors = doubts.filter { $0.isTwin(of: most) }
        return ContentInDoubt(
            members: members, anchors: anchors.flatMap(\.anchors), content: most.content, set: most.set,
            place: most.place,
            container: most.container, companions: doubts.filter { !$0.isTwin(of: most) })
    }

    /// Returns the contents of all creates in doubt, including the children of deep inserts.
    func contents() async throws(TidelogError) -> [SequenceNumber: [SentContent]] {
        var contents: [SequenceNumber: [SentContent]] = [:]
        for members in sets {
            for member in members {
                guard case .create(let creation, _) = member.withFinalValues(among: members).operation.action else {
                    continue
                }
                for created in creation.andBelow {
                    guard let content = try await store.doubts.content(of: created, besides: doubtful) else { continue }
                    contents[member.sequence, default: []].append(content)
                }
            }
        }
        return contents
    }

    /// Returns the doubt of a single create whose key the service generates.
    private func single(
        _ create: PendingOperation, among members: [PendingOperation]
    ) async throws(TidelogError) -> ContentInDoubt? {
        let model = try await store.model
        let final = create.withFinalValues(among: members)
        guard case .create(let creation, let parent) = final.operation.action, create.operation.stream == nil,
            let set = model.findEntitySet(creation.set), let type = model.findEntityType(creation.type),
            !set.isSingleton, !set.isContainedSingle, KeyPredicate(of: type, in: creation.values) == nil,
            let collection = try await store.references.collection(of: set, below: parent),
            var content = try await store.doubts.content(of: creation, besides: doubtful)
        else { return nil }
        for (navigation, created) in CreatedLinks(members, model).levels(below: creation, type) {
            var contents: [SentContent] = []
            for child in created {
                if let child = try await store.doubts.content(of: child, besides: doubtful) { contents.append(child) }
            }
            content.add(contents, below: navigation)
        }
        return ContentInDoubt(
            members: [create], anchors: [create], content: content, set: set, place: collection.place,
            container: collection.container)
    }

    /// The entities that are not known to exist on the service.
    private var doubtful: Set<EntityID> { Set(sets.joined().flatMap(\.operation.createdEntities)) }
}

/// The links between the new entities of a change set.
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

    /// Returns the new entities linked to a new entity, grouped by navigation property.
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
    /// The creation and all new entities below it.
    fileprivate var andBelow: [Creation] { [self] + inline.flatMap { $0.entities.flatMap(\.andBelow) } }
}
