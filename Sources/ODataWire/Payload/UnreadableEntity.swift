package import EDM

/// An item of a collection that is well-formed JSON and no entity of the collection's type: a value that its property cannot
/// have, or a type that does not fit. Or an item that is too large to be looked at.
public struct UnreadableEntity: Sendable, Hashable {
    /// Why, and where below the item.
    public var error: PayloadError
    /// What identifies the entity as far as it can be read: key, links, type and set.
    public var entity: EntityPayload
    /// The value that cannot be read, as JSON, shortened to ``textLimit``; empty for what is too large.
    public var text: String
    /// Whether the item holds other entities, which nobody looked at.
    public var hasExpanded: Bool

    /// In Unicode scalars.
    public static let textLimit = 200

    public init(error: PayloadError, entity: EntityPayload = EntityPayload(), text: String, hasExpanded: Bool = false) {
        self.error = error
        self.entity = entity
        self.text = text
        self.hasExpanded = hasExpanded
    }
}

extension PayloadReader {
    /// What can be said of an item that cannot be read.
    func unreadable(_ json: JSONValue, _ error: PayloadError, _ declared: EntityType) -> UnreadableEntity {
        let value = Self.value(at: error.path, in: json) ?? json
        var found = UnreadableEntity(error: error, text: UnreadableEntity.shortened(value.text))
        guard let object = json.object else { return found }
        let head = ItemHead(object, self)
        let name = head.type ?? head.context?.type
        let type = name.flatMap(model.findEntityType) ?? declared
        // Each member for itself: one of them is the one that cannot be read.
        let keys = Set(type.keyProperties.map(\.name))
        for member in object.members {
            if type.findProperty(member.name)?.isNavigation == true {
                if !Self.isDeferredLink(member.value) { found.hasExpanded = true }
                continue
            }
            // What it would have shown below it may be among what failed.
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
        found.entity.type = head.type.flatMap(model.findEntityType)?.name
        found.entity.set = head.context?.set
        return found
    }

    /// An item with a string that is no text. Replacement characters stand in it for what no character stands for, so that
    /// nothing identifies the entity that has any.
    func damaged(_ json: JSONValue, _ error: JSONError, _ declared: EntityType) -> UnreadableEntity {
        let path = Self.path(toReplacementIn: json) ?? ""
        var found = unreadable(json, PayloadError(.typeMismatch, error.message, path: path), declared)
        guard let object = json.object else { return found }
        let keys = Set(found.entity.values.names)
        let isIdentified = object.members.allSatisfy { member in
            let isName = keys.contains(member.name) || !MemberName.isPlain(member.name)
            return !isName || Self.path(toReplacementIn: member.value) == nil
        }
        if !isIdentified { found.entity = EntityPayload() }
        return found
    }

    private static func path(toReplacementIn json: JSONValue) -> String? {
        switch json {
        case .string(let text): return text.unicodeScalars.contains("\u{FFFD}") ? "" : nil
        case .array(let items):
            for (index, item) in items.enumerated() {
                if let path = path(toReplacementIn: item) { return "/\(index)\(path)" }
            }
            return nil
        case .object(let object):
            for member in object.members {
                if let path = path(toReplacementIn: member.value) { return "/\(member.name)\(path)" }
            }
            return nil
        case .null, .boolean, .number: return nil
        }
    }

    /// What can be said of an item that is too large.
    ///
    func unreadable(_ item: ItemSkimmer, _ error: PayloadError, _ declared: EntityType) -> UnreadableEntity {
        var found = unreadable(.object(item.members), error, declared)
        found.text = ""
        if item.hidesMembers { found.hasExpanded = true }
        return found
    }

    /// The same of an entity that is a document of its own, of which only the beginning was received.
    package func unreadable(beginning bytes: [UInt8], _ declared: EntityType) -> UnreadableEntity {
        var skimmer = ItemSkimmer(limits)
        _ = try? skimmer.pass(bytes, from: 0)
        let error = PayloadError(
            .tooLarge, "The entity is too large to be read. It has more than \(limits.itemSize) bytes.")
        var found = unreadable(skimmer, error, declared)
        // What follows was not looked at.
        found.hasExpanded = true
        return found
    }

    private static func isDeferredLink(_ json: JSONValue) -> Bool { json == .null || json["__deferred"] != nil }

    /// The value at the path of an error.
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

    /// Why the entity cannot be taken although all its values can be read; nil where it can.
    func obstacle(in payload: EntityPayload) -> PayloadError? {
        guard let etag = payload.etag, !Self.isTransportable(etag) else { return nil }
        return PayloadError(
            .typeMismatch, "The ETag holds characters that no header can (RFC 9110, 8.8.3).", path: "/@odata.etag")
    }

    /// An ETag comes back in `If-Match`, and control characters would end the header.
    private static func isTransportable(_ etag: String) -> Bool { etag.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}

extension UnreadableEntity {
    /// The beginning of a text, as long as is kept of it.
    public static func shortened(_ text: String) -> String {
        let head = text.unicodeScalars.prefix(textLimit)
        return String(String.UnicodeScalarView(head)) + (head.endIndex < text.endIndex ? "…" : "")
    }
}
