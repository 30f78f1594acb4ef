public import EDM
public import ODataWire
public import Operations

/// Reconstructs the plan of a sent batch, so that a late response can be interpreted, even after a restart.
///
/// The log contains the requests; the plan adds the entities that each one creates and the operations that it performs.
/// The operations are still pending, so the state is the one they were planned on, except for later reads.
public struct PlanReconstruction<Storage: StateReader> {
    private let resolver: EntityResolver<Storage>
    private let options: ServiceOptions

    public init(storage: Storage, model: EntityDataModel, options: ServiceOptions) {
        resolver = EntityResolver(storage: storage, model: model)
        self.options = options
    }

    /// Returns the change sets at these positions. All of their operations are still pending.
    public func plan(of prepared: BatchPrepared, _ places: [Int]) throws(StateError) -> UploadPlan {
        var plan = UploadPlan()
        for place in places {
            plan.changeSets.append(try changeSet(prepared.changeSets[place]))
        }
        return plan
    }

    private func changeSet(_ sent: [BatchPrepared.Request]) throws(StateError) -> PlannedChangeSet {
        var operations: [PendingOperation] = []
        for sequence in Set(sent.map(\.operation)).sorted() {
            if let pending = try resolver.storage.pendingOperation(sequence) { operations.append(pending) }
        }
        if let planned = try planned(operations, as: sent) { return planned }
        // The options have changed, or this version of the code plans differently.
        return PlannedChangeSet(requests: try requests(sent))
    }

    /// Returns the change set as planned now, or nil if its requests differ from the sent ones.
    private func planned(
        _ operations: [PendingOperation], as sent: [BatchPrepared.Request]
    ) throws(StateError) -> PlannedChangeSet? {
        guard let first = sent.first.flatMap({ Int($0.contentID) }) else { return nil }
        // Whether the upload coalesced operations is not logged, but the requests show it.
        for scope in [Coalescing<Storage>.Scope.refused, .everything] {
            let planned = try planned(operations, scope, firstContentID: first)
            if let planned, UploadPlan(changeSets: [planned]).prepared(as: 0).changeSets == [sent] { return planned }
        }
        return nil
    }

    private func planned(
        _ operations: [PendingOperation], _ scope: Coalescing<Storage>.Scope, firstContentID first: Int
    ) throws(StateError) -> PlannedChangeSet? {
        var tracker = LinkTracker(resolver)
        var coalescing = Coalescing(resolver, scope: scope) { _ in true }
        let units = try coalescing.coalesced(try QueueWalk.units(of: operations, resolver, &tracker))
        var forms = UnitRewriteCache(resolver: resolver, options: options)
        for unit in units {
            if try forms.obstacle(in: unit.operations) != nil { return nil }
        }
        let form = forms.sendable(units.flatMap(\.operations).sorted { $0.sequence < $1.sequence })
        var planner = RequestPlanner(resolver: resolver, options: options, firstContentID: first)
        let coalesced = units.reduce(into: [:]) { $0.merge($1.carried) { $0 + $1 } }
        return try? planner.changeSet(
            form.operations, carrying: form.carried.adding(coalesced, to: form.operations),
            references: form.references)
    }

    /// Returns the requests as far as the operations alone determine them. The keys of nested new entities are then
    /// found by reading.
    private func requests(_ sent: [BatchPrepared.Request]) throws(StateError) -> [PlannedRequest] {
        var requests: [PlannedRequest] = []
        for request in sent {
            if requests.last?.contentID == request.contentID {
                requests[requests.count - 1].carries.append(request.operation)
                continue
            }
            let operation = try resolver.storage.pendingOperation(request.operation)?.operation
            guard let operation else { continue }
            let isAlone = sent.filter { $0.operation == request.operation }.count == 1
            var planned =
                PlannedRequest(
                    contentID: request.contentID, operation: request.operation,
                    modification: try modification(operation, isAlone: isAlone),
                    creates: isAlone ? operation.createdEntities.first : nil)
            planned.called = operation.called
            requests.append(planned)
        }
        return requests
    }

    private func modification(_ operation: Operation, isAlone: Bool) throws(StateError) -> DataModification {
        if let call = operation.call {
            if case .success(let invocation) = try resolver.invocation(call, in: operation) {
                return DataModification(.invoke(invocation))
            }
            // The metadata no longer have the action, so that its answer cannot be interpreted. No entity is created.
            if let set = resolver.model.entitySets.first {
                return DataModification(.create(in: set, EntityBody(type: set.entityType, values: [:])))
            }
        }
        if isAlone, case .create(let creation, _) = operation.action,
            let set = resolver.model.findEntitySet(creation.set),
            let type = resolver.model.findEntityType(creation.type)
        {
            return DataModification(.create(in: set, EntityBody(type: type, values: creation.values)))
        }
        if isAlone, case .update(let entity, let changes, _) = operation.action,
            let row = try resolver.anyRow(entity), let type = resolver.model.findEntityType(row.type)
        {
            return DataModification(.update(.url(""), EntityBody(type: type, values: changes), replaces: false))
        }
        return DataModification(.delete(.url("")))
    }
}
