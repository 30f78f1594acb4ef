internal import EDM
internal import ODataWire

extension WireResponse {
    /// Distorts a page with a successful status. Responses in a batch are distorted there.
    ///
    /// - Parameter path: The path of the page below the service root.
    mutating func distortPage(_ distortion: Fault.PayloadCorruption, path: Substring, _ model: EntityDataModel) {
        guard status == 200 else { return }
        switch distortion {
        case .inStreamError: failInStream()
        case .keyless, .badValue:
            guard let set = model.findEntitySet(String(path)), !set.isSingleton,
                let page = try? JSONValue.parse(body)
            else { return }
            let keys = Set(set.entityType.keyProperties.map(\.name))
            let distorted = page.mappingFirstItem { item in
                distortion == .keyless ? item.withoutKey(keys) : item.withBadValue(keys)
            }
            body = Array(distorted.text.utf8)
        default: break
        }
    }
}

extension JSONValue {
    /// Returns the page with its first entity changed, which is an item of `value`, of `d`, or of its `results`.
    fileprivate func mappingFirstItem(_ change: (JSONObject) -> JSONObject) -> JSONValue {
        switch self {
        case .array(var items):
            guard let index = items.firstIndex(where: \.isWholeEntity), let item = items[index].object else {
                return self
            }
            items[index] = .object(change(item))
            return .array(items)
        case .object(var object):
            for index in object.members.indices where ["value", "d", "results"].contains(object.members[index].name) {
                object.members[index].value = object.members[index].value.mappingFirstItem(change)
            }
            return .object(object)
        default: return self
        }
    }

    /// Whether this is an entity, as opposed to a removed entity or a link.
    private var isWholeEntity: Bool {
        guard let object else { return false }
        return !object.contains("@removed") && !object.contains("@odata.context")
    }
}

extension JSONObject {
    fileprivate func withoutKey(_ keys: Set<String>) -> JSONObject {
        let links: Set<String> = ["@odata.id", "@odata.editLink", "@odata.readLink", "__metadata", "@id", "@editLink"]
        return JSONObject(members.filter { !keys.contains($0.name) && !links.contains($0.name) })
    }

    fileprivate func withBadValue(_ keys: Set<String>) -> JSONObject {
        var changed = self
        let place = members.firstIndex { member in
            guard !keys.contains(member.name), !member.name.contains("@"), member.name != "__metadata" else {
                return false
            }
            switch member.value {
            case .string, .number, .boolean: return true
            case .null, .array, .object: return false
            }
        }
        if let place { changed.members[place].value = .object(JSONObject([.init(name: "bad", value: .boolean(true))])) }
        return changed
    }
}
