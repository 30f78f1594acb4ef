public import SyncEngine
import EDM
import Operations

/// What is compared.
public enum DifferenceScope: Sendable, Hashable {
    case everything
    /// One entity set.
    case set(String)
    /// One entity, by a link that one of the sides understands.
    case entity(String)

    /// `Customers` is a set, `Customers(1)` an entity.
    public init(_ text: String) { self = text.contains("(") ? .entity(text) : .set(text) }
}

/// How many entities were compared, and how many differ.
public struct DifferenceCounts: Sendable, Hashable {
    public internal(set) var compared = 0
    public internal(set) var added = 0
    public internal(set) var removed = 0
    public internal(set) var changed = 0

    public var differences: Int { added + removed + changed }

    mutating func count(_ change: EntityDifference.Change) {
        switch change {
        case .added: added += 1
        case .removed: removed += 1
        case .changed: changed += 1
        }
    }
}

/// The difference of two states: entities, properties and links, with the pending operations on top.
///
/// Streams through both, some hundred entities at a time.
public struct StateDifference {
    /// Which entities of the two sides are one.
    public enum Matching: Sendable, Hashable {
        /// Those with the same ID: in two states of one store.
        case entityIDs
        /// Those with the same key; one without a key is in its own store only.
        case keys
        /// Those with the same key, and of those without one those with the same ID: in a store and a copy, which may both
        /// have gone on.
        case keysAndLocalIDs
    }

    private let before: PastStore
    private let after: PastStore
    private let matching: Matching
    private let comparison: EntityComparison

    private static let pageSize = 256

    public init(before: PastStore, after: PastStore, matching: Matching) {
        self.before = before
        self.after = after
        self.matching = matching
        comparison = EntityComparison(matching: matching)
    }

    /// Calls `body` for each entity that differs: set by set, first those that the first side has.
    public func run(
        _ scope: DifferenceScope = .everything, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) -> DifferenceCounts {
        var counts = DifferenceCounts()
        switch scope {
        case .entity(let link): try await compareEntity(link, &counts, body)
        case .set(let set): try await compare([set], isNamed: true, &counts, body)
        case .everything:
            let sets = Set(await before.store.setNames).union(await after.store.setNames)
            let sorted = sets.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try await compare(sorted, isNamed: false, &counts, body)
        }
        return counts
    }

    @inline(never)
    @_optimize(none)
    private func compare(
        _ sets: [String], isNamed: Bool, _ counts: inout DifferenceCounts,
        _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        for set in sets {
            if isNamed {
                let known = await before.store.setNames + after.store.setNames
                guard known.contains(set) else {
                    throw TidelogError(
                        .invalidRequest, "There is no entity set \(set).", recovery: "Check its name in the metadata.")
                }
            }
            try await compare(set, &counts, body)
        }
    }

    /// What is on the first side and otherwise or not at all on the second; then what is on the second side only.
    @inline(never)
    @_optimize(none)
    private func compare(
        _ set: String, _ counts: inout DifferenceCounts, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        var last = EntityID(rawValue: 0)
        while true {
            let page = try await before.store.comparedEntities(of: set, behind: last, limit: Self.pageSize)
            guard let end = page.last?.id else { break }
            last = end
            let others = try await counterparts(of: page, set, in: after)
            for (entity, other) in zip(page, others) {
                counts.compared += 1
                let difference =
                    if let other { comparison.difference(entity, other) } else {
                        comparison.difference(entity, .removed)
                    }
                if let difference { try tell(difference, &counts, body) }
            }
        }
        last = EntityID(rawValue: 0)
        while true {
            let page = try await after.store.comparedEntities(of: set, behind: last, limit: Self.pageSize)
            guard let end = page.last?.id else { break }
            last = end
            let others = try await counterparts(of: page, set, in: before)
            for (entity, other) in zip(page, others) where other == nil {
                counts.compared += 1
                try tell(comparison.difference(entity, .added), &counts, body)
            }
        }
    }

    private func tell(
        _ difference: EntityDifference, _ counts: inout DifferenceCounts,
        _ body: (EntityDifference) throws(TidelogError) -> Void
    ) throws(TidelogError) {
        counts.count(difference.change)
        try body(difference)
    }

    /// One for each of the page, in order.
    private func counterparts(
        of page: [ComparedEntity], _ set: String, in side: PastStore
    ) async throws(TidelogError) -> [ComparedEntity?] {
        if matching == .entityIDs {
            let found = try await side.store.comparedEntities(page.map(\.id))
            return page.map { found[$0.id] }
        }
        let keys = page.compactMap(\.key)
        var found = try await side.store.comparedEntities(of: set, keys: keys)[...]
        let local = matching == .keysAndLocalIDs ? page.filter { $0.key == nil }.map(\.id) : []
        let sameIDs = try await side.store.comparedEntities(local).filter { $0.value.key == nil && $0.value.set == set }
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
                .notFound, "\(link) is on neither side.",
                recovery: "Check the key, or name its entity ID: Customers(~3).")
        case (let old?, nil): try await compareOld(old, &counts, body)
        case (nil, let new?): try await compareNew(new, &counts, body)
        case (let old?, let new?):
            try await compareOld(old, &counts, body)
            // Where the link leads to an entity of its own on each side, it is about both.
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
        if let difference { try tell(difference, &counts, body) }
    }

    private func compareNew(
        _ new: ComparedEntity, _ counts: inout DifferenceCounts, _ body: (EntityDifference) throws(TidelogError) -> Void
    ) async throws(TidelogError) {
        let other = try await counterparts(of: [new], new.set, in: before)[0]
        let difference = other.map { comparison.difference($0, new) } ?? comparison.difference(new, .added)
        if let difference { try tell(difference, &counts, body) }
    }

    private func entity(_ link: String, in side: PastStore) async throws(TidelogError) -> ComparedEntity? {
        do throws(TidelogError) {
            guard let id = try await side.store.load(.link(link)).entityID else { return nil }
            return try await side.store.comparedEntities([id])[id]
        } catch {
            switch error.code {
            // What is not there is refused by a rule where a readLink names it.
            case .notFound, .noStore, .refused: return nil
            default: throw error
            }
        }
    }
}
