import EDM
import ODataQuery
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Resolves creates in doubt by their content: it searches the service for the sent values and weighs the matches.
///
/// The round only reads. The upload logs its conclusions.
struct EvidenceRound {
    let store: LocalStore
    let session: ServiceSession
    /// The policy that replaces the store's policy for all sets, if there is one.
    var policy: ServiceOptions.DoubtPolicy?

    /// The outcome of operations that took effect all or none.
    struct Resolution {
        let members: [PendingOperation]
        let outcome: Outcome
    }

    typealias Found = (operation: SequenceNumber, payload: EntityPayload, set: EntitySet)

    enum Outcome {
        /// They took effect. The values are the entities that were found, the IDs under which downloads had stored
        /// them, and the reason for the conclusion.
        case tookEffect([Found], replacing: [EntityID], String)
        /// They did not take effect, for this reason.
        case absent(String)
        /// The lost request may still be running until this time.
        case waits(Timestamp)
        /// The outcome cannot be determined, for this reason. The reason is nil if no search took place.
        case undecided(String?)
        /// The service has only a part of one change set, so it does not roll back. Each operation has to be resolved
        /// individually.
        case tookEffectInPart
    }

    /// Resolves groups of operations in doubt.
    ///
    /// - Parameters:
    ///   - sets: Groups whose outcome no key reveals.
    ///   - busy: Other operations in doubt that the service may still be processing.
    func resolutions(
        of sets: [[PendingOperation]], busy: [[PendingOperation]]
    ) async throws(TidelogError) -> [Resolution] {
        var resolutions: [Resolution] = []
        var doubts: [ContentInDoubt] = []
        let reader = ContentInDoubtReader(store: store, policy: policy, sets: sets + busy)
        for members in sets {
            if let doubt = try await reader.doubt(of: members) {
                doubts.append(doubt)
            } else {
                resolutions.append(Resolution(members: members, outcome: .undecided(nil)))
            }
        }
        // Creates that were not sent again and are not anchors could also be the entity that is found.
        let others = try await reader.contents()
        while let first = doubts.first {
            // The first of the twins that was sent determines which entities a download has stored since.
            let group = doubts.filter { $0.isTwin(of: first) }.sorted { $0.batch < $1.batch }
            doubts.removeAll { $0.isTwin(of: first) }
            resolutions += try await resolve(group, others)
        }
        return resolutions
    }

    /// Resolves a group of doubts with equal content.
    ///
    /// - Parameters:
    ///   - group: Interchangeable doubts.
    ///   - others: The contents of all creates in doubt.
    private func resolve(
        _ group: [ContentInDoubt], _ others: [SequenceNumber: [SentContent]]
    ) async throws(TidelogError) -> [Resolution] {
        let first = group[0]
        let own = Set(group.flatMap { $0.anchors.map(\.sequence) })
        var evidence = DoubtEvidence()
        evidence.creates = own.count
        evidence.knowsWholeSet = try await store.doubts.knowsWhole(first.set)
        evidence.hasNeighbours = others.contains { operation, contents in
            !own.contains(operation) && contents.contains { $0.isAlike(first.content) }
        }
        if try await store.doubts.hasKeyless(like: first.content, in: first.set) { evidence.hasNeighbours = true }
        let search = ContentSearch(store: store, session: session)
        let needed = evidence.knowsWholeSet ? DoubtEvidence.bitsAmongKnown : DoubtEvidence.bitsAmongUnknown
        let searchResult = try await search.searchResult(
            of: first, enough: own.count, expands: first.content.bits < needed)
        evidence.search = searchResult.search
        evidence.candidates = searchResult.candidates.count
        evidence.broughtSince = searchResult.broughtSince
        evidence.lookalikes = searchResult.lookalikes
        evidence.bits = searchResult.bits
        let wait = try await wait(of: group)
        evidence.isWaitOver = wait.isOver
        switch evidence.verdict {
        case .undecided(let reason): return group.map { Resolution(members: $0.members, outcome: .undecided(reason)) }
        case .wait: return group.map { Resolution(members: $0.members, outcome: .waits(wait.end)) }
        case .absent: return try await absences(of: group)
        case .adopt(let count):
            // A change set took effect completely or not at all.
            guard count.isMultiple(of: first.anchors.count) else {
                let reason = "The service has some of the entities that one change set created, but not all of them."
                return group.map { Resolution(members: $0.members, outcome: .undecided(reason)) }
            }
            return try await adoptions(of: group, searchResult.candidates[..<count], searchResult.bits, wait)
        }
    }

    /// Returns the outcomes of doubts whose most distinctive creates the service does not have.
    private func absences(of group: [ContentInDoubt]) async throws(TidelogError) -> [Resolution] {
        var resolutions: [Resolution] = []
        for doubt in group {
            var outcome = Outcome.absent(Self.absence)
            for companion in doubt.companions {
                let search = ContentSearch(store: store, session: session)
                let seen = try await search.searchResult(of: companion, enough: 1, expands: false)
                if seen.onlyCandidate != nil {
                    outcome = .tookEffectInPart
                    break
                }
                if !seen.candidates.isEmpty || seen.broughtSince > 0 {
                    outcome = .undecided(
                        "The service may have some of the entities that one change set created, but not all of them.")
                }
            }
            resolutions.append(Resolution(members: doubt.members, outcome: outcome))
        }
        return resolutions
    }

