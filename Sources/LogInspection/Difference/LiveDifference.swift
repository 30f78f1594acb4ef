import ODataQuery
import EDM
package import OfflineStore
import Operations

/// A service that is read page by page.
package protocol LiveServiceReader {
    /// Returns one page.
    ///
    /// - Parameter url: A defining query, or the next link of a response.
    func page(_ url: String) async throws(TidelogError) -> QueryAnswer
}

/// The difference between a store and the service's current results of the store's defining queries.
///
/// It compares the properties that the service returns, and the entities of the query results, including expanded ones.
/// Links are not compared, because the service may omit them. If several queries contain an entity, each compares the
/// properties that no earlier one has compared. The IDs of the seen entities of the store are held in memory, and one
/// page of the service.
package struct LiveDifference<Service: LiveServiceReader> {
    private let store: HistoricalStore
    private let service: Service
    /// Whether the store is the first side.
    private let storeIsFirst: Bool
    private let comparison = EntityComparison(matching: .keys)

    private static var pageSize: Int { 256 }

    package init(store: HistoricalStore, service: Service, storeIsFirst: Bool) {
        self.store = store
        self.service = service
        self.storeIsFirst = storeIsFirst
    }

    /// Calls `body` for each different entity: first those that the service returns, in its order, then those that only
    /// the store has.
    ///
    /// - Throws: `invalidRequest` for the scope of a single entity, because a service is read query by query.
    public func run(
        _ scope: DifferenceScope = .everything, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) -> DifferenceCounts {
        let chosen: String?
        switch scope {
        case .everything: chosen = nil
        case .set(let set): chosen = set
        case .entity:
            throw TidelogError(
                .invalidRequest, "A service can be compared only by entity set.",
                recovery: "Name an entity set, or omit the argument.")
        }
        if let chosen, await !store.store.comparison.setNames.contains(chosen) {
            throw TidelogError(
                .invalidRequest, "There is no entity set \(chosen).", recovery: "Check the name in the metadata.")
        }
        var run = LiveComparison()
        let model = try await store.store.model
        for query in try await store.store.definingQueries.all() {
            var next: String? = query.query
            while let url = next {
                let answer = try await service.page(url)
                next = answer.nextLink
                for entity in LiveComparison.flattened(answer.entities) where chosen == nil || entity.set == chosen {
                    try await compare(entity, model, &run, body)
                }
                run.sets.formUnion(answer.entities.map(\.set))
            }
            let set = String(query.query.prefix { $0 != "?" && $0 != "(" && $0 != "/" })
            if model.findEntitySet(set) != nil { run.sets.insert(set) }
        }
        let sets = run.sets.filter { chosen == nil || $0 == chosen }
        for set in sets.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            try await reportUnseen(of: set, &run, body)
        }
        return run.counts
    }

    private func compare(
        _ snapshot: EntitySnapshot, _ model: EntityDataModel, _ run: inout LiveComparison,
        _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        guard let type = model.findEntityType(snapshot.type) else { return }
        let key = KeyPredicate(of: type, in: snapshot.values)
        var sent = ComparedEntity(
            id: EntityID(rawValue: 0), set: snapshot.set, type: type, name: snapshot.readLink, key: key,
            values: snapshot.values)
        let held =
            if let key { try await store.store.comparison.comparedEntities(of: snapshot.set, keys: [key])[0] } else {
                nil as ComparedEntity?
            }
        guard var held else {
            guard run.strangers.insert(sent.name).inserted else { return }
            run.counts.compared += 1
            return try report(comparison.difference(sent, storeIsFirst ? .added : .removed), &run, body)
        }
        let seen = run.seen[held.id]
        let known = seen.map { run.names[$0.names] } ?? []
        // Properties that the service omits, and links, are not compared. Properties from earlier queries already were.
        for name in held.values.names where sent.values[name] == nil || known.contains(name) { held.values[name] = nil }
        for name in known { sent.values[name] = nil }
        run.see(held.id, known.union(snapshot.values.names))
        if seen == nil { run.counts.compared += 1 }
        held.links = []
        sent.links = []
        sent.id = held.id
        sent.name = held.name
        let difference = storeIsFirst ? comparison.difference(held, sent) : comparison.difference(sent, held)
        guard let difference else { return }
        if run.add(difference: held.id) { run.counts.count(difference.change) }
        try body(difference)
    }

    private func reportUnseen(
        of set: String, _ run: inout LiveComparison, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        var last = EntityID(rawValue: 0)
        while true {
            let page = try await store.store.comparison.comparedEntities(of: set, after: last, limit: Self.pageSize)
            guard let end = page.last?.id else { return }
            last = end
            for entity in page where run.seen[entity.id] == nil {
                run.counts.compared += 1
                try report(comparison.difference(entity, storeIsFirst ? .removed : .added), &run, body)
            }
        }
    }

    private func report(
        _ difference: EntityDifference, _ run: inout LiveComparison,
        _ body: (EntityDifference) throws(TidelogError) -> Void
    ) throws(TidelogError) {
        run.counts.count(difference.change)
        try body(difference)
    }
}

/// The progress of a comparison with a service.
private struct LiveComparison {
    var counts = DifferenceCounts()
    /// The entities of the store that the service has returned, with their returned properties as an index into
    /// ``names``.
    private(set) var seen: [EntityID: (names: Int, differs: Bool)] = [:]
    /// The combinations of properties. There are few, because queries return the same properties for entities of a
    /// type.
    private(set) var names: [Set<String>] = []
    private var places: [Set<String>: Int] = [:]
    /// The readLinks of entities that only the service has.
    var strangers: Set<String> = []
    var sets: Set<String> = []

    mutating func see(_ entity: EntityID, _ properties: Set<String>) {
        let place = places[properties] ?? names.count
        if place == names.count {
            names.append(properties)
            places[properties] = place
        }
        seen[entity] = (place, seen[entity]?.differs ?? false)
    }

    /// Records a difference. Returns whether it is the first one of the entity.
    mutating func add(difference entity: EntityID) -> Bool {
        guard let known = seen[entity], !known.differs else { return false }
        seen[entity] = (known.names, true)
        return true
    }

    /// Returns the entities with all expanded entities below them.
    static func flattened(_ entities: [EntitySnapshot]) -> [EntitySnapshot] {
        var found: [EntitySnapshot] = []
        var open = Array(entities.reversed())
        while let entity = open.popLast() {
            found.append(entity)
            for expanded in entity.expanded where expanded.form == .entities {
                open += expanded.entities.filter { !$0.values.isEmpty }
            }
        }
        return found
    }
}
