import EDM
import ODataWire
import Operations
import SyncCore

/// Operations that were sent and of which no answer told what became of them. Where the service knows requests again they are
/// sent again, the same to the byte; otherwise, and where it has forgotten them, reading finds out.
extension UploadRound {
    /// Returns what turned out not to have taken effect.
    @_optimize(none)
    func settleDoubts(
        _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) -> Set<SequenceNumber> {
        guard try await !store.pendingOperations(.inDoubt).isEmpty else { return [] }
        for open in try await store.openBatches() where !open.prepared.sent.isEmpty && open.monitor == nil {
            try await sendAgain(open, &course, &report)
        }
        // The service is at work on these: what can be read now is no finding.
        let busy = course.unsettled.union(try await store.awaitedOperations().values.joined())
        report.inDoubt += course.unsettled.sorted()
        var released: Set<SequenceNumber> = []
        let unsettled = report.inDoubt
        // A second time if it turns out that the service does not roll back: then each operation is settled by itself.
        while true {
            report.inDoubt = unsettled
            var untold: [[PendingOperation]] = []
            let sets = try await store.doubtfulSets()
            let isBusy = { (members: [PendingOperation]) in members.contains { busy.contains($0.sequence) } }
            for members in sets where !isBusy(members) && !members.contains(where: { released.contains($0.sequence) }) {
                switch try await settle(members, &report) {
                case .settled(let again): released.formUnion(again)
                case .untold: untold.append(members)
                }
            }
            let settled = try await settleByEvidence(untold, busy: sets.filter(isBusy), &report)
            released.formUnion(settled.released)
            guard !settled.partial.isEmpty else { return released }
            await store.learn { $0.changeSetRollback = .absent }
            guard try await store.serviceOptions.changeSetRollback == .absent else {
                report.inDoubt += settled.partial
                return released
            }
        }
    }

    /// Settles what no key tells by the content that was sent.
    ///
    /// - Returns: the operations to be sent again, and those of change sets of which the service carried out a part.
    @_optimize(none)
    private func settleByEvidence(
        _ untold: [[PendingOperation]], busy: [[PendingOperation]], _ report: inout UploadReport
    ) async throws(TidelogError) -> (released: [SequenceNumber], partial: [SequenceNumber]) {
        guard !untold.isEmpty else { return ([], []) }
        var partial: [SequenceNumber] = []
        let evidence = EvidenceRound(store: store, session: session, policy: upload.doubts)
        var released: [SequenceNumber] = []
        for settlement in try await evidence.settlements(of: untold, busy: busy) {
            let (members, operations) = (settlement.members, settlement.members.map(\.sequence))
            switch settlement.outcome {
            case .tookEffect(let found, let replaced, let finding):
                if members.contains(where: { DoubtReason.isOfRefusal($0.doubtReason) }) {
                    await store.learn { $0.changeSetRollback = .absent }
                }
                let (proven, unproven) = try await proven(members)
                try await store.confirm(
                    proven, of: members[0].status.batch ?? 0, found: found, because: (finding, replacing: replaced))
                report.adopted += proven.map(\.sequence)
                try await finish(proven, found: found.map(\.operation), &report)
                released += unproven.map(\.sequence)
            case .absent(let finding):
                try await store.release(members, because: finding)
                released += operations
            case .waits(let end):
                report.inDoubt += operations
                for operation in operations { report.nextLooks[operation] = end }
            case .undecided(let finding):
                report.inDoubt += operations
                if let finding { try await store.note(finding, of: members) }
            case .tookEffectInPart: partial += operations
            }
        }
        return (released, partial)
    }

