import EDM
import ODataWire
import Operations
import SyncCore

/// Resolution of operations in doubt: operations that were sent and whose outcome no response reported.
///
/// If the service supports repeatable requests, they are sent again byte by byte. Otherwise, and if the service has
/// discarded the earlier response, the outcome is determined by reading.
extension UploadRound {
    /// Resolves operations in doubt. Returns those that did not take effect.
    @_optimize(none)
    func resolveInDoubt(
        _ state: inout UploadState, _ report: inout UploadReport
    ) async throws(TidelogError) -> Set<SequenceNumber> {
        guard try await !store.pendingOperations(.inDoubt).isEmpty else { return [] }
        for open in try await store.openBatches() where !open.prepared.sent.isEmpty && open.monitor == nil {
            try await sendAgain(open, &state, &report)
        }
        // The service is still processing these, so a read would be inconclusive.
        let busy = state.unsettled.union(try await store.awaitedOperations().values.joined())
        report.inDoubt += state.unsettled.sorted()
        var released: Set<SequenceNumber> = []
        let unsettled = report.inDoubt
        // Runs a second time if the service turns out not to roll back; then each operation is resolved
        // individually.
        while true {
            report.inDoubt = unsettled
            var untold: [[PendingOperation]] = []
            let sets = try await store.inDoubtSets()
            let isBusy = { (members: [PendingOperation]) in members.contains { busy.contains($0.sequence) } }
            for members in sets where !isBusy(members) && !members.contains(where: { released.contains($0.sequence) }) {
                switch try await resolveByKey(members, &report) {
                case .settled(let again): released.formUnion(again)
                case .untold: untold.append(members)
                }
            }
            let settled = try await resolveByContent(untold, busy: sets.filter(isBusy), &report)
            released.formUnion(settled.released)
            guard !settled.partial.isEmpty else { return released }
            await store.recordDetected { $0.changeSetRollback = .absent }
            guard try await store.serviceOptions.changeSetRollback == .absent else {
                report.inDoubt += settled.partial
                return released
            }
        }
    }

    /// Resolves operations whose outcome no key reveals, by the sent content.
    ///
    /// - Returns: The operations to send again, and those of partially processed change sets.
    @_optimize(none)
    private func resolveByContent(
        _ untold: [[PendingOperation]], busy: [[PendingOperation]], _ report: inout UploadReport
    ) async throws(TidelogError) -> (released: [SequenceNumber], partial: [SequenceNumber]) {
        guard !untold.isEmpty else { return ([], []) }
        var partial: [SequenceNumber] = []
        let evidence = EvidenceRound(store: store, session: session, policy: upload.doubts)
        var released: [SequenceNumber] = []
        for resolution in try await evidence.resolutions(of: untold, busy: busy) {
            let (members, operations) = (resolution.members, resolution.members.map(\.sequence))
            switch resolution.outcome {
            case .tookEffect(let found, let replaced, let finding):
                if members.contains(where: { DoubtReason.isOfRefusal($0.doubtReason) }) {
                    await store.recordDetected { $0.changeSetRollback = .absent }
                }
                let (proven, unproven) = try await proven(members, &report)
                try await store.confirm(
                    proven, of: members[0].status.batch ?? 0, found: found, because: (finding, replacing: replaced))
                report.adopted += proven.map(\.sequence)
                try await finish(proven, found: found.map(\.operation), &report)
                released += unproven.map(\.sequence)
            case .absent(let finding):
                let absent = try await absent(members, &report)
                try await store.release(absent, because: finding)
                released += absent.map(\.sequence)
            case .waits(let end):
                report.inDoubt += operations
                for operation in operations { report.nextLooks[operation] = end }
            case .undecided(let finding):
                report.inDoubt += operations
                if let finding { try await store.logSearchResult(finding, of: members) }
            case .tookEffectInPart: partial += operations
            }
        }
        return (released, partial)
    }

