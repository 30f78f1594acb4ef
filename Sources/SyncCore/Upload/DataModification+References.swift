package import ODataWire

extension DataModification.Action {
    /// The references at the beginning of the request's URL.
    package var urlReferences: [ResourceReference] {
        switch self {
        case .create: []
        case .createRelated(let owner, _, _): [owner]
        case .update(let target, _, _), .delete(let target): [target]
        case .link(let source, _, _), .unlink(let source, _, _): [source]
        }
    }

    /// The references in the body, or after the first segment of the URL.
    package var bodyReferences: [ResourceReference] {
        switch self {
        case .create(_, let body), .createRelated(_, _, let body), .update(_, let body, _): body.allTargets
        case .delete: []
        case .link(_, _, let target): [target]
        case .unlink(_, _, let target): target.map { [$0] } ?? []
        }
    }
}

extension EntityBody {
    /// The targets of bindings at all levels.
    fileprivate var allTargets: [ResourceReference] {
        bindings.flatMap(\.targets) + inline.flatMap { $0.entities.flatMap(\.allTargets) }
    }
}
