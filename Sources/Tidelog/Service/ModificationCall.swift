import EDM
import ODataWire
import SyncEngine

/// What an app asked for in one call, as intents, with the objects that take over the results.
struct ModificationCall {
    let intents: [(intent: Intent, options: IntentOptions)]
    private let model: EntityDataModel
    private let subjects: [EntityValue]
    /// New entities by the number of their draft.
    private let drafts: [Int: EntityValue]

    /// Operations that change nothing are left out.
    init(_ operations: [ChangeSet.Operation], model: EntityDataModel) throws(TidelogError) {
        var builder = IntentBuilder(model: model)
        var intents: [(intent: Intent, options: IntentOptions)] = []
        var subjects: [EntityValue] = []
        for operation in operations {
            let made = try builder.intents(operation)
            guard !made.isEmpty else { continue }
            let options = try operation.options.intentOptions(
                headers: operation.headers, ifMatch: operation.subject.etag)
            for intent in made {
                intents.append((intent, options))
                subjects.append(operation.subject)
            }
        }
        self.intents = intents
        self.subjects = subjects
        self.model = model
        drafts = builder.entities
    }

    func apply(_ results: [IntentResult], _ factory: EntityFactory) {
        for (result, subject) in zip(results, subjects) {
            for (number, snapshot) in result.entities {
                if number == IntentResult.subject {
                    subject.settleRelations()
                    subject.apply(snapshot, factory)
                } else if let entity = drafts[number] {
                    entity.settleRelations()
                    entity.apply(snapshot, factory)
                }
            }
            subject.lastOperation = result.sequence ?? subject.lastOperation
        }
    }
}
