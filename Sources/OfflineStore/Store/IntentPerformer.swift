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
            core.fold.trackRewrites(true)
            defer { core.fold.trackRewrites(false) }
            // One builder for all intents, because a copy for each would have quadratic cost.
            var builder = try OperationBuilder(
                state: core.state, model: model, root: try core.state.serviceRoot,
                drafts: DraftTable(capacity: intents.count))
            let rules = OperationRules(storage: core.state, model: model)
            var results = ResultList(core.state, try core.linkForms(model), capacity: intents.count)
            let first = core.nextSequence
            var deletions = ChangeSetDeletions()
            if asChangeSet {
                for place in intents.indices { try deletions.expect(intents[place].intent, builder, core.state) }
            }
            for (intent, options) in intents {
                // An update with new entities consists of several operations, which must not be separated.
                var isSplit = if case .update(_, _, _, let inline) = intent { !inline.isEmpty } else { false }
                let sendsEmptyUpdate = options.sendsEmptyUpdate || options.stream != nil
                let firstDraft = builder.drafts.created.count
                let actions = try builder.parts(of: intent, sendsEmptyUpdate: sendsEmptyUpdate)
                if actions.count > 1 { isSplit = true }
                let changeSet = asChangeSet ? first : (isSplit ? core.nextSequence : nil)
                let subject = try builder.subject(of: intent)
                var performed = PerformedIntent()
                for part in actions where try !deletions.isDone(intent, part.action, core.state) {
                    let operation = try builder.operation(
                        part.action, of: intent, part.isClientOnly ? options.clientOnly : options,
                        changeSet: changeSet)
                    try rules.check(operation)
                    let sequence = try core.add(.operation(consume operation))
                    performed.add(sequence, isClientOnly: part.isClientOnly)
                    try builder.advance()
                }
                try results.append(performed, subject, builder.drafts.created[firstDraft...])
                if !asChangeSet { try self.checkCardinality() }
            }
            if asChangeSet { try self.checkCardinality() }
            // Before the commit, after which nothing may fail.
            try results.complete(core.fold.rewrittenEntities())
            if results.hasOperations { _ = try core.commit() }
            return results.all
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
        guard core.fold.model?.hasMandatoryEnds == true, let index = core.fold.index else { return }
        try CardinalityRule(storage: core.state, index: index).check(core.drainDirtySet())
    }
}

/// The operations of an intent.
private struct PerformedIntent {
    private var last: SequenceNumber?
    private var lastForService: SequenceNumber?

    /// The operation by which the app refers to the intent, or nil if there was none.
    var sequence: SequenceNumber? { lastForService ?? last }

    mutating func add(_ sequence: SequenceNumber, isClientOnly: Bool) {
        last = sequence
        if !isClientOnly { lastForService = sequence }
    }
}

/// The results of the intents of a call.
///
/// New entities are read when their operation was folded, while their rows are in memory. A later operation of the call
/// may change them, so those are read again at the end.
private struct ResultList {
    private let state: WorkingSet
    private let reader: SnapshotReader
    private(set) var all: [IntentResult] = []
    /// The entities that the app passed to the call, by result.
    private var subjects: [(place: Int, entity: EntityID)] = []
    private(set) var hasOperations = false

    init(_ state: WorkingSet, _ forms: LinkForms, capacity: Int) {
        self.state = state
        reader = SnapshotReader(state: state, forms: forms)
        all.reserveCapacity(capacity)
    }

    /// Adds the result of the next intent.
    ///
    /// - Parameters:
    ///   - subject: The entity that the app passed to the call.
    ///   - created: The drafts of the intent.
    mutating func append(
        _ performed: PerformedIntent, _ subject: EntityID?, _ created: ArraySlice<(number: Int, id: EntityID)>
    ) throws {
        var result = IntentResult(sequence: performed.sequence)
        if performed.sequence != nil {
            hasOperations = true
            for (draft, id) in created {
                if let row = try state.row(id, isCached: false) {
                    result.entities.all.append((draft, try reader.snapshot(row)))
                }
            }
            if let subject { subjects.append((all.count, subject)) }
        }
        all.append(result)
    }

    /// Reads the entities whose state depends on all operations.
    ///
    /// - Parameter rewritten: The entities that were changed after they were created.
    mutating func complete(_ rewritten: EntityIDSet) throws {
        if !rewritten.isEmpty { try renew(rewritten) }
        for (place, subject) in subjects {
            if let row = try state.row(subject) {
                all[place].entities[IntentResult.subject] = try reader.snapshot(row)
            }
        }
    }

    private mutating func renew(_ rewritten: EntityIDSet) throws {
        for place in all.indices {
            for index in all[place].entities.all.indices.reversed() {
                guard let id = all[place].entities.all[index].snapshot.entityID, rewritten.contains(id) else {
                    continue
                }
                if let row = try state.row(id, isCached: false) {
                    all[place].entities.all[index].snapshot = try reader.snapshot(row)
                } else {
                    all[place].entities.all.remove(at: index)
                }
            }
        }
    }
}

extension IntentOptions {
    /// The options of client-only changes, which are never sent.
    fileprivate var clientOnly: IntentOptions { IntentOptions(customTag: customTag, delivery: .localOnly) }
}
