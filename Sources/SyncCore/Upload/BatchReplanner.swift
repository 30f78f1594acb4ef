package import EDM
package import ODataWire
package import Operations

/// Plans a logged batch once more, on the state that it was planned on, so that an inspection can show its bytes.
package struct BatchReplanner {
    private let resolver: EntityResolver<WorkingSet>
    private let options: ServiceOptions

    /// - Parameter options: The service's capabilities that the batch was planned with.
    package init(storage: WorkingSet, model: EntityDataModel, options: ServiceOptions) {
        resolver = EntityResolver(storage: storage, model: model)
        self.options = options
    }

    /// Returns the plan of a batch whose operations are all pending.
    ///
    /// - Throws: `unsendable` if the current version plans the operations differently.
    package func plan(of prepared: BatchPrepared) throws(StateError) -> UploadPlan {
        var plan = UploadPlan()
        plan.coalesces = prepared.coalesces
        var standing: [EntityID: PropertyValues] = [:]
        for changeSet in prepared.changeSets {
            plan.changeSets.append(try self.changeSet(changeSet, prepared, &standing))
        }
        return plan
    }

    /// - Parameter standing: The values after the earlier change sets; see ``RequestPlanner/standing``.
    private func changeSet(
        _ logged: [BatchPrepared.Request], _ prepared: BatchPrepared, _ standing: inout [EntityID: PropertyValues]
    ) throws(StateError) -> PlannedChangeSet {
        var operations: [PendingOperation] = []
        for sequence in Set(logged.map(\.operation)).sorted() {
            if let pending = try resolver.storage.pendingOperation(sequence) { operations.append(pending) }
        }
        // A log of a version without effects does not contain the scope either.
        let scopes: [Coalescing.Scope] =
            prepared.hasEffects ? [prepared.coalesces ? .everything : .refused] : [.refused, .everything]
        for scope in scopes {
            var after = standing
            let planned = try planned(
                operations, scope, firstContentID: logged.first.flatMap { Int($0.contentID) } ?? 1, &after)
            if let planned, Self.hasSameRequests(planned, logged) {
                standing = after
                return planned
            }
        }
        throw StateError(.unsendable, "this version plans the operations differently")
    }

    private static func hasSameRequests(_ planned: PlannedChangeSet, _ logged: [BatchPrepared.Request]) -> Bool {
        let requests = UploadPlan(changeSets: [planned]).prepared(as: 0).changeSets[0]
        return requests.count == logged.count
            && zip(requests, logged).allSatisfy { $0.contentID == $1.contentID && $0.operation == $1.operation }
    }

    /// Returns nil if the operations cannot be sent with these options.
    private func planned(
        _ operations: [PendingOperation], _ scope: Coalescing.Scope, firstContentID first: Int,
        _ standing: inout [EntityID: PropertyValues]
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
        planner.standing = standing
        defer { standing = planner.standing }
        let coalesced = units.reduce(into: [:]) { $0.merge($1.carried) { $0 + $1 } }
        do throws(StateError) {
            return try planner.changeSet(
                form.operations, carrying: form.carried.adding(coalesced, to: form.operations),
                references: form.references)
        } catch {
            // Without a request, or with names that the metadata no longer have. Any other error is one of the storage.
            guard error.code == .unsendable || error.code == .noModel else { throw error }
            return nil
        }
    }
}
