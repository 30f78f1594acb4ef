import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Resolution of operations in doubt: operations that were sent and whose outcome no response reported.
///
/// If the service supports repeatable requests, they are sent again byte by byte. Otherwise, and if the service has
/// discarded the earlier response, the outcome is determined by reading.
struct InDoubtRound {
    let driver: UploadDriver
    let knowledge: UploadKnowledge

    private var store: LocalStore { driver.store }
    private var session: ServiceSession { driver.session }

    init(driver: UploadDriver, knowledge: UploadKnowledge) {
        self.driver = driver
        self.knowledge = knowledge
    }

    /// Resolves the operations in doubt.
    func run() async throws(TidelogError) -> InDoubtReport<TidelogError> {
        guard try await !store.queue.pendingOperations(.inDoubt).isEmpty else {
            return InDoubtReport(released: [], knowledge: knowledge)
        }
        var resend = ResendRound(driver: driver, knowledge: knowledge)
        for open in try await store.doubts.openBatches() where !open.prepared.sent.isEmpty && open.monitor == nil {
            try await resend.sendAgain(open)
        }
        var released = try await resolve(unsettled: resend.unsettled)
        let ended = try await DeletionLookup(
            store: store, session: session, policy: driver.upload.doubts, busy: []
        ).confirmHeld(among: released)
        driver.report.confirmed += ended
        released.subtract(ended)
        return InDoubtReport(
            released: released, knowledge: resend.knowledge, obstacle: resend.obstacle.map { .failure($0) })
    }

    /// Resolves operations by reading. Returns those that did not take effect.
    ///
    /// - Parameter unsettled: Operations whose repetition the service is still processing.
    private func resolve(unsettled: Set<SequenceNumber>) async throws(TidelogError) -> Set<SequenceNumber> {
        // The service is still processing these, so a read would be inconclusive.
        let busy = unsettled.union(try await store.doubts.awaitedOperations().values.joined())
        driver.report.inDoubt += unsettled.sorted()
        var released: Set<SequenceNumber> = []
        let deletions = try await DeletionLookup(
            store: store, session: session, policy: driver.upload.doubts, busy: busy
        ).run()
        driver.report.confirmed += deletions.ended
        driver.report.inDoubt += deletions.withheld.sorted()
        let waiting = busy.union(deletions.withheld)
        let known = driver.report.inDoubt
        // Runs a second time if the service turns out not to roll back; then each operation is resolved
        // individually.
        while true {
            driver.report.inDoubt = known
            var unresolved: [[PendingOperation]] = []
            let sets = try await store.doubts.inDoubtSets()
            let isBusy = { (members: [PendingOperation]) in members.contains { waiting.contains($0.sequence) } }
            let all = sets.joined().sorted { $0.sequence < $1.sequence }
            for members in sets where !isBusy(members) && !members.contains(where: { released.contains($0.sequence) }) {
                switch try await resolveByKey(members, among: (sets, all), released, deletions) {
                case .settled(let again): released.formUnion(again)
                case .unresolved: unresolved.append(members)
                }
            }
            let settled = try await resolveByContent(unresolved, busy: sets.filter(isBusy))
            released.formUnion(settled.released)
            guard !settled.partial.isEmpty else { return released }
            await store.recordDetected { $0.changeSetRollback = .absent }
            guard try await store.serviceOptions.changeSetRollback == .absent else {
                driver.report.inDoubt += settled.partial
                return released
            }
        }
    }

