import EDM
import ODataWire
import OfflineStore

extension IntentBuilder {
    /// Returns the intent of a call, checked against the metadata.
    mutating func intent(_ call: ActionInvocation) throws(TidelogError) -> Intent {
        let target = try call.binding.map { given throws(TidelogError) in try ResolvedBinding(given, in: model) }
        let operation: InvokedOperation
        do throws(InvocationError) {
            operation = try model.invokedOperation(
                call.name, on: target?.type, parameters: call.arguments.pairs.map(\.name))
        } catch {
            throw TidelogError(error)
        }
        guard operation.mayChangeSomething else {
            throw TidelogError(
                .unsupported, "\(operation.name) is a function, whose result only the service has.",
                recovery: "Call it online with invoke(_:on:_:).")
        }
        var draft = ActionDraft(operation, answer: call.answer == .boundEntity ? .boundEntity : .byKey)
        if let target { draft.binding = try binding(target, of: operation) }
        for (name, argument) in call.arguments.pairs {
            guard let parameter = operation.parameters.first(where: { $0.name == name }) else { continue }
            draft.arguments.append(.init(name, try argument.drafted(for: parameter, by: self)))
        }
        do throws(InvocationError) {
            try draft.invocation({ _ in .url("") }).check(in: model)
        } catch {
            throw TidelogError(error)
        }
        draft.effect = try effect(call.effect, of: operation)
        return .invoke(draft)
    }

    private func binding(
        _ target: ResolvedBinding, of operation: InvokedOperation
    ) throws(TidelogError) -> ActionDraft.Binding {
        let resource: ActionDraft.Binding.Resource
        switch (target.binding, target.set) {
        case (.entity(let entity), _), (.property(_, let entity), _): resource = .entity(try address(of: entity))
        case (.set(_, let only), let set?): resource = .set(set, type: only?.name)
        case (.set(let name, _), nil):
            throw TidelogError(.refused(.unknownEntitySet), "There is no entity set \(name).")
        }
        return ActionDraft.Binding(
            resource, property: target.property, cast: target.cast(of: operation, in: model), set: target.set)
    }

    private mutating func effect(
        _ effect: ActionEffect, of operation: InvokedOperation
    ) throws(TidelogError) -> ActionDraft.Effect {
        switch effect {
        case .none: return .none
        case .delete(let entity): return .delete(try address(of: entity))
        case .update(let entity):
            if let name = entity.related.changed.first?.name {
                throw TidelogError(
                    .unsupported,
                    "The declared effect of \(operation.name) changes \(name), but it may only set properties and bind entities.",
                    recovery: "Use bindEntity(_:to:), or save the relation in a change set.")
            }
            let address = try address(of: entity)
            return .update(address, changes: entity.changedValues, bindings: try bindings(entity.bindings))
        }
    }
}
