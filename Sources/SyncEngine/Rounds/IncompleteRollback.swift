import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore
import Views

/// Searches for the creates of rejected change sets.
///
/// The standard requires the service to roll a rejected change set back (OData 4.01 Part 1, 11.7.4; MS-ODATA
/// 2.2.7.6.2), but not every service does. Sending such a create again would create a duplicate, so the upload first
/// searches for the entity.
struct IncompleteRollback {
    let store: LocalStore
    let session: ServiceSession

    struct Findings {
        /// Operations of rejected change sets whose entities exist on the service nevertheless.
        var found: [(pending: PendingOperation, payload: EntityPayload, set: EntitySet)] = []
        /// Operations for which the service has possible matches, or for which no search is possible.
        var doubtful: Set<SequenceNumber> = []

        func holds(_ payload: EntityPayload, of set: EntitySet) -> Bool {
            let key = KeyText.of(payload.values, type: set.entityType)
            return found.contains { $0.set == set && KeyText.of($0.payload.values, type: set.entityType) == key }
        }

        var isEmpty: Bool { found.isEmpty && doubtful.isEmpty }

        /// The results that are logged first. If the process ends now, the next upload resolves these operations.
        var inDoubt: [SequenceNumber: BatchAnswered.Result] {
            let operations = found.map(\.pending.sequence) + doubtful
            return Dictionary(
                operations.map { ($0, .inDoubt(BatchAnswered.refusedButThere)) }, uniquingKeysWith: { $1 })
        }
    }

    func find(_ answer: UploadAnswer) async -> Findings {
        var findings = Findings()
        guard answer.profile.options.changeSetRollback != .trusted else { return findings }
        for changeSet in answer.batch.changeSets {
            // A change set of one request needs no search. Status 0 marks a request that was not sent.
            guard case .failed(let response, let culprit)? = changeSet.outcome, changeSet.requests.count > 1,
                response.status != 0
            else { continue }
            let blamed = changeSet.culprit(response, culprit)
            var suspects = changeSet.operations
            if let refused = changeSet.requests.first(where: { $0.contentID == blamed }), refused.creates != nil {
                suspects.removeAll { refused.operations.contains($0) }
            }
            await look(for: suspects, answer.batch.number, answer.profile.options.changeSetRollback, &findings)
        }
        return findings
    }

    private func look(
        for operations: [SequenceNumber], _ batch: BatchID, _ known: ServiceOptions.ChangeSetRollback,
        _ findings: inout Findings
    ) async {
        let members = (try? await store.queue.pendingOperations(operations)) ?? []
        var isThere = known == .absent
        var looked = 0
        for member in members {
            guard member.isCreate else { continue }
            // If none of the first creates exists, the service has rolled back.
            guard isThere || looked < Self.sampleSize else { return }
            looked += 1
            defer { if !findings.isEmpty { isThere = true } }
            var probe = member.withFinalValues(among: members)
            probe.status = .inDoubt(batch, reason: BatchAnswered.refusedButThere)
            // The entity of a different client can have caused the rejection, so only an exact match counts.
            let finding = try? await InDoubtResolver(
                store: store, session: session, acceptsNormalizedValues: false
            ).finding(probe)
            switch finding {
            case .tookEffect(_, let payload, let set):
                // An entity that was found for a twin does not count for this operation too.
                if findings.holds(payload, of: set) {
                    findings.doubtful.insert(member.sequence)
                } else {
                    findings.found.append((member, payload, set))
                }
            case .mayBeSentAgain, .mayBeDoneTwice: break
            case .unknown, nil:
                let evidence = EvidenceRound(store: store, session: session)
                let lookalike = finding == nil ? nil : await evidence.hasUnknown(like: probe)
                // If reading is not possible, the standard is trusted, unless the service is known not to roll back.
                if lookalike ?? (known == .absent) { findings.doubtful.insert(member.sequence) }
            }
        }
    }

    /// The number of creates of a change set that are searched for as long as none is found.
    private static var sampleSize: Int { 8 }
}
