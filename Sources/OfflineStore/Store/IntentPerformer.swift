import EDM
import Operations
import SyncCore
import Views

/// The execution of an app's intents: the operations that they become, the rules, and the results.
struct IntentPerformer {
    let core: StoreCore

    /// Validates and logs the intents in order, in one transaction.
    ///
    /// If one is refused, none is logged. With `asChangeSet` they are also sent in one change set, and only the state
    /// after the last one has to be legal; otherwise the state after each.
    func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) throws(TidelogError) -> [IntentResult] {
        let model = try core.model
        if asChangeSet { try Self.checkDeliveries(intents) }
        if core.options.undoesLocalCreation, !asChangeSet, intents.count == 1,
            case .delete(let address) = intents[0].intent,
            let result = try LocalCreationUndo(core: core).perform(address)
        {
            return [result]
        }
        let isDeferred = core.options.unflushedLimit > 0 && intents.count <= Self.mostDeferred
        return try core.transaction(isDeferred ? .deferred : .immediate) { () throws -> [IntentResult] in
            _ = core.drainDirtySet()
            // One builder for all intents, because a copy for each would have quadratic cost.
            var builder = try OperationBuilder(
                state: core.state, model: model, root: try core.state.serviceRoot,
                drafts: DraftTable(capacity: intents.count))
            let rules = OperationRules(storage: core.state, model: model)
            var performed: [PerformedOperation] = []
            performed.reserveCapacity(intents.count)
            let first = core.nextSequence
            var deletions = ChangeSetDeletions()
            if asChangeSet {
                for place in intents.indices { try deletions.expect(intents[place].intent, builder, core.state) }
            }
            for (intent, options) in intents {
                // An update with new entities consists of several operations, which must not be separated.
                var isSplit = if case .update(_, _, _, let inline) = intent { !inline.isEmpty } else { false }
                let sendsEmptyUpdate = options.sendsEmptyUpdate || options.stream != nil
                let actions = try builder.parts(of: intent, sendsEmptyUpdate: sendsEmptyUpdate)
                if actions.count > 1 { isSplit = true }
                let changeSet = asChangeSet ? first : (isSplit ? core.nextSequence : nil)
                let subject = try builder.subject(of: intent)
                for part in actions where try !deletions.isDone(intent, part.action, core.state) {
                    let operation = try builder.operation(
                        part.action, of: intent, part.isClientOnly ? options.clientOnly : options,
                        changeSet: changeSet)
                    try rules.check(operation)
                    let sequence = try core.add(.operation(consume operation))
                    performed.append(PerformedOperation(sequence, subject, isClientOnly: part.isClientOnly))
                    try builder.advance()
                }
                builder.drafts.endIntent(operations: performed.count)
                if !asChangeSet { try self.checkCardinality() }
            }
            if asChangeSet { try self.checkCardinality() }
            // Before the commit, after which nothing may fail.
            let results = try self.results(performed, builder.drafts, model)
            if !performed.isEmpty { _ = try core.commit() }
            return results
        }
    }

    /// The most operations of a call whose changes may stay in memory for a while.
    private static let mostDeferred = 256

    private static func checkDeliveries(
        _ intents: [(intent: Intent, options: IntentOptions)]
    ) throws(TidelogError) {
        guard let first = intents.first?.options.delivery,
            intents.indices.contains(where: { intents[$0].options.delivery != first })
        else { return }
        throw TidelogError(
            OperationRefused(
                .notAllowed,
                "The operations of a change set must have the same delivery, because they are sent together.",
                recovery: "Set the same delivery for all of them, or use several change sets."))
    }

    private func checkCardinality() throws {
        guard let index = core.fold.index else { return }
        try CardinalityRule(storage: core.state, index: index).check(core.drainDirtySet())
    }

    private func results(
        _ performed: [PerformedOperation], _ drafts: DraftTable, _ model: EntityDataModel
    ) throws -> [IntentResult] {
        let reader = try SnapshotReader(state: core.state, forms: core.linkForms(model))
        var results: [IntentResult] = []
        results.reserveCapacity(drafts.intentEnds.count)
        var (begin, firstDraft) = (0, 0)
        for intent in drafts.intentEnds {
            let (end, created) = (intent.operations, drafts.created[firstDraft..<intent.drafts])
            defer { (begin, firstDraft) = (end, intent.drafts) }
            guard end > begin else {
                results.append(IntentResult())
                continue
            }
            let own = performed[begin..<end]
            var result = IntentResult(sequence: (own.last { !$0.isClientOnly } ?? performed[end - 1]).sequence)
            for (draft, id) in created {
                guard let row = try core.state.row(id, isCached: false) else { continue }
                result.entities.all.append((draft, try reader.snapshot(row)))
            }
            if let subject = performed[end - 1].subject, let row = try core.state.row(subject) {
                result.entities[IntentResult.subject] = try reader.snapshot(row)
            }
            results.append(result)
        }
        return results
    }
}

/// An operation of a call.
private struct PerformedOperation {
    let sequence: SequenceNumber
    /// The entity that the app passed to the call.
    let subject: EntityID?
    let isClientOnly: Bool

    init(_ sequence: SequenceNumber, _ subject: EntityID?, isClientOnly: Bool) {
        self.sequence = sequence
        self.subject = subject
        self.isClientOnly = isClientOnly
    }
}

extension IntentOptions {
    /// The options of client-only changes, which are never sent.
    fileprivate var clientOnly: IntentOptions { IntentOptions(customTag: customTag, delivery: .localOnly) }
}