    /// Splits the operations of a change set into those that the found entities prove, and the links between two of its
    /// new entities.
    ///
    /// A service that does not resolve `$<Content-ID>` in bodies refuses these links. If it does not roll back either,
    /// the entities exist without them. Sending a link again is idempotent.
    @_optimize(none)
    private func proven(
        _ members: [PendingOperation], _ report: inout UploadReport
    ) async throws(TidelogError) -> (proven: [PendingOperation], unproven: [PendingOperation]) {
        guard try await store.serviceOptions.changeSetRollback != .trusted else { return (members, []) }
        // A call that is neither proven nor repeatable stays in doubt.
        let calls = members.filter { $0.operation.call != nil }
        report.inDoubt += calls.map(\.sequence)
        let members = members.filter { $0.operation.call == nil }
        let created = Set(members.flatMap(\.operation.createdEntities))
        let unproven = members.filter { member in
            switch member.operation.action {
            case .createLink(let link), .updateLink(let link): created.contains(link.from) && created.contains(link.to)
            case .create, .update, .delete, .deleteLink: false
            }
        }
        let sequences = Set(unproven.map(\.sequence))
        return (members.filter { !sequences.contains($0.sequence) }, unproven)
    }

    /// Reports operations as confirmed, and reads the keys of their new entities from the entities that were found.
    @_optimize(none)
    private func finish(
        _ members: [PendingOperation], found: [SequenceNumber], _ report: inout UploadReport
    ) async throws(TidelogError) {
        report.confirmed += members.map(\.sequence)
        for id in members.filter({ found.contains($0.sequence) }).flatMap(\.operation.createdEntities) {
            let missing = try await store.navigationsToKeylessEntities(of: id)
            if !missing.isEmpty { try await readEntity(id, expand: missing) }
        }
    }

    // MARK: Sending again

    /// The outcomes that the response to a repeated request determines.
    struct ResendOutcomes {
        /// The positions of the sent change sets that have an outcome.
        private(set) var places: [Int] = []
        private(set) var outcomes: [ChangeSetOutcome] = []
        /// The positions of the change sets that the service skipped after an earlier error.
        private(set) var skipped: [Int] = []

        /// Interprets the response to a repetition.
        ///
        /// - Parameter answered: One outcome for each sent change set, or fewer if the response does not contain them
        ///   all.
        init(_ answered: [BatchPartOutcome]) { self.init(UploadRound.bySet(answered)) }

        init(_ answered: [ChangeSetOutcome]) {
            for (place, outcome) in answered.enumerated() {
                switch outcome {
                case .members: break
                // A refusal without `Repeatability-Result: accepted` may concern only the repetition: it was too
                // late (412), or the service does not support repetitions and refuses an operation that it has already
                // processed.
                case .failed(let answer, _): guard RepeatabilityHeaders.isAccepted(answer) == true else { continue }
                case .notProcessed:
                    skipped.append(place)
                    continue
                case .inDoubt: continue
                }
                places.append(place)
                outcomes.append(outcome)
            }
        }
    }

    @_optimize(none)
    private func sendAgain(
        _ open: OpenBatch, _ state: inout UploadState, _ report: inout UploadReport
    ) async throws(TidelogError) {
        let serviceProfile = try await serviceProfile(state)
        guard serviceProfile.options.repeatability != .none else { return }
        let places = try await store.inDoubtPlaces(of: open)
        // Without $batch each request has its own response.
        var groups = serviceProfile.options.supportsBatch ? [places] : places.map { [$0] }
        while !groups.isEmpty {
            let group = groups.removeFirst()
            guard !group.isEmpty else { continue }
            let plan = try await store.plan(of: open.prepared, group, options: serviceProfile.options)
            let requests = group.map { open.prepared.sent[$0].map(\.request) }
            switch try await sendAgain(open, group, requests, serviceProfile, &report) {
            case .later: return
            // A read would be inconclusive while the service is processing the batch.
            case .busy: state.unsettled.formUnion(plan.changeSets.flatMap(\.operations))
            case .answered(let repetition):
                try await logOutcomes(repetition, open, plan, requests, serviceProfile, &state, &report)
                // The service stops at the first error. The remaining change sets are sent again without the failed
                // one.
                let rest = repetition.skipped.map { group[$0] }
                if rest.count < group.count { groups.insert(rest, at: 0) }
            case .failed(let error):
                // The cause is the connection or one change set. If the service answers other requests, halving the
                // group finds the change set.
                state.hasAnsweredParts = false
                guard await answersParts(serviceProfile, &state, &report) else { throw error }
                if group.count > 1 {
                    groups.insert(
                        contentsOf: [Array(group[..<(group.count / 2)]), Array(group[(group.count / 2)...])], at: 0)
                } else if !error.isLastingAnswer {
                    // Otherwise the repetition did not reach the service, nor would another. Reading determines the
                    // outcome of the first transmission.
                    state.obstacle = state.obstacle ?? error
                    state.unsettled.formUnion(plan.changeSets.flatMap(\.operations))
                }
            }
        }
    }

