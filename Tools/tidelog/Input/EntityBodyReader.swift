internal import EDM
internal import ODataWire
internal import OfflineStore

/// A reader for JSON of entities that a user wrote, checked against the model. Undeclared properties and values of a
/// wrong type are refused, with their names in the error.
///
/// The formats of OData 4 JSON are accepted for services of all versions, those of V2 (`/Date(0)/`) also for V2
/// services.
struct EntityBodyReader {
    private let model: EntityDataModel

    init(model: EntityDataModel) { self.model = model }

    /// - Parameter set: The set, for error messages.
    func read(_ json: JSONObject, type: EntityType, set: String) throws -> RequestBody {
        if json.members.count > 1 { try checkNames(json, set) }
        try checkComplexNames(json, type, set, depth: 0)
        let body: RequestBody
        do throws(PayloadError) {
            body = try RequestBodyReader(version: model.version, model: model).entity(
                Array(JSONValue.object(json).text.utf8), type: type)
        } catch {
            throw Self.failure(error, set)
        }
        for binding in body.bindings where binding.urls.isEmpty {
            throw CommandFailure(
                "\(set)/\(binding.navigation) is a navigation property and cannot be null.",
                recovery: "Use 'unlink' to remove a link.")
        }
        return body
    }

    private static func failure(_ error: PayloadError, _ set: String) -> CommandFailure {
        // The path of a JSON Pointer can be appended to the set: Customers/Address/Zip.
        let isNamed = error.code == .unknownProperty && !error.path.dropFirst().contains("/")
        let place = isNamed ? set : set + error.path
        return CommandFailure("\(place): \(error.message)", recovery: "Correct the JSON; no operation was performed.")
    }

    /// Refuses duplicate names, which are a mistake: only one of the values could be used.
    private func checkNames(_ json: JSONObject, _ set: String) throws {
        var seen: Set<String> = []
        for member in json.members where !seen.insert(member.name).inserted {
            throw CommandFailure(
                "\(set)/\(member.name) occurs twice.", recovery: "Correct the JSON; no operation was performed.")
        }
    }

    /// Refuses undeclared properties of complex values. Responses of a service may contain such properties, input of a
    /// user may not.
    private func checkComplexNames(_ json: JSONObject, _ type: StructuredType, _ path: String, depth: Int) throws {
        guard depth < 32 else { return }
        for member in json.members {
            guard let property = type.findProperty(member.name) else { continue }
            let objects = member.value.object.map { [$0] } ?? member.value.array?.compactMap(\.object) ?? []
            let below = "\(path)/\(member.name)"
            if let target = property.navigation.flatMap({ model.findEntityType($0.targetType) }) {
                for object in objects { try checkComplexNames(object, target, below, depth: depth + 1) }
            } else if case .complex(let name) = property.type.kind, let complex = model.findComplexType(name) {
                for object in objects { try checkComplex(object, complex, below, depth: depth) }
            }
        }
    }

    private func checkComplex(_ object: JSONObject, _ declared: ComplexType, _ path: String, depth: Int) throws {
        let named = object["@odata.type"]?.string ?? object["@type"]?.string ?? object["__metadata"]?["type"]?.string
        let type = named.flatMap { model.findComplexType($0.hasPrefix("#") ? String($0.dropFirst()) : $0) } ?? declared
        for member in object.members
        where !type.isOpen && type.findProperty(member.name) == nil && !member.name.contains("@")
            && member.name != "__metadata"
        {
            throw CommandFailure(
                "\(path): \(type.name) has no property \(member.name).",
                recovery: "Correct the JSON; no operation was performed."
            )
        }
        try checkComplexNames(object, type, path, depth: depth + 1)
    }
}
