package import EDM
package import ODataQuery
package import Operations
import SyncCore

extension RowQuery {
    /// Returns the targets of a navigation property for each source, with the options of its `$expand`. Uses one
    /// statement if SQL can express the options; otherwise filters and sorts in memory.
    ///
    /// - Parameters:
    ///   - sources: Entities that have the property.
    ///   - set: A closure that returns the set of a source, by its index.
    ///   - type: The type of the targets, or nil for all.
    ///   - isCount: Whether only the number is needed. The result then contains no rows.
    ///   - body: A closure that is called with each target if ``ExpandedTargets/isDelivered`` is true. With any other
    ///     result, the targets that it was called with are to be ignored.
    package func targets(
        of sources: [EntityID], inSets set: (Int) -> String, _ property: Property, _ options: QueryOptions,
        ofType type: String? = nil, isCount: Bool = false, to body: RowReceiver? = nil
    ) throws -> ExpandedTargets {
        guard let end = property.navigation else { return ExpandedTargets(sources: sources.count) }
        if type == nil, let target = onlyTarget(of: property) {
            do {
                guard isCount else {
                    var rows: [EntityRow] = []
                    var found = try state.entityQueries.targets(
                        of: sources, along: end, in: target, options, now: now, to: body ?? { rows.append($0) })
                    (found.rows, found.isDelivered) = (rows, body != nil)
                    return found
                }
                var found = ExpandedTargets(sources: sources.count)
                found.counts = try state.entityQueries.counts(of: sources, along: end, in: target, options, now: now)
                return found
            } catch let error as EvaluationError {
                state.connection.trace?.recordInMemory(error.message)
            }
        }
        let found = try targetsInMemory(of: sources, inSets: set, property, end, options, type)
        guard isCount else { return found }
        var counted = ExpandedTargets(sources: sources.count)
        counted.counts = found.counts
        return counted
    }

    private func targetsInMemory(
        of sources: [EntityID], inSets sourceSet: (Int) -> String, _ property: Property, _ end: Navigation,
        _ options: QueryOptions, _ type: String?
    ) throws -> ExpandedTargets {
        var found = ExpandedTargets(sources: sources.count)
        let places = Dictionary(sources.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        var links: [(source: Int, target: EntityID)] = []
        var bySet: [String: Set<EntityID>] = [:]
        try state.entityQueries.eachTarget(of: sources, along: end) { from, to, set in
            guard let source = places[from], model.shows(set, through: property, from: sourceSet(source)) else {
                return
            }
            links.append((source, to))
            bySet[set, default: []].insert(to)
        }
        var rows: [EntityID: EntityRow] = [:]
        for (set, ids) in bySet {
            for row in try state.entityQueries.rows(ids, in: set)
            where type.map({ model.isType(row.type, derivedFrom: $0) }) ?? true {
                rows[row.id] = row
            }
        }
        var targets = [[EntityRow]](repeating: [], count: sources.count)
        for link in links { if let row = rows[link.target] { targets[link.source].append(row) } }
        var known: [EntityID: Int] = [:]
        for source in sources.indices {
            let passed = try apply(options, to: targets[source])
            found.counts[source] = passed.count
            for row in passed.rows {
                if known[row.id] == nil {
                    known[row.id] = found.rows.count
                    found.rows.append(row)
                }
                if let place = known[row.id] { found.append(place, to: source) }
            }
        }
        return found
    }

    /// Returns the target set of a navigation property of one entity, or nil if its targets can be in several sets.
    func onlyTarget(of property: Property, from source: EntityID) throws(StateError) -> EntitySet? {
        guard property.navigation?.containsTarget == true,
            let set = try state.set(of: source).flatMap({ model.findEntitySet($0) }),
            let target = model.target(of: property, in: set), target.isContained
        else { return onlyTarget(of: property) }
        return target
    }

    /// Returns the target set of a navigation property, or nil if its targets can be in several sets.
    func onlyTarget(of property: Property) -> EntitySet? {
        guard let target = property.navigation?.targetType else { return nil }
        var only: EntitySet?
        for set in model.allSets
        where model.isType(set.entityType.name, derivedFrom: target)
            || model.isType(target, derivedFrom: set.entityType.name)
        {
            if only != nil { return nil }
            only = set
        }
        return only
    }
}
