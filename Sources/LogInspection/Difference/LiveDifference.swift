public import SyncEngine
import ODataWire
import EDM
import Operations

/// A service, read page by page.
public protocol LiveReading {
    /// - Parameter url: a defining query, or the next link of an answer.
    func page(_ url: String) async throws(TidelogError) -> QueryAnswer
}

/// The difference of a store and of what its service answers to the store's defining queries now.
///
/// Compared are the properties that the service sends, and the entities that the queries bring; what they expand counts as
/// brought. Links are not: what a service does not send is not known. An entity that several queries
/// bring is compared with each of them as far as it was not before. Of the store the IDs of what was seen are in memory, of the
/// service a page.
public struct LiveDifference<Service: LiveReading> {
    private let store: PastStore
    private let service: Service
    /// Whether the store is the first side.
    private let storeIsFirst: Bool
    private let comparison = EntityComparison(matching: .keys)

    private static var pageSize: Int { 256 }

    public init(store: PastStore, service: Service, storeIsFirst: Bool) {
        self.store = store
        self.service = service
        self.storeIsFirst = storeIsFirst
    }

    /// Calls `body` for each entity that differs: those that the service sends, in its order, then those that only the store has.
    ///
    /// - Throws: `invalidRequest` where a single entity is asked for: a service is read query by query.
    @inline(never)
    @_optimize(none)
    public func run(
        _ scope: DifferenceScope = .everything, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) -> DifferenceCounts {
        let chosen: String?
        switch scope {
        case .everything: chosen = nil
        case .set(let set): chosen = set
        case .entity:
            throw TidelogError(
                .invalidRequest, "A service is compared set by set.", recovery: "Name the entity set, or nothing.")
        }
        if let chosen, await !store.store.setNames.contains(chosen) {
            throw TidelogError(
                .invalidRequest, "There is no entity set \(chosen).", recovery: "Check its name in the metadata.")
        }
        var run = LiveRun()
        let model = try await store.store.model
        for query in try await store.store.definingQueries() {
            var next: String? = query.query
            while let url = next {
                let answer = try await service.page(url)
                next = answer.nextLink
                for entity in LiveRun.flattened(answer.entities) where chosen == nil || entity.set == chosen {
                    try await compare(entity, model, &run, body)
                }
                run.sets.formUnion(answer.entities.map(\.set))
            }
            let set = String(query.query.prefix { $0 != "?" && $0 != "(" && $0 != "/" })
            if model.findEntitySet(set) != nil { run.sets.insert(set) }
        }
        let sets = run.sets.filter { chosen == nil || $0 == chosen }
        for set in sets.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            try await tellUnseen(of: set, &run, body)
        }
        return run.counts
    }

    private func compare(
        _ snapshot: EntitySnapshot, _ model: EntityDataModel, _ run: inout LiveRun,
        _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        guard let type = model.findEntityType(snapshot.type) else { return }
        let key = KeyPredicate(of: type, in: snapshot.values)
        var sent = ComparedEntity(
            id: EntityID(rawValue: 0), set: snapshot.set, type: type, name: snapshot.readLink, key: key,
            values: snapshot.values)
        let held =
            if let key { try await store.store.comparedEntities(of: snapshot.set, keys: [key])[0] } else {
                nil as ComparedEntity?
            }
        guard var held else {
            guard run.strangers.insert(sent.name).inserted else { return }
            run.counts.compared += 1
            return try tell(comparison.difference(sent, storeIsFirst ? .added : .removed), &run, body)
        }
        let seen = run.seen[held.id]
        let known = seen.map { run.names[$0.names] } ?? []
        // What the service leaves out is not known, and so are links; what another query brought was compared.
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
        if run.note(difference: held.id) { run.counts.count(difference.change) }
        try body(difference)
    }

    @inline(never)
    @_optimize(none)
    private func tellUnseen(
        of set: String, _ run: inout LiveRun, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        var last = EntityID(rawValue: 0)
        while true {
            let page = try await store.store.comparedEntities(of: set, behind: last, limit: Self.pageSize)
            guard let end = page.last?.id else { return }
            last = end
            for entity in page where run.seen[entity.id] == nil {
                run.counts.compared += 1
                try tell(comparison.difference(entity, storeIsFirst ? .removed : .added), &run, body)
            }
        }
    }

    private func tell(
        _ difference: EntityDifference, _ run: inout LiveRun,
        _ body: (EntityDifference) throws(TidelogError) -> Void
    ) throws(TidelogError) {
        run.counts.count(difference.change)
        try body(difference)
    }
}

/// How far a comparison with a service has come.
private struct LiveRun {
    var counts = DifferenceCounts()
    /// The store's entities that the service has sent: which properties of them, as a place in ``names``.
    private(set) var seen: [EntityID: (names: Int, differs: Bool)] = [:]
    /// Few: queries send the same properties of entities of a type.
    private(set) var names: [Set<String>] = []
    private var places: [Set<String>: Int] = [:]
    /// The readLinks of what only the service has.
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

    /// Returns whether it is the first one of the entity.
    mutating func note(difference entity: EntityID) -> Bool {
        guard let known = seen[entity], !known.differs else { return false }
        seen[entity] = (known.names, true)
        return true
    }

    /// The entities with all that is expanded below them.
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
