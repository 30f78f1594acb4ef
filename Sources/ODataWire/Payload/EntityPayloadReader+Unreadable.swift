internal import EDM

extension EntityPayloadReader {
    /// Returns the description of an unreadable item.
    func unreadable(_ json: JSONValue, _ error: PayloadError, _ declared: EntityType) -> UnreadableEntity {
        let value = Self.value(at: error.path, in: json) ?? json
        var found = UnreadableEntity(error: error, text: UnreadableEntity.shortened(value.text))
        guard let object = json.object else { return found }
        let head = ItemHead(object, valueReader)
        let name = head.type ?? head.context?.type
        let type = name.flatMap(valueReader.model.findEntityType) ?? declared
        // Each member is read separately, because one of them is unreadable.
        let keys = Set(type.keyProperties.map(\.name))
        for member in object.members {
            if type.findProperty(member.name)?.isNavigation == true {
                if !Self.isDeferredLink(member.value) { found.hasExpanded = true }
                continue
            }
            // The failed part may have contained related entities.
            let isError = member.name == "error" && type.findProperty("error") == nil
            if isError || MemberName.saysFailure(member.name) { found.hasExpanded = true }
            let isKey = keys.contains(member.name)
            guard isKey || !MemberName.isPlain(member.name), let part = try? entity(JSONObject([member]), type: type)
            else { continue }
            if isKey { found.entity.values[member.name] = part.values[member.name] }
            found.entity.id = found.entity.id ?? part.id
            found.entity.editLink = found.entity.editLink ?? part.editLink
        }
        // The entity-id of a removed entity of 4.0.
        if head.isRemoved, found.entity.id == nil { found.entity.id = object["id"]?.string }
        found.entity.type = head.type.flatMap(valueReader.model.findEntityType)?.name
        found.entity.set = head.context?.set
        return found
    }

    /// Returns the description of an item with an invalid string.
    ///
    /// Replacement characters stand for the invalid bytes. If an identifying member contains one, the entity is treated
    /// as unidentified.
    func damaged(_ json: JSONValue, _ error: JSONError, _ declared: EntityType) -> UnreadableEntity {
        let path = json.pathToReplacement ?? ""
        var found = unreadable(json, PayloadError(.typeMismatch, error.message, path: path), declared)
        guard let object = json.object else { return found }
        let keys = Set(found.entity.values.names)
        let isIdentified = object.members.allSatisfy { member in
            let isName = keys.contains(member.name) || !MemberName.isPlain(member.name)
            return !isName || member.value.pathToReplacement == nil
        }
        if !isIdentified { found.entity = EntityPayload() }
        return found
    }

    /// Returns the description of an item that is too large.
    func unreadable(_ item: ItemSkipper, _ error: PayloadError, _ declared: EntityType) -> UnreadableEntity {
        var found = unreadable(.object(item.members), error, declared)
        found.text = ""
        if item.hidesMembers { found.hasExpanded = true }
        return found
    }

    private static func isDeferredLink(_ json: JSONValue) -> Bool { json == .null || json["__deferred"] != nil }

    /// Returns the value at the path of an error.
    private static func value(at path: String, in json: JSONValue) -> JSONValue? {
        var value = json
        for step in path.split(separator: "/") {
            if let index = Int(step), let items = value.array ?? value["results"]?.array {
                guard items.indices.contains(index) else { return nil }
                value = items[index]
            } else {
                guard let member = value[String(step)] else { return nil }
                value = member
            }
        }
        return value
    }

    /// Returns why the entity cannot be used although all of its values are readable, or nil.
    func obstacle(in payload: EntityPayload) -> PayloadError? {
        guard let etag = payload.etag, !Self.isTransportable(etag) else { return nil }
        return PayloadError(
            .typeMismatch, "The ETag contains characters that a header cannot contain (RFC 9110, 8.8.3).",
            path: "/@odata.etag")
    }

    /// Returns whether the ETag can be sent in `If-Match`. Control characters would end the header.
    private static func isTransportable(_ etag: String) -> Bool { etag.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}

extension JSONValue {
    /// The path to the first replacement character, or nil if there is none.
    fileprivate var pathToReplacement: String? {
        switch self {
        case .string(let text): return text.unicodeScalars.contains("\u{FFFD}") ? "" : nil
        case .array(let items):
            for (index, item) in items.enumerated() {
                if let path = item.pathToReplacement { return "/\(index)\(path)" }
            }
            return nil
        case .object(let object):
            for member in object.members {
                if let path = member.value.pathToReplacement { return "/\(member.name)\(path)" }
            }
            return nil
        case .null, .boolean, .number: return nil
        }
    }
}
