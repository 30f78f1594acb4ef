import EDM
package import ODataWire
package import Operations
import SyncCore
import Views

/// A past that goes on with records of another one: all, some, or some that were changed.
extension LocalStore {
    /// Appends records, which come into effect together, as they were made.
    ///
    /// Operations are checked by the rules that the app's calls are: the members of a change set together. Where one is
    /// refused, none is appended.
    /// - Throws: `refused` with the rule.
    @discardableResult
    package func replay(_ records: [Record]) throws(TidelogError) -> ClosedRange<SequenceNumber> {
        try transaction { () throws -> ClosedRange<SequenceNumber> in
            _ = self.takeTouched()
            var hasOperations = false
            for record in records {
                if case .operation(let operation) = record.body {
                    try OperationRules(storage: self.state, model: try self.model).check(operation)
                    hasOperations = true
                }
                try self.add(record)
            }
            try self.settle()
            if hasOperations, let index = self.fold.index {
                try CardinalityRule(storage: self.state, index: index).check(self.takeTouched())
            }
            return try self.commit()
        }
    }

    /// Gives new entities IDs from this one on.
    package func reserveEntities(below first: EntityID) throws(TidelogError) {
        try transaction { () throws -> Void in
            var header = try self.state.header()
            guard header.nextEntity < first else { return }
            header.nextEntity = first
            try self.state.setHeader(header)
        }
    }

    /// The lowest ID that no entity has.
    package var nextEntity: EntityID {
        get throws(TidelogError) { try read { try $0.header().nextEntity } }
    }

    /// Whether the operation has not ended.
    package func isPending(_ operation: SequenceNumber) throws(TidelogError) -> Bool {
        try read { try $0.pendingOperation(operation) != nil }
    }

    /// Whether the operation was undone.
    package func isUndone(_ operation: SequenceNumber) throws(TidelogError) -> Bool {
        try read { try $0.undoneOperation(operation) != nil }
    }

    /// The operations that have not ended, and those that were undone.
    package var pendingOrUndone: Set<SequenceNumber> {
        get throws(TidelogError) {
            try read { state in
                Set(try state.pendingOperations().map(\.sequence)).union(try state.undoneOperations().map(\.sequence))
            }
        }
    }

    /// What would come of the operation, and of those in one change set with it, had the service answered otherwise: the
    /// same code decides that decides it behind a real answer.
    ///
    /// - Parameter response: the answer to the operation; to others in its change set the service says nothing more than that
    ///   they were carried out.
    /// - Returns: empty where the operation is in no open batch.
    package func outcomes(
        of operation: SequenceNumber, in batch: BatchID, answered response: WireResponse
    ) throws(TidelogError) -> [BatchAnswered.Outcome] {
        let (model, options, root) = (try model, try serviceOptions, try service?.root ?? "")
        return try read { state throws in
            guard let open = try state.openBatch(batch),
                let place = open.prepared.changeSets.firstIndex(where: { $0.contains { $0.operation == operation } })
            else { return [] }
            let plan = try SentPlan(storage: state, model: model, options: options).plan(of: open.prepared, [place])
            let requests = BatchEncoder(model: model, serviceRoot: root, options: options).requests(of: plan)
            let members = plan.changeSets.first?.requests ?? []
            let outcome: ChangeSetOutcome
            if response.isSuccess {
                outcome = .members(
                    members.map {
                        $0.operation == operation || $0.carries.contains(operation)
                            ? response : WireResponse(status: 204)
                    })
            } else {
                outcome = .failed(response, culprit: members.first { $0.operation == operation }?.contentID)
            }
            var reconciler = try Reconciler(storage: state, model: model, serviceRoot: root, options: options)
            return try reconciler.outcomes(of: plan, requests: requests, [outcome])
        }
    }

    /// What went over the line for a batch, in a past that ends in front of the record that says it was prepared.
    package func rebuilt(_ prepared: BatchPrepared) throws(TidelogError) -> RebuiltBatch {
        let (model, options, root) = (try model, try serviceOptions, try service?.root ?? "")
        return try read { try RebuiltBatch(prepared, on: $0, model, serviceRoot: root, options: options) }
    }
}
