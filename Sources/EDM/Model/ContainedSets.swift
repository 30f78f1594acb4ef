/// How an entity set is contained: below the entities of which set, and by which navigation property.
public struct Containment: Sendable {
    /// The set of the entities that contain those of this set.
    public let parent: EntitySet
    /// The navigation property with `ContainsTarget` that leads from a parent to what it contains.
    public let navigation: Property

    /// The qualified name of the type that a URL has to name between the parent and the navigation property, where the
    /// declared type of the parent's set does not have the property itself.
    public var cast: String? {
        parent.entityType.findProperty(navigation.name) == navigation ? nil : navigation.declaringType
    }

    /// The end of the relationship at which the contained entity stands.
    public var relationship: Relationship? { navigation.navigation?.relationship }

    /// Whether the navigation property walks from a parent to what it contains, or the other way round.
    public func isWalked(by property: Property) -> Bool {
        guard let own = relationship, let other = property.navigation?.relationship else { return false }
        return own.name == other.name
    }
}

/// The sets of contained entities (CSDL 4.01, 8.4), named by their path from an entity set or singleton.
///
/// A navigation property that contains what it is itself contained in, as `childFolders` of a folder, leads into its own
/// set: keys are unique below one parent anyway.
struct ContainedSets: Sendable {
    /// How many contained sets are named by their whole path. The paths of a large document with nested containment are
    /// more than anyone can count; behind this limit all entities that one navigation property contains below the same
    /// entity set or singleton form one set.
    static let pathLimit = 1024

    private(set) var sets: [EntitySet] = []
    /// The types that the sets declare.
    private(set) var typeNames: Set<String> = []
    /// By set and navigation property.
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
                    // V3 names a set for these as for all others.
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

    /// The set of the entities that a navigation property contains.
    func target(of navigation: Property, in set: EntitySet) -> EntitySet? {
        targets[set.name]?[navigation.description]
    }

    /// In ascending order of name.
    func sets(in set: EntitySet) -> [EntitySet] {
        (targets[set.name] ?? [:]).values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension EntitySet {
    fileprivate convenience init(containedIn parent: EntitySet, by navigation: Property, type: EntityType) {
        let containment = Containment(parent: parent, navigation: navigation)
        let step = (containment.cast.map { $0 + "/" } ?? "") + navigation.name
        // TripPin names types only, at whatever depth they are: `Model.Flight/Airline`.
        var bindings = parent.bindings.filter { path, _ in path.prefix { $0 != "/" }.contains(".") }
        for prefix in Set([step, navigation.name, navigation.description]) {
            for (path, target) in parent.bindings where path.hasPrefix(prefix + "/") {
                bindings[String(path.dropFirst(prefix.count + 1))] = target
            }
        }
        self.init(
            name: "\(parent.name)/\(step)", entityType: type, bindings: bindings, containment: containment)
    }

    /// The set itself and those that it is contained in, the nearest first.
    public var path: [EntitySet] {
        var path = [self]
        while let parent = path.last?.containment?.parent { path.append(parent) }
        return path
    }

    /// The entity set or singleton of the container that the set's path begins with: the set itself where it is contained
    /// in no other.
    public var root: EntitySet { path.last ?? self }

    /// Whether the set's entities exist only below entities of another one.
    public var isContained: Bool { containment != nil }

    /// Whether the navigation property is the one that leads from a parent to the set's entities.
    public func isContained(by navigation: Property) -> Bool { containment?.navigation == navigation }

    /// Whether each parent contains at most one entity of the set, which therefore needs no key.
    public var isContainedSingle: Bool { containment?.navigation.isCollection == false }
}
