import EDM
import OfflineStore

/// The intents of one call, with the objects that receive the results.
struct ModificationCall {
    private(set) var intents: [(intent: Intent, options: IntentOptions)] = []
    private var subjects: [Subject] = []

    /// The object of an intent.
    private struct Subject {
        /// The object; `nil` for a call that is about no entity.
        let entity: EntityValue?
        var role: Role
        /// The call of an action that receives the result.
        var call: ActionInvocation?

        enum Role {
            /// The object is new and represented by a draft.
            case new
            /// All its changes are saved.
            case saved
            /// Only the named link is saved; other changes remain unsaved.
            case named
            /// The entity is deleted.
            case deleted
        }
    }

    /// Entities whose changed relations are all saved by intents, or are already up to date.
    private var updated: [EntityValue] = []
    /// The new entities by draft number.
    private var drafts: [Int: EntityValue] = [:]

    /// Converts the operations. Operations without changes are omitted.
    init(
        _ operations: [ChangeSet.Operation], model: EntityDataModel, provider: any ServiceBackend
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
        let options = try operation.options.intentOptions(
            headers: operation.headers, ifMatch: operation.versioned?.etag)
        for intent in made {
            intents.append((intent, options))
            if case .create(let draft, _) = intent, let entity = builder.entities[draft.number] {
                subjects.append(Subject(entity: entity, role: .new))
            } else {
                var subject = Subject(entity: operation.subject, role: operation.savesSubject ? .saved : .named)
                if case .delete = intent { subject.role = .deleted }
                if case .invoke(let call) = operation.kind { subject.call = call }
                subjects.append(subject)
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
            defer { subject.call?.apply(result, factory) }
            guard let entity = subject.entity else { continue }
            apply(result, subject, entity, factory, settled[ObjectIdentifier(entity)] ?? [])
            entity.lastOperation = result.sequence ?? entity.lastOperation
        }
    }

    private func apply(
        _ result: IntentResult, _ subject: Subject, _ entity: EntityValue, _ factory: EntityFactory,
        _ settled: Set<String>
    ) {
        let snapshot = result.entities[IntentResult.subject]
        entity.isDeleted = subject.role == .deleted
        switch (subject.role, snapshot) {
        case (.new, _), (.named, nil), (.deleted, _): break
        case (.saved, let snapshot?): entity.apply(snapshot, factory, settled: settled)
        // The service has saved the changes without returning the entity.
        case (.saved, nil): entity.markValuesSaved(etag: result.etag, settled: settled)
        case (.named, let snapshot?): entity.applyKeepingEdits(snapshot, factory)
        }
    }
}

extension ActionInvocation {
    /// Takes the operation of a store, or the result of a service.
    fileprivate func apply(_ result: IntentResult, _ factory: EntityFactory) {
        operation = result.sequence
        switch result.returned {
        case nil: break
        case .nothing: self.result = InvocationResult(value: nil, entities: [], name: name)
        case .value(let value): self.result = InvocationResult(value: value, entities: [], name: name)
        case .entities(let snapshots):
            self.result = InvocationResult(
                value: nil, entities: snapshots.compactMap { factory.entity($0) }, name: name)
            let own = boundEntity.flatMap { bound in
                snapshots.first { answer == .boundEntity || $0.readLink == bound.readLink }
            }
            if let own { boundEntity?.applyKeepingEdits(own, factory) }
        }
    }
}
