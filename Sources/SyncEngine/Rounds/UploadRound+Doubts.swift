import ODataWire
import Operations
import SyncCore

/// Operations that were sent and of which no answer told what became of them. Where the service knows requests again they are
/// sent again, the same to the byte; otherwise, and where it has forgotten them, reading finds out.
extension UploadRound {
    /// Returns what turned out not to have taken effect.
    @_optimize(none)
    func settleDoubts(_ report: inout UploadReport) async throws(TidelogError) -> Set<SequenceNumber> {
        guard try await !store.pendingOperations(.inDoubt).isEmpty else { return [] }
        var course = newCourse()
        for open in try await store.openBatches() where !open.prepared.sent.isEmpty {
            try await sendAgain(open, &course, &report)
        }
        var released: Set<SequenceNumber> = []
        for members in try await store.doubtfulSets() { released.formUnion(try await settle(members, &report)) }
        return released
    }

    // MARK: Sending again

    @_optimize(none)
    private func sendAgain(
        _ open: OpenBatch, _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) {
        let terms = try await terms(course)
        guard terms.options.repeatability != .none else { return }
        var places = try await store.doubtfulPlaces(of: open)
        while !places.isEmpty {
            // Without $batch each request is answered by itself.
            let group = terms.options.supportsBatch ? places : [places[0]]
            let plan = try await store.plan(of: open.prepared, group, options: terms.options)
            let requests = group.map { open.prepared.sent[$0].map(\.request) }
            let response = try await sendAgain(open, group, requests, terms, &report)
            var skipped: [Int] = []
            var answered: [Int] = []
            var outcomes: [ChangeSetOutcome] = []
            for (index, outcome) in response.enumerated() where index < group.count {
                switch outcome {
                case .members: break
                // A refusal that the service does not stand by may be one of the repetition and not of the request: it came
                // too late (412), or the service knows no repetitions and refuses what it has done already.
                case .failed(let answer, _): guard RepeatabilityHeaders.isAccepted(answer) == true else { continue }
                case .notProcessed:
                    skipped.append(group[index])
                    continue
                case .inDoubt: continue
                }
                answered.append(index)
                outcomes.append(outcome)
            }
            if !answered.isEmpty {
                let part = UploadPlan(changeSets: answered.map { plan.changeSets[$0] })
                try await answer(
                    open.batch, part, answered.map { requests[$0] }, outcomes, terms, &course, &report)
            }
            // The service stops at the first error: what is behind that goes once more, without it.
            let rest = skipped + places.dropFirst(group.count)
            guard rest.count < places.count else { return }
            places = rest
        }
    }

    /// Nothing is logged of it: whatever happens, the operations are in doubt as they were.
    @_optimize(none)
    private func sendAgain(
        _ open: OpenBatch, _ places: [Int], _ requests: [[WireRequest]], _ terms: Terms, _ report: inout UploadReport
    ) async throws(TidelogError) -> [ChangeSetOutcome] {
        report.batches += 1
        guard terms.options.supportsBatch else {
            guard let request = requests.first?.first, requests[0].count == 1 else { return [.inDoubt("")] }
            report.bytesSent += request.body.count
            let response = try await session.modify(request)
            switch SingleAnswer(response) {
            case .done: return [.members([response])]
            case .refused: return [.failed(response, culprit: nil)]
            case .unknown where UnsuccessfulAnswer(response).isLasting: return [.inDoubt("")]
            case .untouched, .unknown:
                try ServiceSession.check(response, request.method, session.absolute(request.url))
                return [.inDoubt("")]
            }
        }
        var atOnce = terms
        atOnce.options.respondsAsync = false
        let batch = open.prepared.request(places)
        let encoded = try encoder(atOnce).encode(batch, requests, number: open.batch)
        report.bytesSent += encoded.request.body.count
        let response = try await session.modify(encoded.request)
        switch BatchAnswer(response) {
        case .parts: break
        // Nothing is known of the operations by that; reading goes on.
        case .refused, .accepted: return []
        // Something in it may be what the service breaks at, each time.
        case .unknown where UnsuccessfulAnswer(response).isLasting: return []
        case .untouched, .unknown:
            try ServiceSession.check(response, "POST", session.root + "$batch")
            return []
        }
        guard let outcomes = try? BatchExchange.outcomes(response, to: batch) else { return [] }
        return outcomes.map { if case .changeSet(let outcome) = $0 { outcome } else { .notProcessed } }
    }

    // MARK: Reading

    /// Returns those that are to be sent again.
    ///
    /// - Parameter members: operations that took effect together or not at all.
    @_optimize(none)
    private func settle(
        _ members: [PendingOperation], _ report: inout UploadReport
    ) async throws(TidelogError) -> [SequenceNumber] {
        var findings: [(pending: PendingOperation, finding: DoubtResolution.Finding)] = []
        for pending in members {
            let resolution = DoubtResolution(store: store, session: session)
            findings.append((pending, try await resolution.finding(pending.withFinalValues(among: members))))
        }
        let creations = findings.filter { if case .create = $0.pending.operation.action { true } else { false } }
        // Only a new entity proves it: that a property has a value may be somebody else's doing.
        let found = creations.filter { if case .tookEffect = $0.finding { true } else { false } }
        if members.count > 1, case .tookEffect(let batch, _, _)? = found.first?.finding {
            // What was found tells its key, which the service may have given.
            try await store.confirm(
                members, of: batch,
                found: found.compactMap { pending, finding in
                    guard case .tookEffect(_, let payload, let set) = finding else { return nil }
                    return (operation: pending.sequence, payload: payload, set: set)
                })
            report.confirmed += members.map(\.sequence)
            // One that was found leads to those whose keys the service gave.
            for id in found.flatMap(\.pending.operation.createdEntities) {
                try await readEntity(id, expand: try await store.navigationsToKeylessEntities(of: id))
            }
            return []
        }
        // One that is known not to be there proves that none of them took effect, those included of which reading cannot tell.
        if creations.contains(where: { if case .mayBeSentAgain = $0.finding { true } else { false } }) {
            try await store.release(members.map(\.sequence))
            return members.map(\.sequence)
        }
        // What nothing tells of stays together with the others: who settles it later settles all of them.
        guard !findings.contains(where: { if case .unknown = $0.finding { true } else { false } }) else {
            report.inDoubt += members.map(\.sequence)
            return []
        }
        var released: [SequenceNumber] = []
        for (pending, finding) in findings {
            switch finding {
            case .tookEffect(let batch, let payload, let set):
                try await store.confirm(pending, of: batch, payload, set)
                report.confirmed.append(pending.sequence)
            case .mayBeSentAgain:
                try await store.release([pending.sequence])
                released.append(pending.sequence)
            // The service may have done it, so it stays in doubt until it has been sent again: nobody is to cancel it out or
            // to take it back as if the service knew nothing of it.
            case .mayBeDoneTwice: released.append(pending.sequence)
            case .unknown: break
            }
        }
        return released
    }
}
