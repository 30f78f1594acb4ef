import EDM
import ODataWire
import Operations

extension Operation {
    /// The entities that a call is about: the bound one, and that of the declared effect. Empty for other operations.
    var called: [EntityID] {
        guard let call else { return [] }
        let own = subject == .unbound ? [] : [subject]
        return own + (call.boundEntity.map { own == [$0] ? [] : [$0] } ?? [])
    }
}

extension RequestPlanner {
    /// Adds the request of a call. The declared effect has no request.
    mutating func add(_ call: ActionCall, _ pending: PendingOperation) throws(StateError) {
        let arguments = Set(call.argumentEntities)
        let planner = self
        let found = try resolver.invocation(call, in: pending.operation) { id throws(StateError) in
            // Only the beginning of a URL can refer to what the change set creates.
            guard arguments.contains(id), id != call.boundEntity, planner.contentIDs[id] != nil else {
                return try planner.reference(id)
            }
            throw StateError(
                .unsendable, "entity \(id), an argument of \(call.name), gets its key in the same change set")
        }
        switch found {
        case .failure(let misfit): throw StateError(.unsendable, misfit.reason)
        case .success(let invocation):
            var etag: String?
            if case .entity(let id)? = call.binding { etag = try self.etag(id) }
            add(.invoke(invocation), pending, ifMatch: etag)
        }
        didChange(pending.operation.referencedEntities)
    }
}
