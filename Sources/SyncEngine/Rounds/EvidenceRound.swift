import EDM
import ODataWire
import Operations
import SyncCore

/// Settles creates in doubt by their content: searches the service for what was sent, and weighs what is there.
///
/// Reads only. What follows from it is logged by the upload.
struct EvidenceRound {
    let store: LocalStore
    let session: ServiceSession
    /// In the place of the store's, for all sets.
    var policy: ServiceOptions.DoubtPolicy?

    /// What became of operations that took effect together or not at all.
    struct Settlement {
        let members: [PendingOperation]
        let outcome: Outcome
    }

    typealias Found = (operation: SequenceNumber, payload: EntityPayload, set: EntitySet)

    enum Outcome {
        /// They did; with what the service has of those that were found, the entities as which downloads have brought them, and
        /// why that is believed.
        case tookEffect([Found], replacing: [EntityID], String)
        /// They did not, for this reason.
        case absent(String)
        /// The lost request may be running until then.
        case waits(Timestamp)
        /// Nothing tells, for this reason; nil if nothing was looked for.
        case undecided(String?)
        /// The service has a part of what one change set created, so it does not roll back: each operation is to be settled by
        /// itself.
        case tookEffectInPart
    }

    /// - Parameters:
    ///   - sets: those of which no key tells.
    ///   - busy: others in doubt that the service may be at work on.
    @_optimize(none)
    func settlements(
        of sets: [[PendingOperation]], busy: [[PendingOperation]]
    ) async throws(TidelogError) -> [Settlement] {
        var settlements: [Settlement] = []
        var doubts: [ContentDoubt] = []
        let reader = ContentDoubtReader(store: store, policy: policy, sets: sets + busy)
        for members in sets {
            if let doubt = try await reader.doubt(of: members) {
                doubts.append(doubt)
            } else {
                settlements.append(Settlement(members: members, outcome: .undecided(nil)))
            }
        }
        // Creates that have not been sent again and are no anchor could be what is found, too.
        let others = try await reader.contents()
        while let first = doubts.first {
            // What a download has brought since is told from the first of them that was sent.
            let group = doubts.filter { $0.isTwin(of: first) }.sorted { $0.batch < $1.batch }
            doubts.removeAll { $0.isTwin(of: first) }
            settlements += try await settle(group, others)
        }
        return settlements
    }

    /// - Parameters:
    ///   - group: doubts of which one may stand for another.
    ///   - others: the contents of all creates in doubt.
    @_optimize(none)
    private func settle(
        _ group: [ContentDoubt], _ others: [SequenceNumber: [SentContent]]
    ) async throws(TidelogError) -> [Settlement] {
        let first = group[0]
        let own = Set(group.flatMap { $0.anchors.map(\.sequence) })
        var evidence = DoubtEvidence()
        evidence.creates = own.count
        evidence.knowsWholeSet = try await store.knowsWhole(first.set)
        evidence.hasNeighbours = others.contains { operation, contents in
            !own.contains(operation) && contents.contains { $0.isAlike(first.content) }
        }
        if try await store.hasKeyless(like: first.content, in: first.set) { evidence.hasNeighbours = true }
        let search = ContentSearch(store: store, session: session)
        let needed = evidence.knowsWholeSet ? DoubtEvidence.bitsAmongKnown : DoubtEvidence.bitsAmongUnknown
        let sightings = try await search.sightings(of: first, enough: own.count, expands: first.content.bits < needed)
        evidence.search = sightings.search
        evidence.candidates = sightings.candidates.count
        evidence.broughtSince = sightings.broughtSince
        evidence.lookalikes = sightings.lookalikes
        evidence.bits = sightings.bits
        let wait = try await wait(of: group)
        evidence.isWaitOver = wait.isOver
        switch evidence.verdict {
        case .undecided(let reason): return group.map { Settlement(members: $0.members, outcome: .undecided(reason)) }
        case .wait: return group.map { Settlement(members: $0.members, outcome: .waits(wait.end)) }
        case .absent: return try await absences(of: group)
        case .adopt(let count):
            // All of a change set took effect, or nothing of it.
            guard count.isMultiple(of: first.anchors.count) else {
                let reason = "The service has some of what one change set created, and not all of it."
                return group.map { Settlement(members: $0.members, outcome: .undecided(reason)) }
            }
            return try await adoptions(of: group, sightings.candidates[..<count], sightings.bits, wait)
        }
    }

