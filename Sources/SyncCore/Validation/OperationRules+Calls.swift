import EDM
import ODataWire
import Operations

extension OperationRules {
    /// Checks a call of an action: its binding, its arguments, and the form of its declared effect.
    func checkCall(_ operation: Operation) throws(ValidationError) {
        guard let call = operation.call else {
            guard operation.subject != .unbound else {
                throw .refused(.init(.entityNotFound, "The operation is about no entity."))
            }
            return
        }
        guard operation.delivery != .localOnly else {
            throw .refused(
                .init(
                    .notAllowed, "\(call.name) takes effect on the service only, so the call cannot be local only.",
                    recovery: "Change the entity for this store only, without the call."))
        }
        for entity in operation.referencedEntities { _ = try existing(entity) }
        switch operation.action {
        case .delete: break
        case .update(let entity, let changes, let bindings):
            guard entity != .unbound || changes.isEmpty && bindings.isEmpty else {
                throw .refused(.init(.entityNotFound, "The declared effect of \(call.name) is about no entity."))
            }
        case .create, .createLink, .updateLink, .deleteLink:
            throw .refused(
                .init(.notAllowed, "The declared effect of \(call.name) is neither an update nor a deletion."))
        }
        if call.answer == .boundEntity { try checkAnswer(call) }
        let found = try read { storage throws(StateError) in
            try EntityResolver(storage: storage, model: model).invocation(call, in: operation)
        }
        if case .failure(let misfit) = found {
            throw .refused(.init(misfit.code == .value ? .typeMismatch : .notAllowed, misfit.reason))
        }
    }

    private func checkAnswer(_ call: ActionCall) throws(ValidationError) {
        guard case .entity = call.binding else {
            throw .refused(
                .init(
                    .notAllowed, "\(call.name) is not called on an entity, so its answer cannot be that entity.",
                    recovery: "Leave out the answer."))
        }
    }
}
