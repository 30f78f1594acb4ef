import EDM
import ODataWire
import Operations
import SyncCore

/// Searches the service for entities with the content of a create in doubt.
struct ContentSearch {
    let store: LocalStore
    let session: ServiceSession

    /// An entity that may be what was created.
    struct Candidate {
        let payload: EntityPayload
        /// The entity as which a download has brought it.
        let downloaded: EntityID?
    }

    /// What the service has.
    struct Sightings {
        var search = DoubtEvidence.Search.conclusive
        /// Entities with all that was sent that are no others.
        var candidates: [Candidate] = []
        /// How many more a download has brought that cannot be replaced.
        var broughtSince = 0
        var lookalikes = 0
        /// The least that a candidate has in common with what was sent.
        var bits = 0.0

        mutating func add(_ payload: EntityPayload, downloaded: EntityID?, _ bits: Double) {
            self.bits = candidates.isEmpty ? bits : min(self.bits, bits)
            candidates.append(Candidate(payload: payload, downloaded: downloaded))
        }

        /// Whether the service has nothing with the content, nor anything that may be it.
        var isEmpty: Bool { search == .conclusive && candidates.isEmpty && broughtSince == 0 && lookalikes == 0 }

        /// The one entity that has the content, if all others with it are known.
        var onlyCandidate: Candidate? {
            if case .impossible = search { return nil }
            return candidates.count == 1 && broughtSince == 0 ? candidates[0] : nil
        }
    }

    /// The most entities with one value that are looked at.
    private static var limit: Int { 50 }
    /// By how many of the values the service is searched.
    private static var conditionLimit: Int { 3 }

    /// - Parameters:
    ///   - enough: the search ends when there are as many candidates.
    ///   - expands: whether linked entities of the same change set are to be shown.
    @_optimize(none)
    func sightings(
        of doubt: ContentDoubt, enough: Int, expands: Bool
    ) async throws(TidelogError) -> Sightings {
        let conditions = Array(doubt.content.conditions.prefix(Self.conditionLimit))
        guard let first = conditions.first else {
            return Sightings(search: .impossible("Nothing that was sent can be searched for"))
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
            let seen = try await weigh(order.compactMap { found[$0] }, doubt)
            if seen.candidates.count >= enough { return seen }
        }
        guard isSearched else {
            return Sightings(search: .impossible("The service does not let the values be searched for that were sent"))
        }
        if !isConclusive {
            let answer = try await search(doubt, conditions.compactMap { $0.plain ?? $0 }, expands)
            guard let answer, answer.isComplete else {
                return Sightings(
                    search: .impossible("The service has too many entities with the values that were sent"))
            }
            guard add(answer.entities, doubt.set, &found, &order) else { return Self.keyless }
        }
        var seen = try await weigh(order.compactMap { found[$0] }, doubt)
        seen.search = isConclusive ? .conclusive : .narrow
        return seen
    }

    private static let keyless = Sightings(search: .impossible("The service shows entities without their keys"))

    /// Returns whether all of them have keys.
    private func add(
        _ entities: [EntityPayload], _ set: EntitySet, _ found: inout [String: EntityPayload], _ order: inout [String]
    ) -> Bool {
        for entity in entities {
            guard let key = KeyText.of(entity.values, type: set.entityType) else { return false }
            if found.updateValue(entity, forKey: key) == nil { order.append(key) }
        }
        return true
    }

    /// Asks for less where the service refuses the filter. Nil if it refuses each.
    @_optimize(none)
    private func search(
        _ doubt: ContentDoubt, _ conditions: [ValueCondition], _ expands: Bool
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

    @_optimize(none)
    private func attempt(
        _ doubt: ContentDoubt, _ conditions: [ValueCondition], _ expand: [String]
    ) async throws(TidelogError) -> (entities: [EntityPayload], isComplete: Bool)? {
        do throws(TidelogError) {
            return try await EntityReading(store: store, session: session).search(
                doubt.set, at: doubt.place, where: conditions, expand: expand, limit: Self.limit)
        } catch {
            // A search that the service does not understand must not keep all others from being sent.
            guard error.isLastingAnswer || error.isOfReading else { throw error }
            return nil
        }
    }

    @_optimize(none)
    private func weigh(_ entities: [EntityPayload], _ doubt: ContentDoubt) async throws(TidelogError) -> Sightings {
        let known = try await store.acquaintances(
            with: entities, of: doubt.set, in: doubt.container, besides: doubt.anchors[0])
        var seen = Sightings()
        for (shown, acquaintance) in zip(entities, known) {
            var entity = shown
            // What is expanded is in doubt itself: it gets its key when it is read beside this one.
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
