public import EDM
public import ODataWire
public import Operations
public import SyncCore

/// What a query will ask for row by row, read for all rows at once: the targets of what is expanded, a statement or two for
/// each level and navigation property, and what is pending on each row.
///
/// Who asks for what is not here reads it for itself, so that nothing depends on how complete this is.
public final class Prefetch {
    private struct Walk: Hashable {
        let from: EntityID
        let relationship: String
        let isForward: Bool

        init(_ from: EntityID, _ end: Navigation) {
            self.from = from
            relationship = end.relationship.name
            isForward = end.relationship.isForward
        }
    }

    private let state: SQLiteState
    private let model: EntityDataModel
    /// Whether anything is pending at all; nil where nobody has asked.
    private var hasPending: Bool?
    private var standings: [EntityID: SQLiteState.Standing] = [:]
    private var targets: [Walk: [EntityRow]] = [:]

    public init(state: SQLiteState, model: EntityDataModel) {
        self.state = state
        self.model = model
    }

    // MARK: Asking

    /// What a navigation property leads to, in ascending order of entity ID; nil where it was not read ahead.
    public func targets(of id: EntityID, along end: Navigation) -> [EntityRow]? { targets[Walk(id, end)] }

    public func standing(of id: EntityID) throws(StateError) -> SQLiteState.Standing {
        if let known = standings[id] { return known }
        let any = if let hasPending { hasPending } else { try state.hasPending() }
        hasPending = any
        return any ? try state.standing(of: id) : .clean
    }

    // MARK: Reading ahead

    /// Reads what these rows will be asked for when they are expanded so.
    public func read(_ rows: [EntityRow], _ options: QueryOptions) throws(StateError) {
        try readStandings(rows)
        try readTargets(rows, options, depth: 0)
    }

    private func readStandings(_ rows: [EntityRow]) throws(StateError) {
        guard rows.count > 1, try state.hasPending() else { return }
        for row in rows { standings[row.id] = .clean }
        try state.eachStanding(of: rows.lazy.map(\.id)) { standings[$0] = $1 }
    }

    private func readTargets(_ rows: [EntityRow], _ options: QueryOptions, depth: Int) throws(StateError) {
        guard !rows.isEmpty, depth < QueryLimits.height else { return }
        for item in options.expand {
            guard item.path.count == 1, case .name(let name) = item.path[0] else { continue }
            var found: [EntityID: EntityRow] = [:]
            for (end, sources) in sources(rows, name) {
                for row in try read(sources, along: end) { found[row.id] = row }
            }
            let next = found.values.sorted { $0.id < $1.id }
            try readStandings(next)
            try readTargets(next, item.options, depth: depth + 1)
        }
    }

    /// The rows that have the navigation property, by the end of the relationship that it is: derived types may have others
    /// of the same name.
    private func sources(_ rows: [EntityRow], _ name: String) -> [(end: Navigation, sources: [EntityID])] {
        var byType: [String: [EntityID]] = [:]
        for row in rows { byType[row.type, default: []].append(row.id) }
        return byType.sorted { $0.key < $1.key }.compactMap { type, ids in
            model.findEntityType(type)?.findProperty(name)?.navigation.map { ($0, ids) }
        }
    }

    /// Returns each target once.
    private func read(_ sources: [EntityID], along end: Navigation) throws(StateError) -> [EntityRow] {
        let missing = sources.filter { targets[Walk($0, end)] == nil }
        guard !missing.isEmpty else { return [] }
        var links: [(from: EntityID, to: EntityID)] = []
        var bySet: [String: Set<EntityID>] = [:]
        try state.eachTarget(of: missing, along: end) { from, to, set in
            links.append((from, to))
            bySet[set, default: []].insert(to)
        }
        var rows: [EntityID: EntityRow] = [:]
        for (set, ids) in bySet { for row in try state.rows(ids, in: set) { rows[row.id] = row } }
        for id in missing { targets[Walk(id, end)] = [] }
        for link in links {
            if let row = rows[link.to] { targets[Walk(link.from, end), default: []].append(row) }
        }
        return Array(rows.values)
    }
}
