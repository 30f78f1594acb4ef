package import EDM

/// The content of the body of a create or an update.
package struct RequestBody: Sendable, Hashable {
    /// The qualified type name, if the body contains one.
    package var type: String?
    package var values: PropertyValues
    /// URLs of existing entities by navigation property, as the client wrote them. Empty if the link is to be removed.
    package var bindings: [Binding]
    /// Entities to create along with this one, by navigation property.
    package var inline: [Inline]
    /// The identifier by which the client finds the entity in the response (`@Core.ContentID`).
    package var contentID: String?

    package struct Binding: Sendable, Hashable {
        package var navigation: String
        package var urls: [String]
    }

    package struct Inline: Sendable, Hashable {
        package var navigation: String
        package var entities: [RequestBody]
    }

    init() {
        values = [:]
        bindings = []
        inline = []
    }
}

/// Reads the bodies that clients send: the inverse of ``RequestEncoder``.
package struct RequestBodyReader: Sendable {
    package let version: ODataVersion
    package let model: EntityDataModel
    private var reader: PayloadReader

    package init(version: ODataVersion, model: EntityDataModel) {
        self.version = version
        self.model = model
        reader = PayloadReader(version: version, model: model)
    }

    /// Reads the body of a POST, PUT, PATCH or MERGE request for an entity of `type`.
    ///
    /// A property that a closed type does not declare is an error. Null and nested navigation properties are accepted
    /// in the forms of all versions.
    package func entity(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> RequestBody {
        if let atom = forMarkup(bytes) { return try atom.entity(bytes, type: type) }
        // A request reports no error of the service, so that a property may have the name `error`.
        let document = try reader.document(bytes) { _, _ in true }
        let json = type.findProperty("d") == nil ? reader.unwrapped(document) : document
        guard let object = json.object else {
            throw PayloadError(.unexpectedShape, "The body is \(json.kindName), not an entity.")
        }
        return try entity(object, type: type)
    }

    /// Returns a reader for Atom, if the body is XML and this reader is not one already.
    private func forMarkup(_ bytes: [UInt8]) -> RequestBodyReader? {
        guard reader.markup == nil, version.isLegacy, XMLText.begins(bytes) else { return nil }
        var copy = self
        copy.reader.markup = AtomConverter(isRequest: true)
        return copy
    }

    /// Reads the URL in the body of a request to `$links` or `$ref`.
    package func reference(_ bytes: [UInt8]) throws(PayloadError) -> String {
        if let atom = forMarkup(bytes) { return try atom.reference(bytes) }
        let json = reader.unwrapped(try reader.document(bytes))
        guard let url = PayloadReader.url(of: json) else {
            throw PayloadError(
                .unexpectedShape,
                version.isLegacy ? "The body has no member \"uri\"." : "The body has no member \"@odata.id\".")
        }
        return url
    }

    func entity(_ object: JSONObject, type declared: EntityType) throws(PayloadError) -> RequestBody {
        var body = RequestBody()
        var types: [String: String] = [:]
        for member in object.members {
            switch MemberName(member.name, version: reader.entities.valueReader.family) {
            case .control("type", of: ""): body.type = member.value.string.map(reader.entities.valueReader.typeName)
            case .control("__metadata", of: ""):
                body.type = member.value["type"]?.string.map(reader.entities.valueReader.typeName)
            case .control("type", of: let target):
                types[String(target)] = member.value.string.map(reader.entities.valueReader.typeName)
            case .control("bind", of: let target):
                do { try takeBinding(String(target), member.value, &body) } catch { throw error.below(member.name) }
            case .annotation where MemberName.isContentID(member.name): body.contentID = member.value.string
            default: break
            }
        }
        if let name = body.type, !model.isType(name, derivedFrom: declared.name) {
            throw PayloadError(.unknownType, "The body is of type \(name), not of \(declared.name).")
        }
        let type = body.type.flatMap(model.findEntityType) ?? declared
        for binding in body.bindings where type.findProperty(binding.navigation)?.isNavigation != true {
            throw PayloadError(
                .unknownProperty, "\(binding.navigation) is not a navigation property of \(type.name).",
                path: "/\(binding.navigation)@odata.bind")
        }
        for member in object.members {
            guard case .property(let name) = MemberName(member.name, version: reader.entities.valueReader.family) else {
                continue
            }
            do {
                try takeProperty(String(name), member.value, type, types, &body)
            } catch { throw error.below(member.name) }
        }
        return body
    }

    private func takeBinding(_ name: String, _ json: JSONValue, _ body: inout RequestBody) throws(PayloadError) {
        switch json {
        case .null: body.bindings.append(.init(navigation: name, urls: []))
        case .string(let url): body.bindings.append(.init(navigation: name, urls: [url]))
        case .array(let items):
            let urls = items.compactMap(\.string)
            guard urls.count == items.count else {
                throw PayloadError(.typeMismatch, "An item is not a string that contains a URL.")
            }
            body.bindings.append(.init(navigation: name, urls: urls))
        default: throw PayloadError(.typeMismatch, "Expected a URL or an array of URLs, not \(json.kindName).")
        }
    }

    private func takeProperty(
        _ name: String, _ json: JSONValue, _ type: EntityType, _ types: [String: String], _ body: inout RequestBody
    ) throws(PayloadError) {
        guard let property = type.findProperty(name) else {
            guard type.isOpen(to: name) else {
                throw PayloadError(.unknownProperty, "\(type.name) has no property \(name).")
            }
            body.values[name] = try reader.entities.valueReader.dynamicValue(json, typeName: types[name])
            return
        }
        if property.isNavigation {
            try takeNavigation(property, json, &body)
        } else {
            body.values[name] = try reader.entities.valueReader.value(
                json, type: property.type, typeName: types[name])
        }
    }

    /// Reads a navigation property's value: references to existing entities, new entities, or both.
    private func takeNavigation(
        _ property: Property, _ json: JSONValue, _ body: inout RequestBody
    ) throws(PayloadError) {
        guard let targetName = property.navigation?.targetType, let target = model.findEntityType(targetName) else {
            throw PayloadError(.unknownType, "The target type of \(property.name) is unknown.")
        }
        var items: [JSONValue]
        switch json {
        case .null: items = []
        case .array(let array): items = array
        default: items = (version.isLegacy ? json["results"]?.array : nil) ?? [json]
        }
        if json.array == nil, property.isCollection, version.isLegacy == false, json != .null {
            throw PayloadError(.typeMismatch, "\(property.name) is a collection and requires an array.")
        }
        if !property.isCollection, items.count > 1 {
            throw PayloadError(.typeMismatch, "\(property.name) accepts at most one entity.")
        }
        // A deferred link contains only the URL of the entities and not their content.
        items.removeAll { $0["__deferred"] != nil }
        if items.isEmpty {
            if json == .null { body.bindings.append(.init(navigation: property.name, urls: [])) }
            return
        }
        var urls: [String] = []
        var entities: [RequestBody] = []
        for (index, item) in items.enumerated() {
            guard let object = item.object else {
                throw PayloadError(.typeMismatch, "Expected an entity, not \(item.kindName).", path: "/\(index)")
            }
            if let url = boundURL(object) {
                urls.append(url)
            } else {
                do { entities.append(try entity(object, type: target)) } catch {
                    throw json.array == nil ? error : error.below(index)
                }
            }
        }
        if !urls.isEmpty { body.bindings.append(.init(navigation: property.name, urls: urls)) }
        if !entities.isEmpty { body.inline.append(.init(navigation: property.name, entities: entities)) }
    }

    /// Returns the URL of an object that only refers to an entity: it has a URL and no property.
    func boundURL(_ object: JSONObject) -> String? {
        let hasProperty = object.members.contains {
            if case .property = MemberName($0.name, version: reader.entities.valueReader.family) { true } else { false }
        }
        return hasProperty ? nil : PayloadReader.url(of: .object(object))
    }
}
