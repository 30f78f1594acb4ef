import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncCore
import SyncEngine

/// Rewrites modifications for a service with reduced capabilities.
///
/// A modification without an equivalent form is refused before it is sent: online, an app can reach the same effect
/// by other calls.
struct OnlineRewriter {
    let session: ServiceSession
    let model: EntityDataModel
    let options: ServiceOptions
    let encoder: RequestEncoder

    /// - Parameter earlier: the earlier modifications of the same change set, already rewritten.
    func adapted(
        _ modification: DataModification, after earlier: [DataModification] = []
    ) async throws(TidelogError) -> DataModification {
        // The body consists of bytes.
        guard modification.stream == nil else { return modification }
        var modification = modification
        switch modification.action {
        case .create(let set, let body): modification.action = .create(in: set, try unbound(body))
        case .createRelated(let owner, let navigation, let body):
            modification.action = .createRelated(in: owner, navigation: navigation, try unbound(body))
        case .update(let target, let body, _) where !options.supportsPatch:
            let (replacement, etag) = try await replacement(target, body, after: earlier)
            modification.action = .update(target, try unbound(replacement), replaces: true)
            // Do not overwrite changes that other clients make between the read and the replacement.
            if modification.ifMatch == nil { modification.ifMatch = etag }
        case .update(let target, let body, let replaces):
            modification.action = .update(target, try unbound(body), replaces: replaces)
        case .delete, .link, .unlink, .invoke: break
        }
        let action = modification.action
        if options.contentIDReferences == .none, action.urlReference?.isBelowContentID == true {
            throw unsupported(
                "The service does not support references to entities that the same change set creates (OData 4.01 Part 1, section 11.7.4; MS-ODATA 2.2.7.6.1.1), and separate requests would not take effect together."
            )
        }
        if [.none, .urlsOnly].contains(options.contentIDReferences),
            action.bodyReferences.contains(where: \.isBelowContentID)
        {
            throw unsupported(
                "The service does not support references in a body to entities that the same change set creates (V4 leaves them open, OData 4.01 Part 1, section 11.7.4; V2 forbids them, MS-ODATA 2.2.7.6.1.1), and separate requests would not take effect together."
            )
        }
        return modification
    }

    /// Replaces bindings by dependent properties if the service does not support bindings in bodies.
    private func unbound(_ body: EntityBody) throws(TidelogError) -> EntityBody {
        guard !options.supportsBind else { return body }
        var body = body
        for binding in body.bindings {
            guard let pairs = binding.navigation.navigation?.constraints, !pairs.isEmpty, binding.targets.count <= 1,
                let key = try binding.targets.first.map({ r throws(TidelogError) in try self.key(of: r) }) ?? .some([:])
            else {
                throw unsupported(
                    "The service does not support links in a body (OData 4.01 Part 1, section 11.4.2.1; MS-ODATA 2.2.7.1.1), and no dependent property stands for \(binding.navigation.name)."
                )
            }
            for pair in pairs { body.values[pair.dependent] = key.value(at: pair.principal) ?? .null }
        }
        body.bindings = []
        for (index, inline) in body.inline.enumerated() {
            for (place, entity) in inline.entities.enumerated() {
                body.inline[index].entities[place] = try unbound(entity)
            }
        }
        return body
    }

    /// Returns the key properties, or `nil` if the reference does not contain them.
    private func key(of reference: ResourceReference) throws(TidelogError) -> PropertyValues? {
        switch reference {
        case .entity(let set, let key): return key.properties(of: set.entityType)
        case .contained(_, let navigation, let key):
            let type = (navigation.navigation?.targetType).flatMap(model.findEntityType)
            return key?.properties(of: type)
        case .cast(let entity, _): return try key(of: entity)
        case .contentID: return nil
        case .url(let url):
            guard
                let request = try? ServiceRequest.parse(
                    url, serviceRoot: session.root, model: model, version: model.version),
                case .key(.key(let key))? = request.path.segments.last
            else { return nil }
            return key.properties(of: nil)
        }
    }

    /// Returns all writable properties as the service has them with the changes applied, and the ETag.
    private func replacement(
        _ target: ResourceReference, _ body: EntityBody, after earlier: [DataModification]
    ) async throws(TidelogError) -> (body: EntityBody, etag: String?) {
        if target.isBelowContentID {
            throw unsupported(
                "The service has no PATCH (OData 4.01 Part 1, section 11.4.3; MS-ODATA 2.2.7.3.1), and an entity that the same change set creates cannot be read."
            )
        }
        if let name = body.type.unusableProperties.min() {
            throw unsupported(
                "The service has no PATCH (OData 4.01 Part 1, section 11.4.3; MS-ODATA 2.2.7.3.1), and a PUT would reset "
                    + "\(name), whose declaration in the metadata cannot be used.")
        }
        let held = try await standing(target, body.type, after: earlier)
        var values: PropertyValues = [:]
        let keys = Set(body.type.keyProperties.map(\.name))
        for value in held.values {
            guard let property = body.type.findProperty(value.name) else {
                values[value.name] = value.value
                continue
            }
            if property.isWritable || keys.contains(property.name) { values[value.name] = value.value }
        }
        values.merge(body.values)
        for pair in body.bindings.flatMap({ $0.navigation.navigation?.constraints ?? [] }) {
            values[pair.dependent] = nil
        }
        var body = body
        body.values = values
        return (body, held.etag)
    }

    /// Returns the values of the entity after the earlier requests of the change set. The ETag after these requests
    /// is unknown.
    private func standing(
        _ target: ResourceReference, _ type: EntityType, after earlier: [DataModification]
    ) async throws(TidelogError) -> (values: PropertyValues, etag: String?) {
        for modification in earlier.reversed() {
            guard case .update(target, let body, _) = modification.action else { continue }
            return (body.values, modification.ifMatch == nil ? nil : "*")
        }
        let url = encoder.url(of: target)
        let response = try await session.get(url, headers: encoder.headers)
        try response.requireSuccess("GET", url)
        let held: EntityPayload
        do throws(PayloadError) {
            held = try PayloadReader(version: model.version, model: model, limits: session.limits.reading).entity(
                response.body, type: type)
        } catch {
            throw TidelogError(.notOData, "The response is not an entity: \(error)", place: "GET \(url)", cause: error)
        }
        let etag = held.etag ?? response.headers["ETag"]
        let isLinked = earlier.contains {
            $0.action.urlReference == target || $0.action.bodyReferences.contains(target)
        }
        return (held.values, etag != nil && isLinked ? "*" : etag)
    }

    private func unsupported(_ message: String) -> TidelogError {
        TidelogError(
            .unsupported, message, recovery: "Create the entity first, and link or bind it in another call.")
    }
}
