import EDM
public import ODataWire
import OfflineStore
public import Operations

/// The expected effect of a queued action on the store, visible until the service has answered.
public enum ActionEffect {
    /// No change of the store.
    case none
    /// The changed properties and the bindings of an entity, which need not be the one that the action is called on.
    case update(EntityValue)
    /// The deletion of an entity.
    case delete(EntityValue)
}

/// The meaning of an entity that a queued action returns.
public enum ActionAnswer: Sendable {
    /// The entity with the returned key.
    case byKey
    /// The entity that the action is called on, which may have a new key: an activated draft.
    case boundEntity
}

/// A call of an action in a change set or in the queue of a store.
public final class ActionInvocation {
    let name: String
    let binding: InvocationBinding?
    let arguments: InvocationArguments
    let effect: ActionEffect
    let answer: ActionAnswer

    /// The result of an action that the service has carried out; `nil` before, and always for a call that a store has
    /// queued.
    ///
    /// If the action returns a collection, contains its first page only.
    public internal(set) var result: InvocationResult?
    /// The sequence number of the call in the queue of the store; `nil` before the call is queued, and always online.
    public internal(set) var operation: SequenceNumber?

    init(
        _ name: String, on binding: InvocationBinding?, _ arguments: InvocationArguments, effect: ActionEffect,
        answer: ActionAnswer
    ) {
        self.name = name
        self.binding = binding
        self.arguments = arguments
        self.effect = effect
        self.answer = answer
    }

    /// The entity that the action is called on.
    var boundEntity: EntityValue? {
        if case .entity(let entity)? = binding { entity } else { nil }
    }

    /// The entity of the declared effect, or the bound entity if no effect is declared.
    var subject: EntityValue? {
        switch effect {
        case .update(let entity), .delete(let entity): entity
        case .none: boundEntity
        }
    }

    /// All entities to which the call refers.
    var entities: [EntityValue] {
        var named = [subject, boundEntity].compactMap { $0 }
        if case .property(_, let owner)? = binding { named.append(owner) }
        return named + arguments.pairs.flatMap(\.argument.entities)
    }
}

extension DataService {
    /// Calls an action of the service with the next upload; online, at once.
    ///
    /// The call is checked like that of ``invoke(_:on:_:query:headers:)``, and then logged as an operation: it can be
    /// undone, is sent in the order of the queue, waits for entities that it refers to, and takes effect exactly once.
    /// The store shows the declared effect until the service has answered.
    ///
    /// - Parameters:
    ///   - name: the name of an action import, in V2 of a function import with another method than GET, or the
    ///     qualified or unqualified name of a bound action.
    ///   - binding: the binding parameter; `nil` for an import.
    ///   - arguments: the values of the parameters.
    ///   - effect: the expected change of the store. A service ignores it.
    ///   - answer: the meaning of an entity that the action returns.
    ///   - headers: additional headers of the request.
    ///   - options: options of the operation.
    /// - Returns: The call; online, it contains the result.
    /// - Throws: `invalidRequest` if there is no such action for the binding, or if an argument does not fit its
    ///   parameter; `refused` if an entity of the call is not in the store. Online, the errors of
    ///   ``DataService/invoke(_:on:_:query:headers:)``.
    @discardableResult
    public func queueAction(
        _ name: String, on binding: InvocationBinding? = nil, _ arguments: InvocationArguments = [:],
        effect: ActionEffect = .none, answer: ActionAnswer = .byKey, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) -> ActionInvocation {
        let call = ActionInvocation(name, on: binding, arguments, effect: effect, answer: answer)
        try await perform(ChangeSet.Operation(.invoke(call), headers, options))
        return call
    }
}

extension ChangeSet {
    /// Records the call of an action; see ``DataService/queueAction(_:on:_:effect:answer:headers:options:)``.
    ///
    /// The action can be called on an entity that an earlier modification of this change set creates. Such an entity
    /// cannot be an argument.
    ///
    /// - Returns: The call, which contains the result after the change set was applied online.
    @discardableResult
    public func invoke(
        _ name: String, on binding: InvocationBinding? = nil, _ arguments: InvocationArguments = [:],
        effect: ActionEffect = .none, answer: ActionAnswer = .byKey, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) -> ActionInvocation {
        let call = ActionInvocation(name, on: binding, arguments, effect: effect, answer: answer)
        append(Operation(.invoke(call), headers, options))
        return call
    }
}
