internal import EDM

/// Reads entities with everything inside of them, and items of collections and deltas.
struct EntityPayloadReader: Sendable {
    var valueReader: PropertyValueReader
    /// Whether an unreadable entity in a collection is returned as ``DeltaItem/unreadable(_:)``.
    var setsAside = false

    /// Reads an entity's members. `type` is the declared type; the payload may contain a type derived from it.
    func entity(_ object: JSONObject, type: EntityType) throws(PayloadError) -> EntityPayload {
        var payload = EntityPayload()
        var names = PropertyTypes()
        for member in object.members where !MemberName.isPlain(member.name) {
            guard member.value == .null || !MemberName.saysFailure(member.name) else {
                throw Self.failure(member.value).below(member.name)
            }
            switch MemberName(member.name, version: valueReader.family) {
            case .control(let control, let target):
                do { try takeControl(control, target, member.value, &payload, &names) } catch {
                    throw error.below(member.name)
                }
            case .annotation where MemberName.isContentID(member.name): payload.contentID = member.value.string
            case .annotation, .property: break
            }
        }
        if let name = payload.type, !valueReader.model.isType(name, derivedFrom: type.name),
            valueReader.model.findEntityType(name) != nil
        {
            throw PayloadError(.unknownType, "Expected an entity of type \(type.name), not \(name).")
        }
        // An unknown name may be a type of a newer schema: the members that the declared type has are readable.
        let actual = payload.type.flatMap(valueReader.model.findEntityType) ?? type
        for member in object.members {
            let isPlain = MemberName.isPlain(member.name)
            do {
                switch isPlain ? .property(member.name[...]) : MemberName(member.name, version: valueReader.family) {
                case .property: try takeProperty(member.name, member.value, actual, names, &payload)
                case .control("delta", of: let navigation) where !navigation.isEmpty:
                    try takeDelta(String(navigation), member.value, actual, names, &payload)
                case .control, .annotation: break
                }
            } catch { throw error.below(member.name) }
        }
        takeBareNextLinks(names, actual, &payload)
        try SyndicationMapping.take(object, actual, valueReader, &payload)
        return payload
    }

    /// Returns the error for a part of the response that the service failed to return.
    private static func failure(_ value: JSONValue) -> PayloadError {
        let message = ServiceErrorReader.read(value)?.message ?? ""
        return PayloadError(
            .typeMismatch,
            "The service reports that it could not return this entity\(message.isEmpty ? "" : ": \(message)").")
    }

    /// Annotations of the properties of the same object.
    struct PropertyTypes {
        var types: [String: String] = [:]
        var nextLinks: [String: String] = [:]
        /// The links to the remaining changes, by property.
        var deltaNextLinks: [String: String] = [:]
    }

    private func takeControl(
        _ control: String, _ target: Substring, _ value: JSONValue, _ payload: inout EntityPayload,
        _ names: inout PropertyTypes
    ) throws(PayloadError) {
        guard target.isEmpty else {
            if control == "type" { names.types[String(target)] = value.string.map(valueReader.typeName) }
            if control == "nextLink" { try takeNextLink(of: target, value, &names) }
            payload.takeStream(control, String(target), value)
            return
        }
        switch control {
        case "id": payload.id = value.string
        case "type": payload.type = value.string.map(valueReader.typeName)
        case "etag": payload.etag = value.string
        case "readLink": payload.readLink = value.string
        case "editLink": payload.editLink = value.string
        case "mediaReadLink": payload.mediaReadLink = value.string
        case "mediaEditLink": payload.mediaEditLink = value.string
        case "mediaContentType": payload.mediaContentType = value.string
        case "mediaEtag": payload.mediaETag = value.string
        case "__metadata": takeMetadata(value, &payload)
        default: break
        }
    }

    /// Adds a next link. Throws if the value is not a string, because the collection would seem complete.
    private func takeNextLink(
        of target: Substring, _ value: JSONValue, _ names: inout PropertyTypes
    ) throws(PayloadError) {
        guard value != .null else { return }
        guard let link = value.string else {
            throw PayloadError(.typeMismatch, "Expected a link, not \(value.kindName).")
        }
        if case .control("delta", of: let property) = MemberName(String(target), version: valueReader.family) {
            names.deltaNextLinks[String(property)] = link
        } else {
            names.nextLinks[String(target)] = link
        }
    }

    /// Reads `__metadata` of V2. Its `uri` is the URL; `id`, which only some services write, is the entity-id.
    private func takeMetadata(_ value: JSONValue, _ payload: inout EntityPayload) {
        let uri = value["uri"]?.string
        payload.id = value["id"]?.string ?? uri
        payload.editLink = uri
        payload.type = value["type"]?.string.map(valueReader.typeName)
        payload.etag = value["etag"]?.string
        payload.mediaReadLink = value["media_src"]?.string
        payload.mediaEditLink = value["edit_media"]?.string
        payload.mediaContentType = value["content_type"]?.string
        payload.mediaETag = value["media_etag"]?.string
    }

    private func takeProperty(
        _ name: String, _ json: JSONValue, _ type: EntityType, _ names: PropertyTypes, _ payload: inout EntityPayload
    ) throws(PayloadError) {
        guard let property = type.findProperty(name) else {
            if type.isOpen(to: name) {
                payload.values[name] = try valueReader.dynamicValue(json, typeName: names.types[name])
            } else if name == "error", json["code"] != nil || json["message"] != nil {
                throw Self.failure(json)
            } else if !Self.isDeferred(json) {
                payload.ignored.append(name)
            }
            return
        }
        if property.isNavigation {
            try takeNavigation(property, json, names, &payload)
        } else if property.type.primitive != .stream {
            payload.values[name] = try valueReader.value(json, type: property.type, typeName: names.types[name])
        }
    }

    private static func isDeferred(_ json: JSONValue) -> Bool {
        json["__deferred"] != nil || json["__mediaresource"] != nil
    }
}

extension EntityPayload {
    /// Adds an annotation of a stream property.
    fileprivate mutating func takeStream(_ control: String, _ property: String, _ value: JSONValue) {
        let member: WritableKeyPath<NamedStream, String?>
        switch control {
        case "mediaReadLink": member = \.readLink
        case "mediaEditLink": member = \.editLink
        case "mediaEtag": member = \.etag
        default: return
        }
        let place = namedStreams.firstIndex { $0.property == property } ?? namedStreams.endIndex
        if place == namedStreams.endIndex { namedStreams.append(NamedStream(property: property)) }
        namedStreams[place][keyPath: member] = value.string
    }
}