    /// Splits the operations of a change set into those of which entities that were found prove that they took effect, and
    /// the links between two of its new entities. A service that does not read `$<Content-ID>` in bodies refuses these links,
    /// and if it does not roll back either, the entities are there without them. To send a link again does no harm.
    @_optimize(none)
    private func proven(
        _ members: [PendingOperation]
    ) async throws(TidelogError) -> (proven: [PendingOperation], unproven: [PendingOperation]) {
        guard try await store.serviceOptions.changeSetRollback != .trusted else { return (members, []) }
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

    /// What follows once operations that took effect together are confirmed: those that were found lead to those whose keys
    /// the service gave.
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

    /// What the answer to requests that were sent again settles.
    struct Repetition {
        /// The places, of those that were sent, of change sets whose outcomes count.
        private(set) var places: [Int] = []
        private(set) var outcomes: [ChangeSetOutcome] = []
        /// The places of those that the service did not look at, having stopped at an error before.
        private(set) var skipped: [Int] = []

        /// - Parameter answered: one for each change set that was sent; fewer where it says nothing of them.
        init(_ answered: [BatchPartOutcome]) { self.init(UploadRound.bySet(answered)) }

        init(_ answered: [ChangeSetOutcome]) {
            for (place, outcome) in answered.enumerated() {
                switch outcome {
                case .members: break
                // A refusal that the service does not stand by may be one of the repetition and not of the request: it came
                // too late (412), or the service knows no repetitions and refuses what it has done already.
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
        _ open: OpenBatch, _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) {
        let terms = try await terms(course)
        guard terms.options.repeatability != .none else { return }
        let places = try await store.doubtfulPlaces(of: open)
        // Without $batch each request is answered by itself.
        var groups = terms.options.supportsBatch ? [places] : places.map { [$0] }
        while !groups.isEmpty {
            let group = groups.removeFirst()
            guard !group.isEmpty else { continue }
            let plan = try await store.plan(of: open.prepared, group, options: terms.options)
            let requests = group.map { open.prepared.sent[$0].map(\.request) }
            switch try await sendAgain(open, group, requests, terms, &report) {
            case .later: return
            // What is read while it works is no finding.
            case .busy: course.unsettled.formUnion(plan.changeSets.flatMap(\.operations))
            case .answered(let repetition):
                try await settle(repetition, open, plan, requests, terms, &course, &report)
                // The service stops at the first error: what is behind that goes once more, without it.
                let rest = repetition.skipped.map { group[$0] }
                if rest.count < group.count { groups.insert(rest, at: 0) }
            case .failed(let error):
                // The connection, or one of them: where the service answers else, it is found among half as many.
                course.hasAnsweredParts = false
                guard await answersParts(terms, &course, &report) else { throw error }
                if group.count > 1 {
                    groups.insert(
                        contentsOf: [Array(group[..<(group.count / 2)]), Array(group[(group.count / 2)...])], at: 0)
                } else if !error.isLastingAnswer {
                    // Otherwise the repetition has not reached the service, nor will another: reading tells of the first time.
                    course.obstacle = course.obstacle ?? error
                    course.unsettled.formUnion(plan.changeSets.flatMap(\.operations))
                }
            }
        }
    }

    /// Logs what a repetition settles. Returns whether it does.
    @discardableResult
    @_optimize(none)
    func settle(
        _ repetition: Repetition, _ open: OpenBatch, _ plan: UploadPlan, _ requests: [[WireRequest]], _ terms: Terms,
        _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) -> Bool {
        guard !repetition.places.isEmpty else { return false }
        try await answer(
            open.batch, UploadPlan(changeSets: repetition.places.map { plan.changeSets[$0] }),
            repetition.places.map { requests[$0] }, repetition.outcomes, terms, &course, &report)
        return true
    }

    private enum Delivered {
        case answered(Repetition)
        /// The service tells the answer later.
        case later
        /// The same, of a part of what is outstanding: a later repetition has to ask for it.
        case busy
        /// No answer, or one of something in front of the service.
        case failed(TidelogError)
    }

    /// Of the sending nothing is logged: whatever happens, the operations are in doubt as they were.
    @_optimize(none)
    private func sendAgain(
        _ open: OpenBatch, _ places: [Int], _ requests: [[WireRequest]], _ terms: Terms, _ report: inout UploadReport
    ) async throws(TidelogError) -> Delivered {
        report.batches += 1
        var request: WireRequest
        let batch = open.prepared.request(places)
        if terms.options.supportsBatch {
            var atOnce = terms
            atOnce.options.respondsAsync = false
            request = try encoder(atOnce).encode(batch, requests, number: open.batch).request
        } else {
            guard let single = requests.first?.first, requests[0].count == 1 else {
                return .answered(Repetition([.inDoubt("")]))
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
        if let repetition = repetition(response, of: batch, terms) { return .answered(repetition) }
        if terms.options.supportsBatch,
            case .accepted(let monitor) = BatchAnswer(response, mayBeLater: !terms.model.version.isLegacy)
        {
            // The later answer is matched with all that is outstanding then: so that has to be what was sent.
            guard try await store.doubtfulPlaces(of: open) == places else { return .busy }
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
        return .answered(Repetition([ChangeSetOutcome]()))
    }

    /// Nil where the answer is not one to the requests.
    private func repetition(_ response: WireResponse, of batch: BatchRequest, _ terms: Terms) -> Repetition? {
        let isLasting = UnsuccessfulAnswer(response).isLasting
        guard terms.options.supportsBatch else {
            switch SingleAnswer(response) {
            case .done: return Repetition([.members([response])])
            case .refused where FailureClass(status: response.status) == .permanent:
                return Repetition([.failed(response, culprit: nil)])
            case .unknown where isLasting: return Repetition([.inDoubt("")])
            case .refused, .untouched, .unknown: return nil
            }
        }
        switch BatchAnswer(response, mayBeLater: !terms.model.version.isLegacy) {
        case .parts: return Repetition((try? BatchExchange.outcomes(response, to: batch)) ?? [])
        // Nothing is known of the operations by that; reading goes on.
        case .refused: return Repetition([ChangeSetOutcome]())
        // Something in it may be what the service breaks at, each time.
        case .unknown where isLasting: return Repetition([ChangeSetOutcome]())
        case .accepted, .untouched, .unknown: return nil
        }
    }

    // MARK: Reading

    private enum KeyReading {
        /// With those that are to be sent again.
        case settled([SequenceNumber])
        /// No key and no unique value tells.
        case untold
    }

    /// - Parameter members: operations that took effect together or not at all.
    @_optimize(none)
    private func settle(
        _ members: [PendingOperation], _ report: inout UploadReport
    ) async throws(TidelogError) -> KeyReading {
        var findings: [(pending: PendingOperation, finding: DoubtResolution.Finding)] = []
        for pending in members {
            let resolution = DoubtResolution(store: store, session: session, policy: upload.doubts)
            findings.append((pending, try await resolution.finding(pending.withFinalValues(among: members))))
        }
        let creations = findings.filter { if case .create = $0.pending.operation.action { true } else { false } }
        // Only a new entity proves it: that a property has a value may be somebody else's doing.
        let found = creations.filter { if case .tookEffect = $0.finding { true } else { false } }
        if members.count > 1, case .tookEffect(let batch, _, _)? = found.first?.finding {
            let (proven, unproven) = try await proven(members)
            // What was found tells its key, which the service may have given.
            try await store.confirm(
                proven, of: batch,
                found: found.compactMap { pending, finding in
                    guard case .tookEffect(_, let payload, let set) = finding else { return nil }
                    return (operation: pending.sequence, payload: payload, set: set)
                })
            try await finish(proven, found: found.map(\.pending.sequence), &report)
            return .settled(unproven.map(\.sequence))
        }
        // One that is known not to be there proves that none of them took effect, those included of which reading cannot tell.
        if creations.contains(where: { if case .mayBeSentAgain = $0.finding { true } else { false } }) {
            try await store.release(members.map(\.sequence))
            return .settled(members.map(\.sequence))
        }
        // What nothing tells of stays together with the others: who settles it later settles all of them.
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
            // The service may have done it, so it stays in doubt until it has been sent again: nobody is to cancel it out or
            // to take it back as if the service knew nothing of it.
            case .mayBeDoneTwice: released.append(pending.sequence)
            case .unknown: break
            }
        }
        return .settled(released)
    }

    /// Whether what the operation deletes is not there any more, by whose doing ever. Sent again with others, it would be
    /// refused each time, and they with it, and the answer need not say because of which of them.
    @_optimize(none)
    private func isGone(_ pending: PendingOperation) async throws(TidelogError) -> Bool {
        guard case .delete(let id) = pending.operation.action,
            let (reference, set) = try await store.serviceReference(id)
        else { return false }
        do throws(TidelogError) {
            return try await EntityReading(store: store, session: session).read(reference, set) == nil
        } catch {
            guard error.isLastingAnswer else { throw error }
            return false
        }
    }
}
