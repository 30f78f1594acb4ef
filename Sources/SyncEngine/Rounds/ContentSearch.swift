import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Searches the service for entities with the content of a create in doubt.
struct ContentSearch {
    let store: LocalStore
    let session: ServiceSession

    /// An entity that may be the result of the create.
    struct Candidate {
        let payload: EntityPayload
        /// The ID under which a download has already stored the entity, if any.
        let downloaded: EntityID?
    }

    /// The matches that a search found on the service.
    struct SearchResult {
        var search = DoubtEvidence.Search.conclusive
        /// Entities that match everything that was sent and are not known as other entities.
        var candidates: [Candidate] = []
        /// The number of further matches that a download has stored and that cannot be replaced.
        var broughtSince = 0
        var lookalikes = 0
        /// The weakest match between a candidate and the sent content, in bits of evidence.
        var bits = 0.0

        mutating func add(_ payload: EntityPayload, downloaded: EntityID?, _ bits: Double) {
            self.bits = candidates.isEmpty ? bits : min(self.bits, bits)
            candidates.append(Candidate(payload: payload, downloaded: downloaded))
        }

        /// Whether the search was conclusive and found neither a match nor a possible match.
        var isEmpty: Bool { search == .conclusive && candidates.isEmpty && broughtSince == 0 && lookalikes == 0 }

        /// The only candidate, provided that all other matches are known.
        var onlyCandidate: Candidate? {
            if case .impossible = search { return nil }
            return candidates.count == 1 && broughtSince == 0 ? candidates[0] : nil
        }
    }

    /// The largest number of entities that are read for one condition.
    private static var limit: Int { 50 }
    /// The largest number of values that are used as search conditions.
    private static var conditionLimit: Int { 3 }

    /// Searches for the content of a doubt.
    ///
    /// - Parameters:
    ///   - enough: The number of candidates after which the search stops.
    ///   - expands: Whether to expand linked entities of the same change set.
    func searchResult(
        of doubt: ContentInDoubt, enough: Int, expands: Bool
    ) async throws(TidelogError) -> SearchResult {
        let conditions = Array(doubt.content.conditions.prefix(Self.conditionLimit))
        guard let first = conditions.first else {
            return SearchResult(search: .impossible("None of the values that were sent can be searched for"))
        }
        var found: [String: EntityPayload] = [:]
        var order: [String] = []
        var (isConclusive, isSearched) = (false, false)
        for condition in conditions {
            let answer = try await search(doubt, [condition], expands)
            guard let answer else { continue }
            isSearched = true
            guard answer.isComplete else { continue }
            guard add(answer.entities, doubt.set, &found, &order) else { return Self.keyless }
            if condition == first { isConclusive = true }
            let seen = try await compare(order.compactMap { found[$0] }, doubt)
            if seen.candidates.count >= enough { return seen }
        }
        guard isSearched else {
            return SearchResult(
                search: .impossible("The service does not support a search for the values that were sent"))
        }
        if !isConclusive {
            let answer = try await search(doubt, conditions.compactMap { $0.plain ?? $0 }, expands)
            guard let answer, answer.isComplete else {
                return SearchResult(
                    search: .impossible("The service has too many entities with the values that were sent"))
            }
            guard add(answer.entities, doubt.set, &found, &order) else { return Self.keyless }
        }
        var seen = try await compare(order.compactMap { found[$0] }, doubt)
        seen.search = isConclusive ? .conclusive : .narrow
        return seen
    }

    private static let keyless = SearchResult(search: .impossible("The service returns entities without their keys"))

    /// Adds entities by key. Returns whether all of them have keys.
    private func add(
        _ entities: [EntityPayload], _ set: EntitySet, _ found: inout [String: EntityPayload], _ order: inout [String]
    ) -> Bool {
        for entity in entities {
            guard let key = KeyText.of(entity.values, type: set.entityType) else { return false }
            if found.updateValue(entity, forKey: key) == nil { order.append(key) }
        }
        return true
    }

    /// Searches with the given conditions, and with simpler requests if the service rejects the filter.
    ///
    /// - Returns: Nil if the service rejects every variant.
    private func search(
        _ doubt: ContentInDoubt, _ conditions: [ValueCondition], _ expands: Bool
    ) async throws(TidelogError) -> (entities: [EntityPayload], isComplete: Bool)? {
        let expand = expands ? doubt.content.navigations : []
        let plain = conditions.map { $0.plain ?? $0 }
        var attempts = [(conditions, expand)]
        if !expand.isEmpty { attempts.append((conditions, [])) }
        if plain != conditions { attempts.append((plain, [])) }
        for (conditions, expand) in attempts {
            if let answer = try await attempt(doubt, conditions, expand) { return answer }
        }
        return nil
    }

    private func attempt(
        _ doubt: ContentInDoubt, _ conditions: [ValueCondition], _ expand: [String]
    ) async throws(TidelogError) -> (entities: [EntityPayload], isComplete: Bool)? {
        do throws(TidelogError) {
            return try await EntityReader(store: store, session: session).search(
                doubt.set, at: doubt.place, where: conditions, expand: expand, limit: Self.limit)
        } catch {
            // A filter that the service does not support must not keep other operations from being sent.
            guard error.isLastingAnswer || error.isOfReading else { throw error }
            return nil
        }
    }

    private func compare(_ entities: [EntityPayload], _ doubt: ContentInDoubt) async throws(TidelogError)
        -> SearchResult
    {
        let known = try await store.doubts.priorKnowledge(
            of: entities, in: doubt.set, container: doubt.container, besides: doubt.anchors[0])
        var seen = SearchResult()
        for (shown, acquaintance) in zip(entities, known) {
            var entity = shown
            // The expanded entities are in doubt themselves. They get their keys when the linked entities are read.
            entity.expanded = []
            switch (doubt.content.resemblance(of: shown), acquaintance) {
            case (_, .other), (.different, _): break
            case (.lookalike, _): seen.lookalikes += 1
            case (.alike, .broughtSince(_, isReplaceable: false)): seen.broughtSince += 1
            case (.alike(let bits), .broughtSince(let id, isReplaceable: true)): seen.add(entity, downloaded: id, bits)
            case (.alike(let bits), .none): seen.add(entity, downloaded: nil, bits)
            }
        }
        return seen
    }
}
