import EDM
import ODataWire
import Operations
import SyncCore

/// The role of the service in planner tests: carries out each change set and assigns keys.
extension TestStore {
    /// - Parameter change: Sets further options.
    func plan(
        retrying: Set<SequenceNumber> = [], _ change: (inout UploadPlanner.Options) -> Void
    ) throws -> UploadPlan {
        var options = UploadPlanner.Options(service: service)
        change(&options)
        return try UploadPlanner(storage: state, model: model, options: options).plan(retrying: retrying)
    }

    /// Returns the requests of a plan as method, URL and body.
    func requests(_ plan: UploadPlan) -> [String] {
        let encoder = RequestEncoder(version: model.version, model: model, serviceRoot: "http://s/")
        return plan.changeSets.flatMap(\.requests).map {
            let wire = encoder.encode($0.modification)
            return "\(wire.method) \(wire.url) \(String(decoding: wire.body, as: UTF8.self))"
        }
    }

    func plan(
        limit: Int = 500, retrying: Set<SequenceNumber> = [], unreadable: Set<EntityID> = []
    ) throws -> UploadPlan {
        try UploadPlanner(storage: state, model: model, options: .init(requestLimit: limit, service: service)).plan(
            retrying: retrying, unreadable: unreadable)
    }

    /// Returns the operations of each change set.
    func groups(_ plan: UploadPlan) -> [[SequenceNumber]] {
        plan.changeSets.map(\.operations)
    }

    func prepare(_ plan: UploadPlan) throws -> BatchID {
        let batch = try state.header().nextBatch
        try add(.batchPrepared(plan.prepared(as: batch)))
        return batch
    }

    /// Applies the responses of a service that carries out all operations except `refusing`. A change set with a
    /// refused operation fails as a whole.
    func answer(_ plan: UploadPlan, refusing: Set<SequenceNumber> = [], etags: Bool = false) throws {
        let batch = try prepare(plan)
        var outcomes: [BatchAnswered.Outcome] = []
        for changeSet in plan.changeSets {
            let operations = changeSet.operations
            let refused = operations.first { refusing.contains($0) }
            var images: [SequenceNumber: [EntityImage]] = [:]
            for operation in Set(operations).sorted() {
                for id in try state.pendingOperation(operation)?.operation.createdEntities ?? [] {
                    let type = try model.findEntitySet(state.set(of: id)!)!.entityType
                    nextKey += 1
                    let key = type.keyProperties[0].name
                    // A key that the app assigned is kept.
                    let value = try state.row(id)?.values[key] ?? .integer(nextKey)
                    images[operation, default: []].append(
                        EntityImage(
                            entity: id, set: try state.set(of: id)!, type: type.name,
                            values: [key: value], etag: etags ? "W/\"\(nextKey)\"" : nil))
                }
            }
            var seen: Set<SequenceNumber> = []
            for operation in operations where seen.insert(operation).inserted {
                let result: BatchAnswered.Result =
                    refused == nil
                    ? .confirmed(images: images[operation] ?? [])
                    : operation == refused
                        ? .rejected(Refusal(status: 400, code: "No", message: "no", method: "POST", url: "x"))
                        : .notProcessed
                outcomes.append(.init(operation: operation, result: result))
            }
        }
        try add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
    }
}

extension TestStore {
    /// Plans the pending operations, applies an outcome of the only change set, and folds the result.
    ///
    /// - Parameter change: A change of the store between the request and the response.
    @discardableResult
    func answer(
        _ outcome: ChangeSetOutcome, doubtful: Set<SequenceNumber> = [], after change: () throws -> Void = {}
    ) throws -> [BatchAnswered.Outcome] {
        let plan = try self.plan()
        let root = TestModel.service.root
        let encoder = RequestEncoder(version: model.version, model: model, serviceRoot: root)
        let batch = try prepare(plan)
        let sent = UploadedBatch(plan, number: batch) { encoder.encode($0.modification) }
        try change()
        var reconciler = try Reconciler(storage: state, model: model, serviceRoot: root, doubtful: doubtful)
        let outcomes = try reconciler.outcomes(of: sent.answered([outcome]))
        try add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
        return outcomes
    }
}

extension PlannedRequest {
    /// The references to entities in the request.
    var references: [ResourceReference] {
        switch modification.action {
        case .create(_, let body): body.references
        case .createRelated(let owner, _, let body): [owner] + body.references
        case .update(let target, let body, _): [target] + body.references
        case .delete(let target): [target]
        case .link(let from, _, let to): [from, to]
        case .unlink(let from, _, let to): [from] + (to.map { [$0] } ?? [])
        case .invoke(let invocation):
            if case .entity(let reference)? = invocation.binding?.resource { [reference] } else { [] }
        }
    }
}

extension EntityBody {
    var references: [ResourceReference] {
        bindings.flatMap(\.targets) + inline.flatMap { $0.entities.flatMap(\.references) }
    }
}