    /// Logs the outcomes that a repetition determined. Returns whether there were any.
    @discardableResult
    @_optimize(none)
    func logOutcomes(
        _ repetition: ResendOutcomes, _ open: OpenBatch, _ plan: UploadPlan, _ requests: [[WireRequest]],
        _ serviceProfile: ServiceProfile,
        _ state: inout UploadState, _ report: inout UploadReport
    ) async throws(TidelogError) -> Bool {
        guard !repetition.places.isEmpty else { return false }
        try await answer(
            open.batch, UploadPlan(changeSets: repetition.places.map { plan.changeSets[$0] }),
            repetition.places.map { requests[$0] }, repetition.outcomes, serviceProfile, &state, &report)
        return true
    }

    private enum ResendResult {
        case answered(ResendOutcomes)
        /// The service processes the repetition asynchronously.
        case later
        /// The same, for a part of the outstanding change sets. A later repetition has to ask again.
        case busy
        /// There was no response, or not one of the service.
        case failed(TidelogError)
    }

    /// Sends requests again without logging it. The operations remain in doubt, regardless of the result.
    @_optimize(none)
    private func sendAgain(
        _ open: OpenBatch, _ places: [Int], _ requests: [[WireRequest]], _ serviceProfile: ServiceProfile,
        _ report: inout UploadReport
    ) async throws(TidelogError) -> ResendResult {
        report.batches += 1
        var request: WireRequest
        let batch = open.prepared.request(places)
        if serviceProfile.options.supportsBatch {
            var atOnce = serviceProfile
            atOnce.options.respondsAsync = false
            request = try encoder(atOnce).encode(batch, requests, number: open.batch).request
        } else {
            guard let single = requests.first?.first, requests[0].count == 1 else {
                return .answered(ResendOutcomes([.inDoubt("")]))
            }
            request = single
        }
        report.bytesSent += request.body.count
        let response: WireResponse
        do throws(TidelogError) {
            response = try await session.modify(request)
        } catch {
            guard error.mayHaveReachedService, error.code != .cancelled else { throw error }
            return .failed(error)
        }
        if let repetition = repetition(response, of: batch, serviceProfile) { return .answered(repetition) }
        if serviceProfile.options.supportsBatch,
            case .accepted(let monitor) = BatchResponseKind(
                response, mayBeLater: !serviceProfile.model.version.isLegacy)
        {
            // The later response is matched with all change sets outstanding at that time, which therefore have to
            // be the ones sent here.
            guard try await store.inDoubtPlaces(of: open) == places else { return .busy }
            try await store.record([.batchAccepted(BatchAccepted(batch: open.batch, monitor: monitor))])
            return .later
        }
        do throws(TidelogError) {
            try ServiceSession.check(response, request.method, session.absolute(request.url))
        } catch {
            let isUncertain = FailureClass(status: response.status) == .uncertain || response.isFromGateway
            guard isUncertain || response.isForeignRefusal else { throw error }
            return .failed(error)
        }
        return .answered(ResendOutcomes([ChangeSetOutcome]()))
    }

    /// Interprets the response to a repetition, or returns nil if it is no response to the requests.
    private func repetition(_ response: WireResponse, of batch: BatchRequest, _ serviceProfile: ServiceProfile)
        -> ResendOutcomes?
    {
        let isLasting = UnsuccessfulResponse(response).isLasting
        guard serviceProfile.options.supportsBatch else {
            switch SingleResponse(response) {
            case .done: return ResendOutcomes([.members([response])])
            case .refused where FailureClass(status: response.status) == .permanent:
                return ResendOutcomes([.failed(response, culprit: nil)])
            case .unknown where isLasting: return ResendOutcomes([.inDoubt("")])
            case .refused, .untouched, .unknown: return nil
            }
        }
        switch BatchResponseKind(response, mayBeLater: !serviceProfile.model.version.isLegacy) {
        case .parts: return ResendOutcomes((try? BatchExchange.outcomes(response, to: batch)) ?? [])
        // This does not reveal the outcome of the operations, so they are resolved by reading.
        case .refused: return ResendOutcomes([ChangeSetOutcome]())
        // Something in the batch may make the service fail each time.
        case .unknown where isLasting: return ResendOutcomes([ChangeSetOutcome]())
        case .accepted, .untouched, .unknown: return nil
        }
    }

