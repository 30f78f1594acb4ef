import EDM
import ODataWire
import SyncEngine

/// The intents of one call, with the objects that receive the results.
struct ModificationCall {
    private(set) var intents: [(intent: Intent, options: IntentOptions)] = []
    private var subjects: [Subject] = []

    /// The object of an intent.
    private struct Subject {
        let entity: EntityValue
        let role: Role

        enum Role {
            /// The object is new and represented by a draft.
            case new
            /// All its changes are saved.
            case saved
            /// Only the named link is saved; other changes remain unsaved.
            case named
        }
    }

    /// Entities whose changed relations are all saved by intents, or are already up to date.
    private var updated: [EntityValue] = []
    /// The new entities by draft number.
    private var drafts: [Int: EntityValue] = [:]

    /// Converts the operations. Operations without changes are omitted.
    init(
        _ operations: [ChangeSet.Operation], model: EntityDataModel, provider: any DataServiceProvider
    ) throws(TidelogError) {
        var builder = IntentBuilder(model: model, provider: provider)
        // Removals first: an entity that moves to another owner is unlinked before it is linked, in whichever order
        // the owners are saved.
        for operation in operations where operation.isFlat {
            guard case .update(let entity) = operation.kind else { continue }
            try add(builder.removals(entity, onlyLinked: true), operation, builder)
        }
        for operation in operations {
            try add(builder.intents(operation, isAlone: operations.count == 1), operation, builder)
        }
        drafts = builder.entities
    }

    private mutating func add(
        _ made: [Intent], _ operation: ChangeSet.Operation, _ builder: IntentBuilder
    ) throws(TidelogError) {
        if case .update(let entity) = operation.kind { updated.append(entity) }
        guard !made.isEmpty else { return }
        let options = try operation.options.intentOptions(headers: operation.headers, ifMatch: operation.subject.etag)
        for intent in made {
            intents.append((intent, options))
            if case .create(let draft, _) = intent, let entity = builder.entities[draft.number] {
                subjects.append(Subject(entity: entity, role: .new))
            } else {
                subjects.append(
                    Subject(entity: operation.subject, role: operation.savesSubject ? .saved : .named))
            }
        }
    }

    func apply(_ results: [IntentResult], _ factory: EntityFactory) {
        var settled: [ObjectIdentifier: Set<String>] = [:]
        for entity in updated { settled[ObjectIdentifier(entity), default: []].formUnion(entity.markRelationsSaved()) }
        for (result, subject) in zip(results, subjects) {
            for (number, snapshot) in result.entities where number != IntentResult.subject {
                guard let entity = drafts[number] else { continue }
                entity.apply(snapshot, factory, settled: entity.markRelationsSaved())
            }
            apply(result, subject, factory, settled[ObjectIdentifier(subject.entity)] ?? [])
            subject.entity.lastOperation = result.sequence ?? subject.entity.lastOperation
        }
    }

    private func apply(
        _ result: IntentResult, _ subject: Subject, _ factory: EntityFactory,
        _ settled: Set<String>
    ) {
        let snapshot = result.entities[IntentResult.subject]
        switch (subject.role, snapshot) {
        case (.new, _), (.named, nil): break
        case (.saved, let snapshot?): subject.entity.apply(snapshot, factory, settled: settled)
        // The service has saved the changes without returning the entity.
        case (.saved, nil): subject.entity.markValuesSaved(etag: result.etag, settled: settled)
        case (.named, let snapshot?): subject.entity.applyKeepingEdits(snapshot, factory)
        }
    }
}