    /// - Parameter group: doubts of which the service does not have the most telling creates.
    @_optimize(none)
    private func absences(of group: [ContentDoubt]) async throws(TidelogError) -> [Settlement] {
        var settlements: [Settlement] = []
        for doubt in group {
            var outcome = Outcome.absent(Self.absence)
            for companion in doubt.companions {
                let search = ContentSearch(store: store, session: session)
                let seen = try await search.sightings(of: companion, enough: 1, expands: false)
                if seen.onlyCandidate != nil {
                    outcome = .tookEffectInPart
                    break
                }
                if !seen.candidates.isEmpty || seen.broughtSince > 0 {
                    outcome = .undecided(
                        "The service may have a part of what one change set created, and not all of it.")
                }
            }
            settlements.append(Settlement(members: doubt.members, outcome: outcome))
        }
        return settlements
    }

    private static let absence =
        "It has no entity with the values that were sent, so the operation did not take effect and is sent again."

    @_optimize(none)
    private func adoptions(
        of group: [ContentDoubt], _ candidates: ArraySlice<ContentSearch.Candidate>, _ bits: Double,
        _ wait: (isOver: Bool, end: Timestamp)
    ) async throws(TidelogError) -> [Settlement] {
        var candidates = candidates
        var settlements: [Settlement] = []
        for doubt in group {
            guard candidates.count >= doubt.anchors.count else {
                settlements += try await absences(of: [doubt])
                continue
            }
            let own = Array(candidates.prefix(doubt.anchors.count))
            candidates.removeFirst(doubt.anchors.count)
            var found: [Found] = zip(doubt.anchors, own).map { ($0.sequence, $1.payload, doubt.set) }
            var replaced = own.compactMap(\.downloaded)
            let names = found.map { "\(doubt.set.name)(\(Self.key($0.payload, doubt.set)))" }.joined(separator: ", ")
            // The service may roll back, and may not: each of the other creates is looked for as well.
            var isWhole = true
            for companion in doubt.companions {
                let search = ContentSearch(store: store, session: session)
                let seen = try await search.sightings(of: companion, enough: 1, expands: false)
                if seen.isEmpty { isWhole = false }
                guard let only = seen.onlyCandidate else { continue }
                found.append((companion.anchors[0].sequence, only.payload, companion.set))
                if let downloaded = only.downloaded { replaced.append(downloaded) }
            }
            guard isWhole else {
                settlements.append(
                    Settlement(members: doubt.members, outcome: wait.isOver ? .tookEffectInPart : .waits(wait.end)))
                continue
            }
            let finding =
                "\(names) has the values that were sent and was not known before (\(Int(bits)) bits of evidence)."
            settlements.append(
                Settlement(members: doubt.members, outcome: .tookEffect(found, replacing: replaced, finding)))
        }
        return settlements
    }

    private static func key(_ payload: EntityPayload, _ set: EntitySet) -> String {
        KeyPredicate(of: set.entityType, in: payload.values).map(KeyText.predicate) ?? "?"
    }

    @_optimize(none)
    private func wait(of group: [ContentDoubt]) async throws(TidelogError) -> (isOver: Bool, end: Timestamp) {
        let options = try await store.serviceOptions
        let now = store.environment.now()
        var end = Timestamp.min
        for doubt in group where !DoubtReason.isOfRefusal(doubt.anchors[0].doubtReason) {
            let sent = try await store.sendingTime(of: doubt.anchors[0])
            let wait = await store.lostRequestWait(
                of: doubt.anchors[0], sent: sent, seconds: options.lostRequestSeconds)
            end = max(end, wait.end)
        }
        return (now >= end, end)
    }

    /// Whether the service has an entity with all values of a create that the store does not know as another one. Nil if
    /// that cannot be told.
    @_optimize(none)
    func hasUnknown(like creation: PendingOperation) async -> Bool? {
        let reader = ContentDoubtReader(store: store, policy: .evidence, sets: [[creation]])
        do throws(TidelogError) {
            guard let doubt = try await reader.doubt(of: [creation]) else { return nil }
            let seen = try await ContentSearch(store: store, session: session).sightings(
                of: doubt, enough: 1, expands: false)
            if !seen.candidates.isEmpty || seen.broughtSince > 0 { return true }
            return seen.search == .conclusive ? false : nil
        } catch {
            return nil
        }
    }
}
