import EDM
import Operations

/// The content of a device's log over its whole life, including records that compactions have removed.
struct History {
    /// All operations that the log ever contained, without the parts that conflict resolutions dropped.
    private(set) var operations: [SequenceNumber: Operation] = [:]
    /// All texts of ``operations``, including the parts that conflict resolutions dropped.
    private(set) var texts: Set<String> = []
    /// The operations on drafts of entities, which are not among ``operations``.
    private(set) var draftOperations: [SequenceNumber: Operation] = [:]
    private var drafts: Set<EntityID> = []
    /// The operations that cancelled each other out.
    private(set) var elided: Set<SequenceNumber> = []
    /// The operations that were redone after an undo, and may therefore follow operations that were created later.
    private(set) var redone: Set<SequenceNumber> = []
    /// The operations that were sent at least once without a conclusive response.
    private(set) var doubted: Set<SequenceNumber> = []
    /// The updates of entities for which a conflict was resolved after the update.
    private(set) var decided: Set<SequenceNumber> = []
    /// The `Mark` of each entity that the device has seen or created.
    private(set) var marks: [EntityID: String] = [:]
    /// The position in the log at which a value from the service first occurred.
    private(set) var seen: [String: SequenceNumber] = [:]
    /// The last batch and change set of each operation. A change set takes effect atomically.
    private(set) var sentWith: [SequenceNumber: ChangeSetPosition] = [:]
    /// The last conflict resolution of each entity.
    private(set) var decisions: [EntityID: SequenceNumber] = [:]

    struct ChangeSetPosition: Hashable {
        let batch: BatchID
        let changeSet: Int
    }

    init(_ records: [(sequence: SequenceNumber, record: Record)]) {
        var batches: [BatchID: [SequenceNumber]] = [:]
        for (sequence, record) in records {
            switch record.body {
            case .operation(let operation):
                guard !isOnDraft(operation) else {
                    draftOperations[sequence] = operation
                    continue
                }
                operations[sequence] = operation
                texts.formUnion(operation.texts)
                if case .create(let creation, _) = operation.action { apply(creation) }
            case .downloadPage(let page): for image in page.entities { apply(image, sequence) }
            case .entitiesRead(let images): for image in images { apply(image, sequence) }
            case .batchPrepared(let prepared):
                batches[prepared.batch] = prepared.operations
                for (index, requests) in prepared.changeSets.enumerated() {
                    for request in requests {
                        sentWith[request.operation] = ChangeSetPosition(batch: prepared.batch, changeSet: index)
                    }
                }
            case .batchInterrupted(let interrupted): doubted.formUnion(batches[interrupted.batch] ?? [])
            case .batchAnswered(let answered): apply(answered, sequence)
            case .conflictResolved(let resolved): apply(resolved, sequence)
            case .operationsElided(let sequences): elided.formUnion(sequences)
            case .operationsRedone(let sequences): redone.formUnion(sequences)
            default: break
            }
        }
    }

    private mutating func isOnDraft(_ operation: Operation) -> Bool {
        guard case .create(let creation, _) = operation.action else { return drafts.contains(operation.subject) }
        guard FieldService.draftSets.contains(creation.set) else { return false }
        drafts.formUnion(creation.all.map(\.entity))
        return true
    }

    private mutating func apply(_ creation: Creation) {
        marks[creation.entity] = creation.values["Mark"]?.stringValue
        for child in creation.inline.flatMap(\.entities) { apply(child) }
    }

    private mutating func apply(_ image: EntityImage, _ sequence: SequenceNumber) {
        if let mark = image.values["Mark"]?.stringValue { marks[image.entity] = mark }
        for name in Ledger.texts {
            if let text = image.values[name]?.stringValue, seen[text] == nil { seen[text] = sequence }
        }
    }

    private mutating func apply(_ answered: BatchAnswered, _ sequence: SequenceNumber) {
        for outcome in answered.outcomes {
            switch outcome.result {
            case .confirmed(let images): for image in images { apply(image, sequence) }
            case .inDoubt: doubted.insert(outcome.operation)
            default: break
            }
        }
    }

    private mutating func apply(_ resolved: ConflictResolved, _ sequence: SequenceNumber) {
        decisions[resolved.entity] = sequence
        for (number, operation) in operations {
            if case .update(resolved.entity, _, _) = operation.action { decided.insert(number) }
        }
        for part in resolved.dropped { operations[part.operation]?.drop(part) }
    }
}

extension Operation {
    fileprivate mutating func drop(_ part: ConflictResolved.PartialUpdate) {
        guard case .update(let entity, var changes, var bindings) = action else { return }
        for name in part.properties { changes[name] = nil }
        bindings.removeAll { part.navigations.contains($0.navigation) }
        action = .update(entity, changes: changes, bindings: bindings)
    }
}
