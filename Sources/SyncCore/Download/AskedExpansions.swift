import EDM
public import ODataWire
public import Operations

/// What a defining query expands below the entities that it leads to, level by level.
public struct AskedExpansions: Sendable {
    /// One expanded navigation property.
    struct Branch: Sendable {
        let navigation: String
        /// The type that an entity has to have; nil for any that has the property.
        let cast: String?
        /// Whether the query asks for a part of what the property leads to.
        let isRestricted: Bool
        let below: [Branch]
    }

    /// The query's name.
    let query: String
    let branches: [Branch]
    /// Properties that other defining queries expand as a whole. What a part does not show they may.
    private let wholeElsewhere: [Whole]

    private struct Whole: Sendable {
        var query: String
        var navigation: String
    }

    /// - Parameters:
    ///   - others: the other defining queries of the store.
    ///   - parse: reads a query; nil for one that the model does not allow.
    public init(
        of query: DefiningQuery, others: [DefiningQuery], parse: (DefiningQuery) -> ServiceRequest?
    ) {
        self.query = query.name
        branches = Self.branches(parse(query)?.options.expand ?? [])
        guard Self.flat(branches).contains(where: \.isRestricted) else {
            wholeElsewhere = []
            return
        }
        wholeElsewhere = others.filter { $0.name != query.name }.flatMap { other in
            Self.flat(Self.branches(parse(other)?.options.expand ?? [])).filter { !$0.isRestricted }
                .map { Whole(query: other.name, navigation: $0.navigation) }
        }
    }

    private static func branches(_ items: [ExpandItem]) -> [Branch] {
        items.compactMap { $0.form == .entities ? branch($0.path[...], $0.options) : nil }
    }

    /// V2 writes a path of navigation properties where V4 nests options.
    private static func branch(_ path: ArraySlice<SelectSegment>, _ options: QueryOptions) -> Branch? {
        var path = path
        var cast: String?
        if case .qualifiedName(let name, _)? = path.first {
            cast = name
            path = path.dropFirst()
        }
        guard case .name(let name)? = path.popFirst() else { return nil }
        guard path.isEmpty else {
            return Branch(
                navigation: name, cast: cast, isRestricted: false,
                below: branch(path, options).map { [$0] } ?? [])
        }
        let isRestricted =
            options.filter != nil || options.search != nil || options.top != nil || options.skip != nil
        return Branch(
            navigation: name, cast: cast, isRestricted: isRestricted, below: branches(options.expand))
    }

    private static func flat(_ branches: [Branch]) -> [Branch] { branches + branches.flatMap { flat($0.below) } }

    /// Whether another defining query that brings the entity shows all that the property leads to.
    func isWholeElsewhere<Storage: StateReader>(
        _ navigation: String, of id: EntityID, in storage: Storage
    ) throws(StateError) -> Bool {
        for whole in wholeElsewhere where whole.navigation == navigation {
            if try storage.isCovered(id, by: whole.query) { return true }
        }
        return false
    }
}

extension ImageBuilder {
    /// Keeps what the query has below an entity by expansions that the answer is silent about: to be silent is not to say
    /// that nothing is there.
    mutating func keepUntold(
        _ branches: [AskedExpansions.Branch], _ payload: EntityPayload, _ id: EntityID, _ type: EntityType,
        _ set: EntitySet
    ) throws(StateError) {
        guard !isNew(id) else { return }
        for branch in branches {
            let name = branch.navigation
            guard !payload.expanded.contains(where: { $0.navigation == name }),
                !payload.changes.contains(where: { $0.navigation == name })
            else { continue }
            let partners = try partners(of: id, type, by: branch)
            guard !partners.isEmpty else { continue }
            untold.insert("\(set.name)/\(name)")
            for partner in partners { try keep(partner, branch.below) }
        }
    }

    /// Keeps an entity as it is, with what the query has below it.
    mutating func keep(_ id: EntityID, _ branches: [AskedExpansions.Branch]) throws(StateError) {
        guard !isNew(id) else { return }
        kept.append(id)
        guard !branches.isEmpty, let type = try serviceRow(id).flatMap({ model.findEntityType($0.type) }) else {
            return
        }
        for branch in branches {
            for partner in try partners(of: id, type, by: branch) { try keep(partner, branch.below) }
        }
    }

    /// Those that the service linked to the entity and that the query brought.
    private func partners(
        of id: EntityID, _ type: EntityType, by branch: AskedExpansions.Branch
    ) throws(StateError) -> [EntityID] {
        guard let asked, let end = type.findProperty(branch.navigation)?.navigation,
            branch.cast.map({ model.isType(type.name, derivedFrom: $0) }) ?? true
        else { return [] }
        var found: [EntityID] = []
        for link in try storage.links(of: id, along: end) where link.inBase {
            let partner = link.target(along: end)
            if try storage.isCovered(partner, by: asked.query) { found.append(partner) }
        }
        return found
    }
}
