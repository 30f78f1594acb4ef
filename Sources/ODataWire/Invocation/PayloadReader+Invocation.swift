package import EDM

/// One page of the result of a function or action.
package enum InvocationPayload: Sendable, Hashable {
    /// No result, or null.
    case nothing
    /// A value of a primitive, enumeration or complex type.
    case value(Value)
    /// A collection of such values.
    case values([Value], nextLink: String?)
    /// An entity. `set` is the entity set that the payload declares for it.
    case entity(EntityPayload, set: String?)
    case entities(FeedPayload, set: String?)
}

extension PayloadReader {
    /// Reads the result of a function or action.
    ///
    /// In V2 and V3 the result is in `d`: directly, in `results`, or under the function's name.
    ///
    /// - Parameter name: The name of the function import.
    package func result(
        _ bytes: [UInt8], type: TypeReference, name: String
    ) throws(PayloadError) -> InvocationPayload {
        if let atom = forMarkup(bytes) { return try atom.result(bytes, type: type, name: name) }
        let document = try document(bytes)
        let isNamed = version.isLegacy && isWrapped(unwrapped(document), in: name, type)
        let json = isNamed ? unwrapped(document)[name] ?? .null : unwrapped(document)
        if isNull(json) { return .nothing }
        guard case .entity(let typeName) = type.kind else { return try values(json, type) }
        guard let entityType = model.findEntityType(typeName) else {
            throw PayloadError(.unknownType, "The entity type \(typeName) is not in the metadata.")
        }
        let set = document["@odata.context"]?.string ?? document["@context"]?.string
        if type.isCollection {
            let named = JSONValue.object(JSONObject([.init(name: "d", value: json)]))
            let page = isNamed && markup == nil ? Array(named.text.utf8) : bytes
            return .entities(try feed(page, type: entityType), set: set.flatMap(ContextURL.init)?.set)
        }
        // Some gateways wrap a single entity like a collection.
        let inner = version.isLegacy && json.object?.members.count == 1 ? json["results"] ?? json : json
        guard let object = inner.object ?? inner.array?.first?.object else {
            if inner.array?.isEmpty == true { return .nothing }
            throw PayloadError(.unexpectedShape, "The result is \(inner.kindName), not an entity of type \(typeName).")
        }
        return .entity(try entities.entity(object, type: entityType), set: set.flatMap(ContextURL.init)?.set)
    }

    /// Returns whether V2 content is a single member named like the function, as opposed to a value with such a
    /// property.
    private func isWrapped(_ json: JSONValue, in name: String, _ type: TypeReference) -> Bool {
        guard let object = json.object, object.members.count == 1, object.contains(name) else { return false }
        guard !type.isCollection, let structured = model.findComplexType(type.name) else { return true }
        return structured.findProperty(name) == nil || object[name]?.object != nil
    }

    private func isNull(_ json: JSONValue) -> Bool {
        guard let object = json.object else { return json == .null }
        // The form that early V4 services used.
        if object["@odata.null"] == .boolean(true) || object["@odata.null"] == .string("true") { return true }
        return !version.isLegacy && object["value"] == .null
            && object.members.allSatisfy { $0.name == "value" || $0.name.hasPrefix("@") }
    }

    private func values(_ json: JSONValue, _ type: TypeReference) throws(PayloadError) -> InvocationPayload {
        guard type.isCollection else { return .value(try entities.valueReader.value(single(json, type), type: type)) }
        let inner = version.isLegacy ? json["results"] ?? json : json["value"] ?? json
        guard case .collection(let values) = try entities.valueReader.value(inner, type: type) else { return .nothing }
        let nextLink = json["@odata.nextLink"] ?? json["@nextLink"] ?? json["__next"]
        return .values(values, nextLink: nextLink?.string)
    }

    /// Returns the part of the content that is the value.
    private func single(_ json: JSONValue, _ type: TypeReference) -> JSONValue {
        guard let object = json.object else { return json }
        if case .complex(let name) = type.kind {
            let wrapper = version.isLegacy ? "results" : "value"
            let isOwn = model.findComplexType(name)?.findProperty(wrapper) != nil
            return isOwn ? json : object[wrapper].flatMap { $0.object == nil ? nil : $0 } ?? json
        }
        if !version.isLegacy { return object["value"] ?? json }
        return object.members.count == 1 ? object.members[0].value : json
    }
}
