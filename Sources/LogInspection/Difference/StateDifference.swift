import EDM
public import OfflineStore
import Operations

/// The scope of a comparison.
public enum DifferenceScope: Sendable, Hashable {
    /// All entities of all sets.
    case everything
    /// One entity set.
    case set(String)
    /// One entity, by a link that at least one of the sides resolves.
    case entity(String)

    /// Creates a scope: `Customers` is a set, `Customers(1)` an entity.
    public init(_ text: String) { self = text.contains("(") ? .entity(text) : .set(text) }
}

/// The number of compared entities, and of different ones.
public struct DifferenceCounts: Sendable, Hashable {
    /// The number of compared entities.
    public internal(set) var compared = 0
    /// The number of entities that only the second side has.
    public internal(set) var added = 0
    /// The number of entities that only the first side has.
    public internal(set) var removed = 0
    /// The number of entities that both sides have, with different properties or links.
    public internal(set) var changed = 0

    /// The number of all differences: added, removed and changed entities.
    public var differences: Int { added + removed + changed }

    mutating func count(_ change: EntityDifference.Change) {
        switch change {
        case .added: added += 1
        case .removed: removed += 1
        case .changed: changed += 1
        }
    }
}

/// The difference between two states: entities, properties and links, with the pending operations applied.
///
/// It streams both states in pages of a few hundred entities.
public struct StateDifference {
    /// The way in which entities of the two sides are matched.
    public enum Matching: Sendable, Hashable {
        /// By ID, for two states of one store.
        case entityIDs
        /// By key. An entity without a key matches none.
        case keys
        /// By key, and entities without a key by ID, for a store and a copy that may both have continued.
        case keysAndLocalIDs
    }

    private let before: HistoricalStore
    private let after: HistoricalStore
    private let matching: Matching
    private let comparison: EntityComparison

    private static let pageSize = 256

    /// Creates a comparison of two states, whose entities are matched in the given way.
    public init(before: HistoricalStore, after: HistoricalStore, matching: Matching) {
        self.before = before
        self.after = after
        self.matching = matching
        comparison = EntityComparison(matching: matching)
    }

    /// Calls `body` for each different entity, set by set, beginning with those of the first side.
    ///
    /// - Throws: `invalidRequest` if neither side has the entity set of the scope; `notFound` if neither has its
    ///   entity; the errors of `body`.
    public func run(
        _ scope: DifferenceScope = .everything, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) -> DifferenceCounts {
        var counts = DifferenceCounts()
        switch scope {
        case .entity(let link): try await compareEntity(link, &counts, body)
        case .set(let set): try await compare([set], isNamed: true, &counts, body)
        case .everything:
            let sets = Set(await before.store.comparison.setNames).union(await after.store.comparison.setNames)
            let sorted = sets.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try await compare(sorted, isNamed: false, &counts, body)
        }
        return counts
    }

    private func compare(
        _ sets: [String], isNamed: Bool, _ counts: inout DifferenceCounts,
        _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        for set in sets {
            if isNamed {
                let known = await before.store.comparison.setNames + after.store.comparison.setNames
                guard known.contains(set) else {
                    throw TidelogError(
                        .invalidRequest, "There is no entity set \(set).", recovery: "Check the name in the metadata.")
                }
            }
            try await compare(set, &counts, body)
        }
    }

    /// Compares the entities of the first side, then reports those that only the second side has.
    private func compare(
        _ set: String, _ counts: inout DifferenceCounts, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        var last = EntityID(rawValue: 0)
        while true {
            let page = try await before.store.comparison.comparedEntities(of: set, after: last, limit: Self.pageSize)
            guard let end = page.last?.id else { break }
            last = end
            let others = try await counterparts(of: page, set, in: after)
            for (entity, other) in zip(page, others) {
                counts.compared += 1
                let difference =
                    if let other { comparison.difference(entity, other) } else {
                        comparison.difference(entity, .removed)
                    }
                if let difference { try report(difference, &counts, body) }
            }
        }
        last = EntityID(rawValue: 0)
        while true {
            let page = try await after.store.comparison.comparedEntities(of: set, after: last, limit: Self.pageSize)
            guard let end = page.last?.id else { break }
            last = end
            let others = try await counterparts(of: page, set, in: before)
            for (entity, other) in zip(page, others) where other == nil {
                counts.compared += 1
                try report(comparison.difference(entity, .added), &counts, body)
            }
        }
    }

    private func report(
        _ difference: EntityDifference, _ counts: inout DifferenceCounts,
        _ body: (EntityDifference) throws(TidelogError) -> Void
    ) throws(TidelogError) {
        counts.count(difference.change)
        try body(difference)
    }

    /// Returns the counterpart of each entity of the page, in order.
    private func counterparts(
        of page: [ComparedEntity], _ set: String, in side: HistoricalStore
    ) async throws(TidelogError) -> [ComparedEntity?] {
        if matching == .entityIDs {
            let found = try await side.store.comparison.comparedEntities(page.map(\.id))
            return page.map { found[$0.id] }
        }
        let keys = page.compactMap(\.key)
        var found = try await side.store.comparison.comparedEntities(of: set, keys: keys)[...]
        let local = matching == .keysAndLocalIDs ? page.filter { $0.key == nil }.map(\.id) : []
        let sameIDs = try await side.store.comparison.comparedEntities(local).filter {
            $0.value.key == nil && $0.value.set == set
        }
        return page.map { $0.key == nil ? sameIDs[$0.id] : found.popFirst() ?? nil }
    }

    private func compareEntity(
        _ link: String, _ counts: inout DifferenceCounts, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        let (old, new) = (try await entity(link, in: before), try await entity(link, in: after))
        counts.compared += 1
        switch (old, new) {
        case (nil, nil):
            throw TidelogError(
                .notFound, "\(link) is in neither of the two states.",
                recovery: "Check the key, or use the entity ID: Customers(~3).")
        case (let old?, nil): try await compareOld(old, &counts, body)
        case (nil, let new?): try await compareNew(new, &counts, body)
        case (let old?, let new?):
            try await compareOld(old, &counts, body)
            // If the link leads to a different entity on each side, both are compared.
            guard try await counterparts(of: [old], old.set, in: after)[0]?.id != new.id else { return }
            counts.compared += 1
            try await compareNew(new, &counts, body)
        }
    }

    private func compareOld(
        _ old: ComparedEntity, _ counts: inout DifferenceCounts, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        let other = try await counterparts(of: [old], old.set, in: after)[0]
        let difference = other.map { comparison.difference(old, $0) } ?? comparison.difference(old, .removed)
        if let difference { try report(difference, &counts, body) }
    }

    private func compareNew(
        _ new: ComparedEntity, _ counts: inout DifferenceCounts, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        let other = try await counterparts(of: [new], new.set, in: before)[0]
        let difference = other.map { comparison.difference($0, new) } ?? comparison.difference(new, .added)
        if let difference { try report(difference, &counts, body) }
    }

    private func entity(_ link: String, in side: HistoricalStore) async throws(TidelogError) -> ComparedEntity? {
        do throws(TidelogError) {
            guard let id = try await side.store.load(.link(link)).entityID else { return nil }
            return try await side.store.comparison.comparedEntities([id])[id]
        } catch {
            switch error.code {
            // A rule refuses a readLink to an entity that does not exist.
            case .notFound, .noStore, .refused: return nil
            default: throw error
            }
        }
    }
}
