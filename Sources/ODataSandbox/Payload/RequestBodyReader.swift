internal import EDM
internal import ODataWire

/// Reads the bodies of modifications, V2 and V4.
struct RequestBodyReader {
    let version: ODataVersion
    let model: EntityDataModel

    func entity(_ bytes: [UInt8], type: EntityType) throws(SandboxError) -> RequestBody {
        let json = try parse(bytes)
        guard let object = json.object else { throw malformed("An object is expected, not \(json.kindName).", nil) }
        return try entity(object, type)
    }

    /// The URL in the body of a `$links` or `$ref` request.
    func reference(_ bytes: [UInt8]) throws(SandboxError) -> String {
        let json = try parse(bytes)
        let names = version.isLegacy ? ["uri"] : ["@odata.id", "@id"]
        guard let url = names.lazy.compactMap({ json[$0]?.string }).first else {
            throw malformed("\(names[0]) with the URL of an entity is expected.", names[0])
        }
        return url
    }

    private func parse(_ bytes: [UInt8]) throws(SandboxError) -> JSONValue {
        do {
            return try JSONValue.parse(bytes)
        } catch {
            throw malformed("The body is no JSON: \(error)", nil)
        }
    }

    private func malformed(_ message: String, _ target: String?) -> SandboxError {
        SandboxError(400, .badRequest, message, target: target)
    }

    private func entity(_ object: JSONObject, _ type: EntityType) throws(SandboxError) -> RequestBody {
        var body = RequestBody()
        for member in object.members {
            if isControl(member.name) { continue }
            if let name = boundNavigation(member.name) {
                body.bindings.append((try navigation(name, type).name, try urls(member.value, name)))
            } else if member.name.contains("@"), !version.isLegacy {
                continue  // an annotation of a property
            } else if let property = type.findProperty(member.name), property.isNavigation {
                try read(member.value, property, into: &body)
            } else {
                body.values[member.name] = try value(member, type.findProperty(member.name)?.type, type)
            }
        }
        return body
    }

    private func isControl(_ name: String) -> Bool { version.isLegacy ? name == "__metadata" : name.hasPrefix("@") }

    private func boundNavigation(_ name: String) -> String? {
        guard !version.isLegacy else { return nil }
        for suffix in ["@odata.bind", "@bind"] where name.hasSuffix(suffix) {
            return String(name.dropLast(suffix.count))
        }
        return nil
    }

    private func navigation(_ name: String, _ type: EntityType) throws(SandboxError) -> Property {
        guard let property = type.findProperty(name), property.isNavigation else {
            throw SandboxError(
                400, .unknownProperty, "\(type.localName) has no navigation property \(name).", target: name)
        }
        return property
    }

    private func urls(_ json: JSONValue, _ name: String) throws(SandboxError) -> [String] {
        switch json {
        case .null: return []
        case .string(let url): return [url]
        case .array(let items):
            return try items.map { item throws(SandboxError) in
                guard let url = item.string else {
                    throw malformed("\(name) is bound to URLs, not \(item.kindName).", name)
                }
                return url
            }
        default: throw malformed("\(name) is bound to a URL, not \(json.kindName).", name)
        }
    }

    /// A navigation property's own member: references to existing entities, new entities, or null.
    private func read(_ json: JSONValue, _ property: Property, into body: inout RequestBody) throws(SandboxError) {
        guard let target = property.navigation.flatMap({ model.findEntityType($0.targetType) }) else { return }
        let items: [JSONValue]
        switch json {
        case .null where !property.isCollection:
            body.bindings.append((property.name, []))
            return
        case .array(let array) where property.isCollection: items = array
        case .object(let object):
            if version.isLegacy, object.contains("__deferred") { return }  // sent back as it came: says nothing
            if property.isCollection {
                guard version.isLegacy, let results = object["results"]?.array else {
                    throw malformed("\(property.name) holds several entities: an array is expected.", property.name)
                }
                items = results
            } else {
                items = [json]
            }
        default: throw malformed("\(property.name) cannot be \(json.kindName).", property.name)
        }
        var urls: [String] = []
        var entities: [RequestBody] = []
        for item in items {
            guard let object = item.object else {
                throw malformed("\(property.name) holds entities, not \(item.kindName).", property.name)
            }
            if let url = reference(object) { urls.append(url) } else { entities.append(try entity(object, target)) }
        }
        if !urls.isEmpty { body.bindings.append((property.name, urls)) }
        if !entities.isEmpty { body.inline.append((property.name, entities)) }
    }

