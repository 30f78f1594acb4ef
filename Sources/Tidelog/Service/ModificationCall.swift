import EDM
import OfflineStore
import SyncCore

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
    /// The new entities in the order of their draft numbers, which start at 1.
    private var drafts: [EntityValue] = []

    /// Converts the operations. Operations without changes are omitted.
    init(
        _ operations: [ChangeSet.Operation], model: EntityDataModel, provider: any ServiceBackend
    ) throws(TidelogError) {
        var builder = IntentBuilder(model: model, provider: provider, count: operations.count)
        intents.reserveCapacity(operations.count)
        subjects.reserveCapacity(operations.count)
        // Removals first: an entity that moves to another owner is unlinked before it is linked, in whichever order
        // the owners are saved.
        for operation in operations where operation.isFlat {
            guard case .update(let entity) = operation.kind else { continue }
            updated.append(entity)
            for removal in try builder.removals(entity, onlyLinked: true) { try add(removal, operation, builder) }
        }
        for operation in operations {
            let intent = try builder.intent(operation)
            guard case .update(let entity) = operation.kind, !operation.isFlat else {
                if let intent { try add(intent, operation, builder) }
                continue
            }
            updated.append(entity)
            // Removals first: a newly linked target may have been the target of a removed link.
            let removals = try builder.removals(entity, onlyLinked: operations.count == 1)
            let additions = try builder.additions(entity, onlyMissing: operations.count == 1)
            for intent in removals + [intent].compactMap({ $0 }) + additions { try add(intent, operation, builder) }
        }
        drafts = builder.entities
    }

    private mutating func add(
        _ intent: Intent, _ operation: ChangeSet.Operation, _ builder: borrowing IntentBuilder
    ) throws(TidelogError) {
        var options = try operation.options.intentOptions(
            headers: operation.headers, ifMatch: operation.versioned?.etag)
        if case .update(_, let changes, _, _) = intent, changes.containsComplexValue, let entity = operation.subject {
            options.formerValues = entity.savedValues
        }
        if let type = operation.source?.entityType, type.baseType != nil { options.sourceType = type.name }
        intents.append((intent, options))
        if let number = intent.createdDraft {
            subjects.append(Subject(entity: builder.entities[number - 1], role: .new))
        } else {
            var subject = Subject(entity: operation.subject, role: operation.savesSubject ? .saved : .named)
            if case .delete = intent { subject.role = .deleted }
            if case .invoke(let call) = operation.kind { subject.call = call }
            subjects.append(subject)
        }
    }

    func apply(_ results: consuming [IntentResult], _ factory: EntityFactory) {
        var settled: [ObjectIdentifier: [KnownRelation]] = [:]
        var objects = EntityObjects(factory)
        for entity in updated { settled[ObjectIdentifier(entity), default: []] += entity.markRelationsSaved() }
        for place in 0..<min(results.count, subjects.count) {
            for index in results[place].entities.all.indices {
                let number = results[place].entities.all[index].number
                guard number != IntentResult.subject, drafts.indices.contains(number - 1) else { continue }
                let entity = drafts[number - 1]
                let settled = entity.markRelationsSaved()
                objects.update(entity, moving: &results[place].entities.all[index].snapshot, settled: settled)
            }
            apply(&results[place], subjects[place], factory, settled)
        }
    }

    /// Updates the objects of an intent.
    ///
    /// - Parameter result: The result of the intent. It is not changed: `inout` avoids a copy.
    private func apply(
        _ result: inout IntentResult, _ subject: Subject, _ factory: EntityFactory,
        _ settled: [ObjectIdentifier: [KnownRelation]]
    ) {
        defer { subject.call?.apply(result, factory) }
        guard let entity = subject.entity else { return }
        entity.lastOperation = result.sequence ?? entity.lastOperation
        entity.isDeleted = subject.role == .deleted
        switch subject.role {
        case .new, .deleted: break
        case .saved:
            let settled = settled[ObjectIdentifier(entity)] ?? []
            if let snapshot = result.entities[IntentResult.subject] {
                entity.apply(snapshot, factory, settled: settled)
            } else {
                // The service has saved the changes without returning the entity.
                entity.markValuesSaved(etag: result.etag, settled: settled)
            }
        case .named:
            if let snapshot = result.entities[IntentResult.subject] { entity.applyKeepingEdits(snapshot, factory) }
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
                value: nil, entities: factory.entities(snapshots), name: name)
            let own = boundEntity.flatMap { bound in
                snapshots.first { answer == .boundEntity || $0.readLink == bound.readLink }
            }
            if let own { boundEntity?.applyKeepingEdits(own, factory) }
        }
    }
}
