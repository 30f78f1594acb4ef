/// The containment of an entity set: the set of its parents and the navigation property that contains its entities.
public struct Containment: Sendable {
    /// The set of the entities that contain those of this set.
    public let parent: EntitySet
    /// The navigation property with `ContainsTarget` that leads from a parent to the contained entities.
    public let navigation: Property

    /// The qualified name of the type cast that a URL needs between the parent and the navigation property, if the
    /// declared type of the parent's set does not have the property.
    public var cast: String? { parent.cast(for: navigation) }

    /// The relationship, as seen from the parent.
    public var relationship: Relationship? { navigation.navigation?.relationship }

    /// Returns whether the navigation property belongs to the containment relationship, in either direction.
    public func isWalked(by property: Property) -> Bool {
        guard let own = relationship, let other = property.navigation?.relationship else { return false }
        return own.name == other.name
    }
}

/// The sets of contained entities (CSDL 4.01, 8.4), named by their path from an entity set or singleton.
///
/// If a navigation property contains entities of its own type, like `childFolders` of a folder, it leads into the
/// same set: keys are unique only below one parent in any case.
struct ContainedSets: Sendable {
    /// The maximum number of contained sets with separate paths. A large document with nested containment has too
    /// many paths; beyond the limit, all entities that a navigation property contains below the same entity set or
    /// singleton form one set.
    static let pathLimit = 1024

    private(set) var sets: [EntitySet] = []
    /// The types that the sets declare.
    private(set) var typeNames: Set<String> = []
    /// The target sets, by set and navigation property.
    private var targets: [String: [String: EntitySet]] = [:]

    init(
        of roots: [EntitySet], version: ODataVersion, navigations: (EntityType) -> [Property],
        type: (String) -> EntityType?
    ) {
        var queue = roots
        var next = 0
        var shared: [String: [String: EntitySet]] = [:]
        while next < queue.count {
            let parent = queue[next]
            next += 1
            let root = parent.root.name
            for property in navigations(parent.entityType) {
                guard let navigation = property.navigation, navigation.containsTarget,
                    // In V3 they are in a declared set like all other entities.
                    !version.isLegacy || parent.bindings[property.name] == nil,
                    let target = type(navigation.targetType)
                else { continue }
                let name = property.description
                guard targets[parent.name]?[name] == nil else { continue }
                if let known = parent.path.first(where: { $0.containment?.navigation == property }) {
                    targets[parent.name, default: [:]][name] = known
                    continue
                }
                if sets.count >= Self.pathLimit, let known = shared[root]?[name] {
                    targets[parent.name, default: [:]][name] = known
                    continue
                }
                let set = EntitySet(containedIn: parent, by: property, type: target)
                sets.append(set)
                queue.append(set)
                typeNames.insert(target.name)
                targets[parent.name, default: [:]][name] = set
                if shared[root]?[name] == nil { shared[root, default: [:]][name] = set }
            }
        }
    }

    /// Returns the set of the entities that a navigation property contains.
    func target(of navigation: Property, in set: EntitySet) -> EntitySet? {
        targets[set.name]?[navigation.description]
    }

    /// Returns the contained sets of a set, in ascending order of name.
    func sets(in set: EntitySet) -> [EntitySet] {
        (targets[set.name] ?? [:]).values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension EntitySet {
    fileprivate convenience init(containedIn parent: EntitySet, by navigation: Property, type: EntityType) {
        let containment = Containment(parent: parent, navigation: navigation)
        let step = (containment.cast.map { $0 + "/" } ?? "") + navigation.name
        // TripPin binds by type name, at any depth: `Model.Flight/Airline`.
        var bindings = parent.bindings.filter { path, _ in path.prefix { $0 != "/" }.contains(".") }
        for prefix in Set([step, navigation.name, navigation.description]) {
            for (path, target) in parent.bindings where path.hasPrefix(prefix + "/") {
                bindings[String(path.dropFirst(prefix.count + 1))] = target
            }
        }
        self.init(
            name: "\(parent.name)/\(step)", entityType: type, bindings: bindings, containment: containment)
    }

    /// The set itself and the sets that contain it, the nearest first.
    public var path: [EntitySet] {
        var path = [self]
        while let parent = path.last?.containment?.parent { path.append(parent) }
        return path
    }

    /// The entity set or singleton at which the set's path begins; the set itself if it is not contained.
    public var root: EntitySet { path.last ?? self }

    /// A Boolean value that indicates whether the set's entities exist only below entities of another set.
    public var isContained: Bool { containment != nil }

    /// Returns a Boolean value that indicates whether the navigation property leads from a parent to the set's
    /// entities.
    public func isContained(by navigation: Property) -> Bool { containment?.navigation == navigation }

    /// A Boolean value that indicates whether each parent contains at most one entity of the set, which then needs no
    /// key.
    public var isContainedSingle: Bool { containment?.navigation.isCollection == false }
}
