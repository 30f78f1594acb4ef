import EDM
import ODataWire
import Operations
import SyncCore
import Views

/// Creates of change sets that the service has refused. The standard has it take back what it had done of them (OData 4.01
/// Part 1, 11.7.4; MS-ODATA 2.2.7.6.2), but not every service does. Sent again, such a create would make a second entity, so
/// it is looked for first.
extension UploadRound {
    struct Leftovers {
        /// Operations of refused change sets whose entities the service has all the same.
        var found: [(pending: PendingOperation, payload: EntityPayload, set: EntitySet)] = []
        /// Those of which it has entities that may be theirs, or that cannot be looked for.
        var doubtful: Set<SequenceNumber> = []

        func holds(_ payload: EntityPayload, of set: EntitySet) -> Bool {
            let key = KeyText.of(payload.values, type: set.entityType)
            return found.contains { $0.set == set && KeyText.of($0.payload.values, type: set.entityType) == key }
        }

        var isEmpty: Bool { found.isEmpty && doubtful.isEmpty }

        /// What goes into the log at first: if the process ends now, the next upload settles it.
        var inDoubt: [SequenceNumber: BatchAnswered.Result] {
            let operations = found.map(\.pending.sequence) + doubtful
            return Dictionary(
                operations.map { ($0, .inDoubt(BatchAnswered.refusedButThere)) }, uniquingKeysWith: { $1 })
        }
    }

    @_optimize(none)
    func leftovers(
        _ batch: BatchID, _ plan: UploadPlan, _ requests: [[WireRequest]], _ outcomes: [ChangeSetOutcome],
        _ terms: Terms
    ) async -> Leftovers {
        var leftovers = Leftovers()
        guard terms.options.changeSetRollback != .trusted else { return leftovers }
        for (index, changeSet) in plan.changeSets.enumerated() where index < min(outcomes.count, requests.count) {
            // One request alone is what was refused. Status 0 is of a request that did not leave.
            guard case .failed(let response, let culprit) = outcomes[index], changeSet.requests.count > 1,
                response.status != 0
            else { continue }
            let blamed = changeSet.culprit(requests[index], response, culprit)
            var suspects = changeSet.operations
            if let refused = changeSet.requests.first(where: { $0.contentID == blamed }), refused.creates != nil {
                let own = Set([refused.operation] + refused.carries)
                suspects.removeAll { own.contains($0) }
            }
            await look(for: suspects, batch, terms, &leftovers)
        }
        return leftovers
    }

    @_optimize(none)
    private func look(
        for operations: [SequenceNumber], _ batch: BatchID, _ terms: Terms, _ leftovers: inout Leftovers
    ) async {
        let members = await pending(operations)
        var isThere = terms.options.changeSetRollback == .absent
        var looked = 0
        for member in members {
            guard member.isCreate else { continue }
            // Where none of the first is there, the service has taken back what it had done.
            guard isThere || looked < Self.sampleSize else { return }
            looked += 1
            defer { if !leftovers.isEmpty { isThere = true } }
            var probe = member.withFinalValues(among: members)
            probe.status = .inDoubt(batch, reason: BatchAnswered.refusedButThere)
            let finding = try? await DoubtResolution(store: store, session: session).finding(probe)
            switch finding {
            case .tookEffect(_, let payload, let set):
                // What was found for a twin is not this one as well.
                if leftovers.holds(payload, of: set) {
                    leftovers.doubtful.insert(member.sequence)
                } else {
                    leftovers.found.append((member, payload, set))
                }
            case .mayBeSentAgain, .mayBeDoneTwice: break
            case .unknown, nil:
                let evidence = EvidenceRound(store: store, session: session)
                let lookalike = finding == nil ? nil : await evidence.hasUnknown(like: probe)
                // Where nothing can be read, what the standard promises counts, unless the service is known not to keep it.
                if lookalike ?? (terms.options.changeSetRollback == .absent) {
                    leftovers.doubtful.insert(member.sequence)
                }
            }
        }
    }

    /// How many creates of a change set are looked for, as long as none is found.
    private static var sampleSize: Int { 8 }

    @_optimize(none)
    private func pending(_ operations: [SequenceNumber]) async -> [PendingOperation] {
        (try? await store.pendingOperations(operations)) ?? []
    }

    /// Ends the operations whose entities were found, and remembers that the service does not take back what it refuses.
    @_optimize(none)
    func adopt(
        _ leftovers: Leftovers, _ batch: BatchID, _ results: inout [BatchAnswered.Outcome]
    ) async throws(TidelogError) {
        guard !leftovers.found.isEmpty else { return }
        await store.learn { $0.changeSetRollback = .absent }
        for (pending, payload, set) in leftovers.found {
            try await store.confirm(pending, of: batch, payload, set)
            for index in results.indices where results[index].operation == pending.sequence {
                results[index].result = .confirmed(images: [])
            }
        }
    }
}

extension BatchAnswered {
    /// Why a create of a refused change set is in doubt. It is settled by itself, whatever else the change set held.
    static let refusedButThere =
        "The service refused the change set, but it may have kept what this operation created."
}

extension BatchAnswered.Outcome {
    /// The outcome as it is known better; what the service confirmed stays so.
    func amended(by result: BatchAnswered.Result?) -> BatchAnswered.Outcome {
        guard let result, !isConfirmed else { return self }
        return BatchAnswered.Outcome(operation: operation, result: result)
    }
}

extension LocalStore {
    /// Those of the operations that have not ended, in order.
    func pendingOperations(_ operations: [SequenceNumber]) throws(TidelogError) -> [PendingOperation] {
        try read { state in try operations.compactMap { try state.pendingOperation($0) } }
    }
}