    /// The URL of an object that is a reference and nothing else.
    private func reference(_ object: JSONObject) -> String? {
        guard object.members.count == 1, let member = object.members.first else { return nil }
        switch member.name {
        case "__metadata" where version.isLegacy: return member.value["uri"]?.string
        case "@odata.id", "@id": return version.isLegacy ? nil : member.value.string
        default: return nil
        }
    }

    // MARK: - Values

    private func value(
        _ member: JSONObject.Member, _ type: TypeReference?, _ owner: StructuredType
    ) throws(SandboxError) -> Value {
        guard let type else {
            throw SandboxError(
                400, .unknownProperty, "\(owner.localName) has no property \(member.name).", target: member.name)
        }
        return try value(member.value, type, member.name)
    }

    private func value(_ json: JSONValue, _ type: TypeReference, _ path: String) throws(SandboxError) -> Value {
        if json == .null { return .null }
        if type.isCollection {
            guard let items = json["results"]?.array ?? json.array else { throw mismatch(json, type, path) }
            return .collection(try items.map { item throws(SandboxError) in try value(item, type.item, path) })
        }
        switch type.kind {
        case .primitive(let primitive), .typeDefinition(_, let primitive):
            return try self.primitive(json, primitive, path)
        case .enumeration:
            if case .string(let text) = json { return .enumeration(text) }
            if case .number(let text) = json { return .enumeration(text) }
            throw mismatch(json, type, path)
        case .complex(let name):
            guard let object = json.object, let complex = model.findComplexType(name) else {
                throw mismatch(json, type, path)
            }
            var values = PropertyValues()
            for member in object.members
            where !isControl(member.name) && !(member.name.contains("@") && !version.isLegacy) {
                values[member.name] = try value(member, complex.findProperty(member.name)?.type, complex)
            }
            return .complex(ComplexValue(properties: values))
        case .entity, .unresolved: throw mismatch(json, type, path)
        }
    }

    private func primitive(_ json: JSONValue, _ type: PrimitiveType, _ path: String) throws(SandboxError) -> Value {
        let text: String
        switch (json, type) {
        case (.boolean(let flag), .boolean): return .boolean(flag)
        case (.number(let number), .byte), (.number(let number), .sbyte), (.number(let number), .int16),
            (.number(let number), .int32), (.number(let number), .int64), (.number(let number), .decimal),
            (.number(let number), .double), (.number(let number), .single):
            text = number
        // Numbers that JavaScript cannot hold come as strings: always in V2, with IEEE754Compatible in V4.
        case (.string(let string), .int64), (.string(let string), .decimal), (.string(let string), .double),
            (.string(let string), .single):
            text = string
        case (.string, .boolean), (.string, .byte), (.string, .sbyte), (.string, .int16), (.string, .int32):
            throw mismatch(json, TypeReference(.primitive(type)), path)
        case (.string(let string), _): text = string
        default:
            guard type.isGeo else { throw mismatch(json, TypeReference(.primitive(type)), path) }
            return .raw(json.text)
        }
        do {
            return try PrimitiveLiteral.parse(text, as: type, version: version, form: .json)
        } catch {
            throw SandboxError(400, .typeMismatch, "\(path): \(error)", target: path)
        }
    }

    private func mismatch(_ json: JSONValue, _ type: TypeReference, _ path: String) -> SandboxError {
        SandboxError(
            400, .typeMismatch, "\(path) is of type \(type.name), which \(json.kindName) is not.", target: path)
    }
}