    private static let absence =
        "The service has no entity with the values that were sent, so the operation did not take effect and is sent again."

    private func adoptions(
        of group: [ContentInDoubt], _ candidates: ArraySlice<ContentSearch.Candidate>, _ bits: Double,
        _ wait: (isOver: Bool, end: Timestamp)
    ) async throws(TidelogError) -> [Resolution] {
        var candidates = candidates
        var resolutions: [Resolution] = []
        for doubt in group {
            guard candidates.count >= doubt.anchors.count else {
                resolutions += try await absences(of: [doubt])
                continue
            }
            let own = Array(candidates.prefix(doubt.anchors.count))
            candidates.removeFirst(doubt.anchors.count)
            var found: [Found] = zip(doubt.anchors, own).map { ($0.sequence, $1.payload, doubt.set) }
            var replaced = own.compactMap(\.downloaded)
            let names = found.map { "\(doubt.set.name)(\(Self.key($0.payload, doubt.set)))" }.joined(separator: ", ")
            // The service may or may not roll back, so each of the other creates is searched for as well.
            var isWhole = true
            for companion in doubt.companions {
                let search = ContentSearch(store: store, session: session)
                let seen = try await search.searchResult(of: companion, enough: 1, expands: false)
                if seen.isEmpty { isWhole = false }
                guard let only = seen.onlyCandidate else { continue }
                found.append((companion.anchors[0].sequence, only.payload, companion.set))
                if let downloaded = only.downloaded { replaced.append(downloaded) }
            }
            guard isWhole else {
                resolutions.append(
                    Resolution(members: doubt.members, outcome: wait.isOver ? .tookEffectInPart : .waits(wait.end)))
                continue
            }
            let finding =
                "\(names) has the values that were sent, and the store did not know it before (\(Int(bits)) bits of evidence)."
            resolutions.append(
                Resolution(members: doubt.members, outcome: .tookEffect(found, replacing: replaced, finding)))
        }
        return resolutions
    }

    /// Finds the new entities with service-generated keys of operations that took effect.
    ///
    /// That they exist is proven, so one candidate for each is sufficient, unless it may be the result of another create.
    ///
    /// - Parameters:
    ///   - known: The creates whose entities were found already.
    ///   - sets: All operations in doubt, grouped by those that took effect all or none.
    func newEntities(
        of members: [PendingOperation], besides known: Set<SequenceNumber>, among sets: [[PendingOperation]]
    ) async throws(TidelogError) -> (found: [Found], replaced: [EntityID]) {
        let reader = ContentInDoubtReader(store: store, policy: policy, sets: sets)
        guard let doubt = try await reader.doubt(of: members) else { return ([], []) }
        let others = try await reader.contents()
        var (found, replaced): ([Found], [EntityID]) = ([], [])
        for part in [doubt] + doubt.companions where part.anchors.count == 1 {
            let operation = part.anchors[0].sequence
            let isAmbiguous = others.contains { other, contents in
                other != operation && contents.contains { $0.isAlike(part.content) }
            }
            guard !known.contains(operation), !isAmbiguous,
                try await !store.doubts.hasKeyless(like: part.content, in: part.set)
            else { continue }
            let search = ContentSearch(store: store, session: session)
            let seen = try await search.searchResult(of: part, enough: 2, expands: false)
            guard let only = seen.onlyCandidate else { continue }
            found.append((operation, only.payload, part.set))
            if let downloaded = only.downloaded { replaced.append(downloaded) }
        }
        return (found, replaced)
    }

    private static func key(_ payload: EntityPayload, _ set: EntitySet) -> String {
        KeyPredicate(of: set.entityType, in: payload.values).map(KeyText.predicate) ?? "?"
    }

    private func wait(of group: [ContentInDoubt]) async throws(TidelogError) -> (isOver: Bool, end: Timestamp) {
        let options = try await store.serviceOptions
        let now = store.environment.now()
        var end = Timestamp.min
        for doubt in group where !DoubtReason.isOfRefusal(doubt.anchors[0].doubtReason) {
            let sent = try await store.doubts.sendingTime(of: doubt.anchors[0])
            let wait = await store.doubts.lostRequestWait(
                of: doubt.anchors[0], sent: sent, seconds: options.lostRequestSeconds)
            end = max(end, wait.end)
        }
        return (now >= end, end)
    }

    /// Returns whether the service has an unknown entity with all values of a create. Nil if this cannot be determined.
    func hasUnknown(like creation: PendingOperation) async -> Bool? {
        let reader = ContentInDoubtReader(store: store, policy: .evidence, sets: [[creation]])
        do throws(TidelogError) {
            guard let doubt = try await reader.doubt(of: [creation]) else { return nil }
            let seen = try await ContentSearch(store: store, session: session).searchResult(
                of: doubt, enough: 1, expands: false)
            if !seen.candidates.isEmpty || seen.broughtSince > 0 { return true }
            return seen.search == .conclusive ? false : nil
        } catch {
            return nil
        }
    }
}
