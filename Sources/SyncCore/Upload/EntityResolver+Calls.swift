import EDM
package import ODataWire
package import Operations

/// The reason why the metadata permit no request for a call.
package struct UnsupportedCall: Error, Sendable {
    /// The reason as a sentence.
    package let reason: String
    /// The element that the metadata lack, if this is the reason.
    package var missing: String?
    package var code = InvocationError.Code.unknownOperation
}

private enum CallFailure: Error {
    case state(StateError)
    case misfit(UnsupportedCall)
}

/// Calls of actions in protocol terms.
extension EntityResolver {
    /// Returns the call as an invocation of the overload that the metadata have for it, without its references.
    ///
    /// - Returns: The invocation, in which each entity is an empty URL, or the reason why there is none.
    package func invocation(
        _ call: ActionCall, in operation: Operation
    ) throws(StateError) -> Result<OperationInvocation, UnsupportedCall> {
        try invocation(call, in: operation) { _ in .url("") }
    }

    /// Returns the call as an invocation of the overload that the metadata have for it.
    ///
    /// - Parameter reference: Returns the reference to an entity.
    package func invocation(
        _ call: ActionCall, in operation: Operation, reference: (EntityID) throws(StateError) -> ResourceReference
    ) throws(StateError) -> Result<OperationInvocation, UnsupportedCall> {
        let target: CallTarget?
        do throws(CallFailure) {
            target = try call.binding.map { binding throws(CallFailure) in try self.target(binding, in: operation) }
        } catch {
            switch error {
            case .state(let error): throw error
            case .misfit(let misfit): return .failure(misfit)
            }
        }
        let found: InvokedOperation
        do throws(InvocationError) {
            found = try model.invokedOperation(
                call.name, on: target?.type, parameters: call.arguments.map(\.name))
        } catch {
            return .failure(UnsupportedCall(reason: error.message, missing: "action \(call.name)", code: error.code))
        }
        guard found.mayChangeSomething else {
            return .failure(
                UnsupportedCall(
                    reason: "\(call.name) is a function, whose result only the service has.", code: .unsupported)
            )
        }
        var invocation = OperationInvocation(found)
        if let target {
            let resource: OperationInvocation.Binding.Resource
            switch target.resource {
            case .entity(let id): resource = .entity(try reference(id))
            case .set(let set): resource = .set(set)
            }
            invocation.binding = .init(
                resource, property: target.property, cast: target.cast(of: found, in: model), set: target.set)
        }
        for argument in call.arguments {
            guard let content = try content(argument.content, operation, reference) else {
                return .failure(
                    UnsupportedCall(
                        reason: "The parameter \(argument.name) of \(call.name) has an entity of an unknown type.",
                        missing: "entity type of \(argument.name)", code: .value))
            }
            invocation.arguments.append(.init(argument.name, content))
        }
        do throws(InvocationError) {
            try invocation.check(in: model)
        } catch {
            return .failure(UnsupportedCall(reason: error.message, code: error.code))
        }
        return .success(invocation)
    }

    // MARK: Binding

    private func target(
        _ binding: ActionCall.Binding, in operation: Operation
    ) throws(CallFailure) -> CallTarget {
        func fail(_ reason: String, _ missing: String) -> CallFailure {
            .misfit(UnsupportedCall(reason: reason, missing: missing))
        }
        switch binding {
        case .entity(let id):
            let (type, set) = try place(of: id, operation)
            guard let type else {
                throw fail("The type of entity \(id) is not in the metadata.", "type of entity \(id)")
            }
            return CallTarget(
                type: TypeReference(.entity(name: type.name)), resource: .entity(id), set: set,
                declared: set?.entityType.name)
        case .property(let name, of: let id):
            let (type, set) = try place(of: id, operation)
            guard let type, let property = type.findProperty(name) else {
                throw fail("\(type?.name ?? "The entity") has no property \(name).", "property \(name)")
            }
            let bound =
                property.navigation.map {
                    TypeReference(.entity(name: $0.targetType), isCollection: property.isCollection)
                } ?? property.type
            return CallTarget(
                type: bound, resource: .entity(id), property: property,
                set: property.isNavigation ? set.flatMap { model.target(of: property, in: $0) } : nil)
        case .set(let name, let only):
            guard let set = model.findEntitySet(name) else {
                throw fail("There is no entity set \(name).", "entity set \(name)")
            }
            return CallTarget(
                type: TypeReference(.entity(name: only ?? set.entityType.name), isCollection: !set.isSingleton),
                resource: .set(set), set: set, declared: set.entityType.name)
        }
    }

    private func place(
        of id: EntityID, _ operation: Operation
    ) throws(CallFailure) -> (type: EntityType?, set: EntitySet?) {
        do throws(StateError) {
            return (try entityType(of: id, in: operation), try set(of: id).flatMap { model.findEntitySet($0) })
        } catch {
            throw .state(error)
        }
    }

    // MARK: Arguments

    private func content(
        _ content: ActionCall.ArgumentValue, _ operation: Operation,
        _ reference: (EntityID) throws(StateError) -> ResourceReference
    ) throws(StateError) -> OperationInvocation.Argument.ArgumentValue? {
        switch content {
        case .value(let value): return .value(value)
        case .entity(let entity): return try argument(entity, operation, reference).map { .entity($0) }
        case .entities(let entities):
            var found: [OperationInvocation.Argument.Entity] = []
            for entity in entities {
                guard let argument = try argument(entity, operation, reference) else { return nil }
                found.append(argument)
            }
            return .entities(found)
        }
    }

    private func argument(
        _ entity: ActionCall.Entity, _ operation: Operation,
        _ reference: (EntityID) throws(StateError) -> ResourceReference
    ) throws(StateError) -> OperationInvocation.Argument.Entity? {
        switch entity {
        case .reference(let id):
            guard let type = try entityType(of: id, in: operation) else { return nil }
            return .reference(try reference(id), type)
        case .content(let type, let values):
            return model.findEntityType(type).map { .body(EntityBody(type: $0, values: values)) }
        }
    }
}

/// The binding parameter of a call.
private struct CallTarget {
    enum Resource {
        case entity(EntityID)
        case set(EntitySet)
    }

    let type: TypeReference
    let resource: Resource
    var property: Property?
    var set: EntitySet?
    /// The declared type of the resource that the URL addresses, or nil if unknown.
    var declared: String?

    /// Returns the type cast that the URL needs for an action of a derived type.
    func cast(of operation: InvokedOperation, in model: EntityDataModel) -> String? {
        operation.bindingType.flatMap { bound in
            declared.flatMap { model.isType($0, derivedFrom: bound.name) ? nil : bound.name }
        }
    }
}