    /// Resolves operations whose outcome cannot be determined by a key, by the content that was sent.
    ///
    /// - Returns: The operations to send again, and those of partially processed change sets.
    private func resolveByContent(
        _ unresolved: [[PendingOperation]], busy: [[PendingOperation]]
    ) async throws(TidelogError) -> (released: [SequenceNumber], partial: [SequenceNumber]) {
        guard !unresolved.isEmpty else { return ([], []) }
        var partial: [SequenceNumber] = []
        let evidence = EvidenceRound(store: store, session: session, policy: driver.upload.doubts)
        var released: [SequenceNumber] = []
        for resolution in try await evidence.resolutions(of: unresolved, busy: busy) {
            let (members, operations) = (resolution.members, resolution.members.map(\.sequence))
            switch resolution.outcome {
            case .tookEffect(let found, let replaced, let finding):
                if members.contains(where: { DoubtReason.isOfRefusal($0.doubtReason) }) {
                    await store.recordDetected { $0.changeSetRollback = .absent }
                }
                let (proven, unproven) = try await proven(members)
                try await store.doubts.confirm(
                    proven, of: members[0].status.batch ?? 0, found: found, because: (finding, replacing: replaced))
                driver.report.adopted += proven.map(\.sequence)
                try await finish(proven, found: found.map(\.operation))
                released += unproven.map(\.sequence)
            case .absent(let finding):
                let absent = try await absent(members)
                try await store.doubts.release(absent, because: finding)
                released += absent.map(\.sequence)
            case .waits(let end):
                driver.report.inDoubt += operations
                for operation in operations { driver.report.nextLooks[operation] = end }
            case .undecided(let finding):
                driver.report.inDoubt += operations
                if let finding { try await store.doubts.logSearchResult(finding, of: members) }
            case .tookEffectInPart: partial += operations
            }
        }
        return (released, partial)
    }

