internal import EDM
internal import ODataQuery

extension SandboxState {
    /// Returns one line per entity in the order of creation, with its links below it by navigation property.
    ///
    /// Two services with the same entities, values and links have the same text, independent of their history.
    func text(of sets: [String]?, values: Bool, schema: SandboxSchema) -> String {
        let names = sets ?? tables.keys.sorted()
        return names.flatMap { rows(of: $0) }.map { row in
            var text = row.name
            if values {
                text += " {" + row.values.map { "\($0.name): \($0.value.text)" }.joined(separator: ", ") + "}"
                if let media = row.media { text += " <\(media.contentType), \(media.bytes.count) bytes>" }
            }
            text += "\n"
            for property in schema.model.findEntitySet(row.id.set)?.entityType.navigationProperties ?? [] {
                let targets = property.navigation.map { self.targets(of: row.id, through: $0) } ?? []
                guard !targets.isEmpty else { continue }
                let names = targets.compactMap { self[$0]?.name }.joined(separator: ", ")
                text += "  \(property.name): \(names)\n"
            }
            return text
        }.joined()
    }
}

extension Row {
    /// The name in messages and in the printed state: `Customers(1)`.
    var name: String { id.set + "(" + key.text + ")" }
}

extension KeyPredicate {
    subscript(name: String) -> Value? { values.first { $0.name == name }?.value }

    var text: String {
        values.count == 1
            ? values[0].value.text : values.map { "\($0.name)=\($0.value.text)" }.joined(separator: ",")
    }
}

extension Value {
    /// The value as text for messages and assertions; not a wire format.
    var text: String {
        switch self {
        case .null: "null"
        case .boolean(let value): String(value)
        case .integer(let value): String(value)
        case .single(let value): String(value)
        case .double(let value): String(value)
        case .decimal(let value): value.text
        case .string(let value): "'\(value)'"
        case .binary(let bytes): "\(bytes.count) bytes"
        case .guid(let value): value.description
        case .date(let value): value.description
        case .timeOfDay(let value): value.description
        case .duration(let value): value.description
        case .dateTime(let value): value.description
        case .dateTimeOffset(let value): value.description
        case .enumeration(let value), .raw(let value): value
        case .complex(let value):
            "{" + value.properties.map { "\($0.name): \($0.value.text)" }.joined(separator: ", ") + "}"
        case .collection(let values): "[" + values.map(\.text).joined(separator: ", ") + "]"
        }
    }
}
