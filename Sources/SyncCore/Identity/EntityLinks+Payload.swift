import EDM
import ODataQuery
import ODataWire

/// The identity of an entity in a payload apart from the key: the entity-id and the editLink.
extension EntityLinks {
    /// Returns the payload with the key from its links, or nil if it does not lack the key or its links have none.
    func keyed(_ payload: EntityPayload, _ type: EntityType, _ set: EntitySet) -> EntityPayload? {
        guard payload.editLink != nil || payload.id != nil, !set.isSingleton,
            KeyPredicate(of: type, in: payload.values) == nil,
            let key = [payload.editLink, payload.id].lazy.compactMap({ $0 }).compactMap({ key(in: $0, of: set) })
                .first
        else { return nil }
        var payload = payload
        for (path, value) in key.located(in: type) where payload.values.value(at: path) == nil {
            payload.values.set(value, at: path)
        }
        return payload
    }

    /// Returns the payload with a URL as entity-id, if the entity-id is only the value of the key. Dynamics 365 reports
    /// removed entities so.
    func withURL(_ payload: EntityPayload, in set: EntitySet) -> EntityPayload {
        guard let value = payload.id, !set.isContained, !set.isSingleton,
            !value.utf8.contains(where: "/(:?#'".utf8.contains), let key = key(in: "\(set.segment)/\(value)", of: set)
        else { return payload }
        var payload = payload
        payload.id = url(of: key, in: set)
        return payload
    }

    /// Returns the service's name of the entity, if it does not follow from the key. The editLink is used only if there
    /// is no entity-id, because it may differ in each response.
    func name(_ payload: EntityPayload, _ type: EntityType, _ set: EntitySet) -> String? {
        unconventional(payload.id ?? payload.editLink, payload, type, set)
    }

    /// Returns the URL for requests, if it does not follow from the key. Query options of the service's own belong to
    /// it.
    func editLink(_ payload: EntityPayload, _ type: EntityType, _ set: EntitySet) -> String? {
        if let link = payload.editLink, !set.isSingleton, Self.hasCustomOptions(link) { return relative(link) }
        return unconventional(payload.editLink, payload, type, set)
    }

    /// Returns whether the URL has query options, and none of them describes a read, such as `$select`.
    private static func hasCustomOptions(_ url: String) -> Bool {
        guard let start = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return false }
        let options = url[start...].dropFirst()
        return !options.isEmpty && !options.contains("$") && !options.contains("%24")
    }

    private func unconventional(
        _ link: String?, _ payload: EntityPayload, _ type: EntityType, _ set: EntitySet
    ) -> String? {
        guard let link, !set.isSingleton else { return nil }
        if set.isContainedSingle, containmentPath(in: link)?.set == set { return nil }
        if let key = KeyPredicate(of: type, in: payload.values), isConventional(link, set, key) { return nil }
        return relative(link)
    }
}