    /// Splits the operations of a change set whose new entities were found into proven and unproven ones.
    ///
    /// The unproven operations are the links between two of the new entities. A service that does not resolve
    /// `$<Content-ID>` in bodies rejects these links; if it does not roll back either, the entities exist without them.
    /// Sending a link again is idempotent.
    private func proven(
        _ members: [PendingOperation]
    ) async throws(TidelogError) -> (proven: [PendingOperation], unproven: [PendingOperation]) {
        guard try await store.serviceOptions.changeSetRollback != .trusted else { return (members, []) }
        // A call that is neither proven nor repeatable stays in doubt.
        let calls = members.filter { $0.operation.call != nil }
        driver.report.inDoubt += calls.map(\.sequence)
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

    /// Returns the operations of a change set that did not take effect, because one of its creates did not.
    ///
    /// Whether a service rolls back is not known, so a call that refers to none of the new entities stays in doubt.
    private func absent(_ members: [PendingOperation]) async throws(TidelogError) -> [PendingOperation] {
        guard members.contains(where: { $0.operation.call != nil }),
            try await store.serviceOptions.changeSetRollback != .trusted
        else { return members }
        let created = Set(members.flatMap(\.operation.createdEntities))
        var absent: [PendingOperation] = []
        for member in members {
            if member.operation.call == nil || !created.isDisjoint(with: member.operation.referencedEntities) {
                absent.append(member)
            } else {
                driver.report.inDoubt.append(member.sequence)
            }
        }
        return absent
    }

    /// Reports operations as confirmed, and reads the keys of their new entities from the entities that were found.
    private func finish(
        _ members: [PendingOperation], found: [SequenceNumber]
    ) async throws(TidelogError) {
        driver.report.confirmed += members.map(\.sequence)
        for id in members.filter({ found.contains($0.sequence) }).flatMap(\.operation.createdEntities) {
            try await driver.reading.readKeys(below: id)
        }
    }

    // MARK: Reading

    private enum KeyLookupResult {
        /// The outcome is known; these operations are sent again.
        case settled([SequenceNumber])
        /// The outcome cannot be determined by a key or a unique value.
        case unresolved
    }

    private static let companionFinding =
        "Another create of the change set took effect, and the service has one new entity with the values that were sent."

    /// Resolves operations by reading the entities with known keys.
    ///
    /// - Parameters:
    ///   - members: Operations that took effect all or none.
    ///   - queue: All operations in doubt, grouped in the same way, and in order.
    ///   - released: Operations that are sent again.
    private func resolveByKey(
        _ members: [PendingOperation], among queue: (sets: [[PendingOperation]], all: [PendingOperation]),
        _ released: Set<SequenceNumber>, _ deletions: DeletionLookup.Findings
    ) async throws(TidelogError) -> KeyLookupResult {
        var findings: [(pending: PendingOperation, finding: InDoubtResolver.Finding)] = []
        for pending in members {
            let resolution = InDoubtResolver(
                store: store, session: session, policy: driver.upload.doubts, removed: deletions.removed,
                former: deletions.former)
            let final = pending.withFinalValues(among: members)
            var finding = try await resolution.finding(final)
            if !finding.tookEffect, let overwritten = final.withValuesOverwritten(by: queue.all) {
                finding = try await resolution.finding(overwritten)
            }
            findings.append((pending, finding))
        }
        let creations = findings.filter { if case .create = $0.pending.operation.action { true } else { false } }
        // Only a new entity is proof. Another client may have set a property to the same value.
        let found = creations.filter(\.finding.tookEffect)
        if members.count > 1, case .tookEffect(let batch, _, _)? = found.first?.finding {
            let (proven, unproven) = try await proven(members)
            // The found entities contain the keys, which the service may have generated.
            var entities = found.compactMap { pending, finding -> EvidenceRound.Found? in
                guard case .tookEffect(_, let payload, let set) = finding else { return nil }
                return (operation: pending.sequence, payload: payload, set: set)
            }
            let others = try await EvidenceRound(
                store: store, session: session, policy: driver.upload.doubts
            ).newEntities(of: members, besides: Set(entities.map(\.operation)), among: queue.sets)
            entities += others.found
            try await store.doubts.confirm(
                proven, of: batch, found: entities,
                because: others.found.isEmpty ? nil : (Self.companionFinding, others.replaced))
            driver.report.adopted += others.found.map(\.operation)
            try await finish(proven, found: entities.map(\.operation))
            return .settled(unproven.map(\.sequence))
        }
        // A missing new entity proves that none of the operations took effect, including those whose effect cannot be
        // read.
        if creations.contains(where: { if case .mayBeSentAgain = $0.finding { true } else { false } }) {
            let absent = try await absent(members).map(\.sequence)
            try await store.doubts.release(absent)
            return .settled(absent)
        }
        // Unresolvable operations stay with the others, so that a later resolution covers all of them.
        guard !findings.contains(where: { if case .unknown = $0.finding { true } else { false } }) else {
            return .unresolved
        }
        var again: [SequenceNumber] = []
        let ended = try await RemovalLookup(store: store, session: session, members: members).ended()
        for (pending, finding) in findings {
            if case .inDoubt(let batch, _) = pending.status, ended.contains(pending.sequence) {
                try await store.doubts.confirm([pending.sequence], of: batch, images: [:])
                driver.report.confirmed.append(pending.sequence)
                continue
            }
            switch finding {
            // In the order in which they were made, so that the last value remains.
            case .tookEffect(_, _, let set)
            where queue.all.contains(where: {
                (released.contains($0.sequence) || again.contains($0.sequence))
                    && $0.overwrites(pending, of: set.entityType)
            }):
                try await store.doubts.release([pending.sequence])
                again.append(pending.sequence)
            case .tookEffect(let batch, let payload, let set):
                try await store.doubts.confirm(pending, of: batch, payload, set)
                driver.report.confirmed.append(pending.sequence)
            case .mayBeSentAgain:
                try await store.doubts.release([pending.sequence])
                again.append(pending.sequence)
            // The service may have processed it, so it stays in doubt until it has been sent again. Otherwise it
            // could be cancelled out or undone as if the service had never received it.
            case .mayBeDoneTwice: again.append(pending.sequence)
            case .unknown: break
            }
        }
        return .settled(again)
    }
}
