package import ODataWire

extension DataModification.Action {
    /// The reference at the beginning of the request's URL.
    package var urlReference: ResourceReference? {
        switch self {
        case .create: nil
        case .createRelated(let owner, _, _): owner
        case .update(let target, _, _), .delete(let target): target
        case .link(let source, _, _), .unlink(let source, _, _): source
        case .invoke(let invocation): invocation.boundReference
        }
    }

    /// The references in the body, or after the first segment of the URL.
    package var bodyReferences: [ResourceReference] {
        switch self {
        case .create(_, let body), .createRelated(_, _, let body), .update(_, let body, _): body.allTargets
        case .delete: []
        case .link(_, _, let target): [target]
        case .unlink(_, _, let target): target.map { [$0] } ?? []
        case .invoke(let invocation): invocation.argumentReferences
        }
    }
}

extension OperationInvocation {
    /// The entity that the URL begins with.
    fileprivate var boundReference: ResourceReference? {
        if case .entity(let reference)? = binding?.resource { reference } else { nil }
    }

    fileprivate var argumentReferences: [ResourceReference] {
        arguments.flatMap { argument -> [ResourceReference] in
            let entities: [Argument.Entity] =
                switch argument.content {
                case .value: []
                case .entity(let entity): [entity]
                case .entities(let entities): entities
                }
            return entities.flatMap { entity in
                switch entity {
                case .reference(let reference, _): [reference]
                case .body(let body): body.allTargets
                }
            }
        }
    }
}

extension EntityBody {
    /// The targets of bindings at all levels.
    fileprivate var allTargets: [ResourceReference] {
        var targets = bindings.flatMap(\.targets)
        for level in inline { for entity in level.entities { targets += entity.allTargets } }
        return targets
    }
}
