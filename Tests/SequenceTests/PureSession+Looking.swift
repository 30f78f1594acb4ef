import EDM
import ODataSandbox
import ODataQuery
import ODataWire
import Operations
import SyncCore

/// Shorthand for reading the state.
extension PureSession {
    struct Missing: Error {
        let what: String
    }

    /// Returns the only entity of the set with these values.
    func entity(_ set: String, _ values: PropertyValues) throws -> EntityID {
        let found = try state.findRows(set: set, where: values.map { (property: $0.name, value: $0.value) })
        guard found.count == 1 else { throw Missing(what: "\(found.count) entities of \(set) with \(values)") }
        return found[0]
    }

    func targets(_ id: EntityID, _ navigation: String) throws -> [EntityID] {
        guard let row = try state.row(id), let type = model.findEntityType(row.type),
            let end = type.findProperty(navigation)?.navigation
        else { throw Missing(what: "\(id)/\(navigation)") }
        return try state.targets(of: id, along: end)
    }

    private var names: EntityNames<WorkingSet> { EntityNames(storage: state, model: model, serviceRoot: root) }

    func readLink(_ id: EntityID) throws -> String { try state.row(id).map(names.readLink) ?? "" }

    /// Returns the entity that a link resolves to, as a store resolves it.
    func entity(at link: String) throws -> EntityID? {
        if let id = try names.entity(named: link) { return id }
        let request = try ServiceRequest.parse(link, model: model, version: model.version)
        guard case .entitySet(let set)? = request.path.segments.first, request.path.segments.count == 2,
            case .key(let selector) = request.path.segments[1]
        else { throw Missing(what: link) }
        switch selector {
        case .entityID(let number): return EntityID(rawValue: number)
        case .key(let key): return try names.entity(set: set.name, key: key)
        }
    }
}

extension Sandbox {
    /// Carries out a request of another client, in V4.
    mutating func change(_ method: String, _ url: String, _ body: String) {
        _ = handle(
            WireRequest(
                method: method, url: "/v4/" + url, headers: ["If-Match": "*", "Content-Type": "application/json"],
                body: Array(body.utf8)))
    }
}
