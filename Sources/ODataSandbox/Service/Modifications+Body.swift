internal import EDM
internal import ODataWire

extension Modifications {
    func requestBody(_ request: WireRequest, _ type: EntityType) throws(SandboxError) -> RequestBody {
        let mediaType = request.headers["Content-Type"]?.split(separator: ";").first.map { $0.lowercased() }
        try view.requireFormat(sent: request)
        guard view.usesAtom || mediaType == "application/json" || request.body.isEmpty else {
            throw SandboxError(
                415, .badRequest, "The sandbox supports only JSON, not \(mediaType ?? "a body without Content-Type").")
        }
        let body: RequestBody
        do {
            body = try RequestBodyReader(version: view.version, model: view.model).entity(request.body, type: type)
        } catch {
            throw SandboxError(error)
        }
        guard body.type == nil || body.type == type.name else {
            throw SandboxError(501, .notImplemented, "The sandbox does not support entities of derived types.")
        }
        return body
    }

    /// Returns the URL in the body of a `$links` or `$ref` request.
    func referenceBody(_ request: WireRequest) throws(SandboxError) -> String {
        try view.requireFormat(sent: request)
        do {
            return try RequestBodyReader(version: view.version, model: view.model).reference(request.body)
        } catch {
            throw SandboxError(error)
        }
    }

    /// Converts the values to the types of the master model.
    func masterValues(_ values: PropertyValues, _ set: EntitySet) throws(SandboxError) -> PropertyValues {
        guard view.isLegacy else { return values }
        var result = PropertyValues()
        for (name, value) in values {
            guard let property = set.entityType.findProperty(name) else {
                throw SandboxError(
                    400, .unknownProperty, "\(set.entityType.localName) has no property \(name).", target: name)
            }
            result[name] = value.converted(to: property.type)
        }
        return result
    }

    /// Returns the navigation property of the master model.
    func navigation(_ name: String, of set: EntitySet) throws(SandboxError) -> Property {
        guard let property = set.entityType.findProperty(name), property.isNavigation else {
            throw SandboxError(
                400, .unknownProperty, "\(set.entityType.localName) has no navigation property \(name).", target: name)
        }
        return property
    }

    func relationship(_ name: String, of set: EntitySet) throws(SandboxError) -> String {
        try navigation(name, of: set).navigation?.relationship.name ?? name
    }

    func media(of request: WireRequest) -> Row.Media {
        Row.Media(contentType: request.headers["Content-Type"] ?? "application/octet-stream", bytes: request.body)
    }

    /// Returns the value for a property named ContentType, which follows the media type of the stream.
    func contentTypeValues(_ set: String, _ request: WireRequest) -> PropertyValues {
        guard view.master.model.findEntitySet(set)?.entityType.findProperty("ContentType") != nil else { return [:] }
        return ["ContentType": .string(media(of: request).contentType)]
    }

    /// Checks `If-Match` for a stream, which has an ETag of its own. The header is optional.
    func requireMediaMatch(_ id: RowID, _ request: WireRequest) throws(SandboxError) {
        try requireMatch(of: base[id]?.media, id, request)
    }

    func requireMatch(of content: Row.Media?, _ id: RowID, _ request: WireRequest) throws(SandboxError) {
        guard let condition = request.headers["If-Match"], let media = content,
            !EntityTag.list(condition, contains: media.etag)
        else { return }
        throw SandboxError(
            412, .preconditionFailed,
            "The stream of \(id.set) was changed: its ETag is \(media.etag), but If-Match is \(condition).")
    }

    /// Checks `If-Match` and `If-None-Match` of a modification.
    ///
    /// ETags are compared with those before the change set: clients cannot know ETags from within it, and an entity
    /// that it has created needs none.
    func requireMatch(_ id: RowID, _ request: WireRequest) throws(SandboxError) {
        if let name = ETagReferences.name(in: request) { return try requireMatch(id, withETagOf: name) }
        guard let row = base[id] else { return }
        let etag = view.etag(of: row)
        if request.headers["If-None-Match"].map({ EntityTag.list($0, contains: etag) }) == true {
            throw SandboxError(412, .preconditionFailed, "\(row.name) exists and If-None-Match excludes it.")
        }
        guard let condition = request.headers["If-Match"] else {
            guard etag != nil else { return }
            throw SandboxError(
                view.isLegacy ? 412 : 428, .preconditionRequired,
                "Changes of \(row.name) require If-Match with its ETag.")
        }
        guard EntityTag.list(condition, contains: etag) else {
            throw SandboxError(
                412, .preconditionFailed,
                "\(row.name) was changed: its ETag is \(etag ?? "none"), but If-Match is \(condition).")
        }
    }
}

extension RequestBody {
    /// The navigation properties that the body sets.
    var navigations: [String] { bindings.map(\.navigation) + inline.map(\.navigation) }
}

extension PropertyValues {
    /// Replaces the key of the entity, if it has one.
    mutating func replaceKey(of type: EntityType) {
        for property in type.keyProperties {
            switch self[property.name] {
            case .string(let text): self[property.name] = .string(text.dropLast() + (text.last == "2" ? "3" : "2"))
            case .integer(let number): self[property.name] = .integer(number &+ 1000)
            case .guid(let guid): self[property.name] = .guid(GuidValue(high: ~guid.high, low: guid.low))
            default: break
            }
        }
    }
}

extension SandboxError {
    init(_ error: PayloadError) {
        let code: Code =
            switch error.code {
            case .unknownProperty: .unknownProperty
            case .typeMismatch, .unknownType: .typeMismatch
            case .malformedJSON, .malformedXML, .tooLarge, .unexpectedShape, .serviceError: .badRequest
            }
        self.init(400, code, "The body cannot be read: \(error)", target: error.path.isEmpty ? nil : error.path)
    }
}

/// Weak comparison of ETags (RFC 9110, section 8.8.3.2).
enum EntityTag {
    /// Returns whether the header's value is `*` or contains the tag. Only `*` matches an entity without a tag.
    static func list(_ text: String, contains etag: String?) -> Bool {
        text.split(separator: ",").map { $0.drop { $0 == " " } }.contains { item in
            var item = item
            while item.last == " " { item.removeLast() }
            return item == "*" || etag.map { opaque(item) == opaque($0[...]) } == true
        }
    }

    private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}

extension ServiceView {
    func etag(of row: Row) -> String? {
        master.configuration.etags.contains(row.id.set) ? "W/\"\(row.version)\"" : nil
    }
}

extension Value {
    /// Returns the value in the type of the other version: in V2 a date is a date and time at midnight.
    func converted(to type: TypeReference) -> Value {
        switch (self, type.primitive) {
        case (.dateTime(let value), .date): .date(value.date)
        case (.date(let date), .dateTime): .dateTime(LocalDateTime(date: date, time: .midnight))
        default: self
        }
    }
}
