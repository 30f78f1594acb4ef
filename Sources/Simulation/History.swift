import EDM
import Operations

/// What the log of a device says of its whole life, what compactions have removed included.
struct History {
    /// Every operation that the log ever held, without what decisions about conflicts took from it.
    private(set) var operations: [SequenceNumber: Operation] = [:]
    /// Those that cancelled each other out.
    private(set) var elided: Set<SequenceNumber> = []
    /// Those that came back after an undo: they may have gone behind others that were made later.
    private(set) var redone: Set<SequenceNumber> = []
    /// Those that were sent at least once without an answer that says what became of them.
    private(set) var doubted: Set<SequenceNumber> = []
    /// Updates of entities about which something was decided after they were made.
    private(set) var decided: Set<SequenceNumber> = []
    /// The `Mark` of each entity that the device knows or has made.
    private(set) var marks: [EntityID: String] = [:]
    /// Where in the log a value of the service first came up.
    private(set) var seen: [String: SequenceNumber] = [:]
    /// The batch and change set that an operation went with last: what is in one takes effect at one moment.
    private(set) var sentWith: [SequenceNumber: Place] = [:]
    /// The last decision about each entity.
    private(set) var decisions: [EntityID: SequenceNumber] = [:]

    struct Place: Hashable {
        let batch: BatchID
        let changeSet: Int
    }

    init(_ records: [(sequence: SequenceNumber, record: Record)]) {
        var batches: [BatchID: [SequenceNumber]] = [:]
        for (sequence, record) in records {
            switch record.body {
            case .operation(let operation):
                operations[sequence] = operation
                if case .create(let creation, _) = operation.action { note(creation) }
            case .downloadPage(let page): for image in page.entities { note(image, sequence) }
            case .entitiesRead(let images): for image in images { note(image, sequence) }
            case .batchPrepared(let prepared):
                batches[prepared.batch] = prepared.operations
                for (index, requests) in prepared.changeSets.enumerated() {
                    for request in requests {
                        sentWith[request.operation] = Place(batch: prepared.batch, changeSet: index)
                    }
                }
            case .batchInterrupted(let interrupted): doubted.formUnion(batches[interrupted.batch] ?? [])
            case .batchAnswered(let answered): note(answered, sequence)
            case .conflictResolved(let resolved): note(resolved, sequence)
            case .operationsElided(let sequences): elided.formUnion(sequences)
            case .operationsRedone(let sequences): redone.formUnion(sequences)
            default: break
            }
        }
    }

    private mutating func note(_ creation: Creation) {
        marks[creation.entity] = creation.values["Mark"]?.stringValue
        for child in creation.inline.flatMap(\.entities) { note(child) }
    }

    private mutating func note(_ image: EntityImage, _ sequence: SequenceNumber) {
        if let mark = image.values["Mark"]?.stringValue { marks[image.entity] = mark }
        for name in Ledger.texts {
            if let text = image.values[name]?.stringValue, seen[text] == nil { seen[text] = sequence }
        }
    }

    private mutating func note(_ answered: BatchAnswered, _ sequence: SequenceNumber) {
        for outcome in answered.outcomes {
            switch outcome.result {
            case .confirmed(let images): for image in images { note(image, sequence) }
            case .inDoubt: doubted.insert(outcome.operation)
            default: break
            }
        }
    }

    private mutating func note(_ resolved: ConflictResolved, _ sequence: SequenceNumber) {
        decisions[resolved.entity] = sequence
        for (number, operation) in operations {
            if case .update(resolved.entity, _, _) = operation.action { decided.insert(number) }
        }
        for part in resolved.dropped { operations[part.operation]?.drop(part) }
    }
}

extension Operation {
    fileprivate mutating func drop(_ part: ConflictResolved.Part) {
        guard case .update(let entity, var changes, var bindings) = action else { return }
        for name in part.properties { changes[name] = nil }
        bindings.removeAll { part.navigations.contains($0.navigation) }
        action = .update(entity, changes: changes, bindings: bindings)
    }
}
