import EDM
package import ODataQuery
import ODataWire
package import Operations

/// The expansions of a defining query, level by level.
package struct RequestedExpansions: Sendable {
    /// An expanded navigation property.
    struct Branch: Sendable {
        let navigation: String
        /// The required type of the source entity, or nil for any type that has the property.
        let cast: String?
        /// Whether the query requests only a part of the property's targets.
        let isRestricted: Bool
        let below: [Branch]
    }

    /// The name of the query.
    let query: String
    let branches: [Branch]
    /// The expansions of all levels.
    let allBranches: [Branch]
    /// Properties that other defining queries expand completely. Their results may contain the targets that a partial
    /// expansion omits.
    private let wholeElsewhere: [Whole]

    private struct Whole: Sendable {
        var query: String
        var navigation: String
    }

    /// Determines the expansions of a query.
    ///
    /// - Parameters:
    ///   - others: The other defining queries of the store.
    ///   - parse: Parses a query. Returns nil if the model does not allow it.
    package init(
        of query: DefiningQuery, others: [DefiningQuery], parse: (DefiningQuery) -> ServiceRequest?
    ) {
        self.query = query.name
        branches = Self.branches(parse(query)?.options.expand ?? [])
        allBranches = Self.flat(branches)
        guard allBranches.contains(where: \.isRestricted) else {
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

    /// Returns the expansion of a path. V2 has paths of navigation properties instead of the nested options of V4.
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

    /// Returns the expanded navigation properties of complex values, which the store does not have.
    func ofComplexValues(in set: EntitySet, _ model: EntityDataModel) -> [String] {
        branches.flatMap { branch in
            let type = branch.cast.flatMap(model.findEntityType) ?? set.entityType
            guard let property = type.findProperty(branch.navigation), !property.isNavigation else { return [String]() }
            return branch.below.map { "\(set.name)/\(property.name)/\($0.navigation)" }
        }
    }

    /// Returns whether another defining query that contains the entity expands the property completely.
    func isWholeElsewhere(
        _ navigation: String, of id: EntityID, in storage: WorkingSet
    ) throws(StateError) -> Bool {
        for whole in wholeElsewhere where whole.navigation == navigation {
            if try storage.bookkeeping.isCovered(id, by: whole.query) { return true }
        }
        return false
    }
}

extension ImageBuilder {
    /// Keeps the entities of expansions that the response omits. An omitted expansion does not mean that there are no
    /// targets.
    mutating func keepOmittedExpansions(
        _ branches: [RequestedExpansions.Branch], _ payload: EntityPayload, _ id: EntityID, _ type: EntityType,
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
            omittedExpansions.insert("\(set.name)/\(name)")
            for partner in partners { try retain(partner, branch.below) }
        }
    }

    /// Keeps an entity unchanged, with the entities that the query has below it.
    mutating func retain(_ id: EntityID, _ branches: [RequestedExpansions.Branch]) throws(StateError) {
        guard !isNew(id) else { return }
        kept.append(id)
        guard !branches.isEmpty, let type = try lookup.serviceRow(id).flatMap({ model.findEntityType($0.type) }) else {
            return
        }
        for branch in branches {
            for partner in try partners(of: id, type, by: branch) { try retain(partner, branch.below) }
        }
    }

    /// The expansions of all levels if the response is a delta. Nil if it is not, or without expansions.
    var deltaBranches: [RequestedExpansions.Branch]? {
        guard !tellsAll, let asked, !asked.allBranches.isEmpty else { return nil }
        return asked.allBranches
    }

    /// Returns the entities that the service linked to the entity and that the query contains.
    func partners(
        of id: EntityID, _ type: EntityType, by branch: RequestedExpansions.Branch
    ) throws(StateError) -> [EntityID] {
        guard let asked, let end = type.findProperty(branch.navigation)?.navigation,
            branch.cast.map({ model.isType(type.name, derivedFrom: $0) }) ?? true
        else { return [] }
        var found: [EntityID] = []
        for link in try storage.links(of: id, along: end) where link.inBase {
            let partner = link.target(along: end)
            if try storage.bookkeeping.isCovered(partner, by: asked.query) { found.append(partner) }
        }
        return found
    }
}