    // MARK: Reading

    private enum KeyLookupResult {
        /// Resolved, with the operations to send again.
        case settled([SequenceNumber])
        /// No key and no unique value reveals the outcome.
        case untold
    }

    /// Resolves operations by reading the entities with known keys.
    ///
    /// - Parameter members: Operations that took effect all or none.
    @_optimize(none)
    private func resolveByKey(
        _ members: [PendingOperation], _ report: inout UploadReport
    ) async throws(TidelogError) -> KeyLookupResult {
        var findings: [(pending: PendingOperation, finding: InDoubtResolver.Finding)] = []
        for pending in members {
            let resolution = InDoubtResolver(store: store, session: session, policy: upload.doubts)
            findings.append((pending, try await resolution.finding(pending.withFinalValues(among: members))))
        }
        let creations = findings.filter { if case .create = $0.pending.operation.action { true } else { false } }
        // Only a new entity is proof. Another client may have set a property to the same value.
        let found = creations.filter { if case .tookEffect = $0.finding { true } else { false } }
        if members.count > 1, case .tookEffect(let batch, _, _)? = found.first?.finding {
            let (proven, unproven) = try await proven(members, &report)
            // The found entities contain the keys, which the service may have generated.
            try await store.confirm(
                proven, of: batch,
                found: found.compactMap { pending, finding in
                    guard case .tookEffect(_, let payload, let set) = finding else { return nil }
                    return (operation: pending.sequence, payload: payload, set: set)
                })
            try await finish(proven, found: found.map(\.pending.sequence), &report)
            return .settled(unproven.map(\.sequence))
        }
        // A missing new entity proves that none of the operations took effect, including those that reading cannot
        // check.
        if creations.contains(where: { if case .mayBeSentAgain = $0.finding { true } else { false } }) {
            let absent = try await absent(members, &report).map(\.sequence)
            try await store.release(absent)
            return .settled(absent)
        }
        // Unresolvable operations stay with the others, so that a later resolution covers all of them.
        guard !findings.contains(where: { if case .unknown = $0.finding { true } else { false } }) else {
            return .untold
        }
        var released: [SequenceNumber] = []
        for (pending, finding) in findings {
            if members.count > 1, case .inDoubt(let batch, _) = pending.status, try await isGone(pending) {
                try await store.confirm([pending.sequence], of: batch, images: [:])
                report.confirmed.append(pending.sequence)
                continue
            }
            switch finding {
            case .tookEffect(let batch, let payload, let set):
                try await store.confirm(pending, of: batch, payload, set)
                report.confirmed.append(pending.sequence)
            case .mayBeSentAgain:
                try await store.release([pending.sequence])
                released.append(pending.sequence)
            // The service may have processed it, so it stays in doubt until it has been sent again. Otherwise it
            // could be cancelled out or undone as if the service had never received it.
            case .mayBeDoneTwice: released.append(pending.sequence)
            case .unknown: break
            }
        }
        return .settled(released)
    }

    /// Returns whether the entity that the operation deletes no longer exists, whichever client deleted it.
    ///
    /// Sent again, such a delete would make the whole change set fail each time, and the response may not name it as
    /// the cause.
    @_optimize(none)
    private func isGone(_ pending: PendingOperation) async throws(TidelogError) -> Bool {
        guard case .delete(let id) = pending.operation.action,
            let (reference, set) = try await store.serviceReference(id)
        else { return false }
        do throws(TidelogError) {
            return try await EntityReader(store: store, session: session).read(reference, set) == nil
        } catch {
            guard error.isLastingAnswer else { throw error }
            return false
        }
    }
}
