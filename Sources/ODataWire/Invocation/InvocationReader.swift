package import EDM
import ODataQuery

/// Reads the arguments that clients send for a function or action: the inverse of ``RequestEncoder``.
package struct InvocationReader: Sendable {
    /// The content of an argument.
    package enum ArgumentValue: Sendable, Hashable {
        case value(Value)
        case entities([Entity])

        package enum Entity: Sendable, Hashable {
            /// The URL of an existing entity.
            case reference(String)
            case body(RequestBody)
        }
    }

    package let version: ODataVersion
    package let model: EntityDataModel

    package init(version: ODataVersion, model: EntityDataModel) {
        self.version = version
        self.model = model
    }

    /// Returns the names of the arguments in the body of an action.
    package func names(inBody bytes: [UInt8]) throws(PayloadError) -> [String] {
        try members(of: bytes).map(\.name).filter { !$0.contains("@") }
    }

    /// Returns the arguments in the body of an action.
    package func arguments(
        inBody bytes: [UInt8], of operation: InvokedOperation
    ) throws(PayloadError) -> [String: ArgumentValue] {
        var arguments: [String: ArgumentValue] = [:]
        let members = try members(of: bytes)
        var types: [String: String] = [:]
        for member in members {
            guard case .control("type", let name) = MemberName(member.name, version: values.family) else { continue }
            types[String(name)] = member.value.string.map(values.typeName)
        }
        for member in members {
            guard let parameter = operation.parameters.first(where: { $0.name == member.name }) else { continue }
            do { arguments[member.name] = try content(member.value, parameter.type, types[member.name]) } catch {
                throw error.below(member.name)
            }
        }
        return arguments
    }

    /// Reads an argument from a URL after percent-decoding: a literal or JSON.
    package func argument(_ text: String, type: TypeReference) throws(PayloadError) -> ArgumentValue {
        if text == "null" { return .value(.null) }
        if !version.isLegacy, type.isCollection || type.primitive == nil, let first = text.first, "{[".contains(first) {
            return try content(try reader.document(Array(text.utf8)), type)
        }
        guard let value = readLiteral(text, as: type, version: version) else {
            throw PayloadError(
                .typeMismatch, "\(clipped(text)) is not a value of type \(type.name).")
        }
        return .value(value)
    }

    private var reader: PayloadReader { PayloadReader(version: version, model: model) }

    private var values: PropertyValueReader { reader.entities.valueReader }

    private func members(of bytes: [UInt8]) throws(PayloadError) -> [JSONObject.Member] {
        guard !bytes.isEmpty else { return [] }
        let json = try reader.document(bytes)
        guard let object = json.object else {
            throw PayloadError(.unexpectedShape, "The body is \(json.kindName), not an object with parameters.")
        }
        return object.members
    }

    private func content(
        _ json: JSONValue, _ type: TypeReference, _ typeName: String? = nil
    ) throws(PayloadError) -> ArgumentValue {
        guard case .entity(let name) = type.kind, json != .null else {
            return .value(try values.value(json, type: type, typeName: typeName))
        }
        guard let entityType = model.findEntityType(name), let items = type.isCollection ? json.array : [json] else {
            throw PayloadError(.typeMismatch, "Expected a value of type \(type.name), not \(json.kindName).")
        }
        let bodies = RequestBodyReader(version: version, model: model)
        var entities: [ArgumentValue.Entity] = []
        for item in items {
            guard let object = item.object else {
                throw PayloadError(.typeMismatch, "Expected an entity, not \(item.kindName).")
            }
            if let url = bodies.boundURL(object) {
                entities.append(.reference(url))
            } else {
                entities.append(.body(try bodies.entity(object, type: entityType)))
            }
        }
        return .entities(entities)
    }
}
