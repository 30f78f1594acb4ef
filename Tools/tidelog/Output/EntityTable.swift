internal import EDM
internal import ODataQuery
internal import OfflineStore

/// Entities as a table: the readLink, the properties in the order of the metadata, the readLinks of expanded entities,
/// and the state if an entity is not clean.
struct EntityTable {
    /// The maximum length of a value. Longer ones are truncated, so that the table remains readable.
    static let valueLimit = 40

    private let model: EntityDataModel
    private let answer: QueryAnswer

    init(_ answer: QueryAnswer, model: EntityDataModel) {
        self.answer = answer
        self.model = model
    }

    var lines: [String] {
        let isMade = answer.entities.contains { $0.readLink.isEmpty }
        let count = counted(answer.entities.count, isMade ? "row" : "entity", isMade ? "rows" : "entities")
        let footer = answer.count.map { "\(count) of \($0)" } ?? count
        guard !answer.entities.isEmpty else { return [footer + "."] }
        let names = columns
        let navigations = expandedNames
        let showsLink = answer.entities.contains { !$0.readLink.isEmpty }
        let showsState = answer.entities.contains { $0.state != .clean }
        var table = TextTable(
            (showsLink ? [("readLink", .left)] : []) + names.map { ($0, alignment($0)) }
                + navigations.map { ($0, .left) }
                + (showsState ? [("state", .left)] : []))
        for entity in answer.entities {
            table.add(
                (showsLink ? [entity.readLink] : []) + names.map { clipped(text(entity.values[$0])) }
                    + navigations.map { links(entity, $0) }
                    + (showsState ? [entity.state == .clean ? "" : entity.state.rawValue] : []))
        }
        return table.lines + ["", footer + "."]
    }

    /// The properties that any entity has set, in the order of the metadata, dynamic properties last.
    private var columns: [String] {
        var names: [String] = []
        var seen: Set<String> = []
        for entity in answer.entities {
            for (name, _) in entity.orderedValues(model.findEntityType(entity.type)) where seen.insert(name).inserted {
                names.append(name)
            }
        }
        // Entities have different properties set: the order of the type determines the positions of all columns.
        guard let type = answer.entities.first.flatMap({ model.findEntityType($0.type) }) else { return names }
        let declared = type.properties.map(\.name)
        return declared.filter(seen.contains) + names.filter { !declared.contains($0) }
    }

    private var expandedNames: [String] {
        var names: [String] = []
        for entity in answer.entities {
            for expanded in entity.expanded where !names.contains(expanded.navigation) {
                names.append(expanded.navigation)
            }
        }
        return names
    }

    private func alignment(_ name: String) -> TextTable.Alignment {
        let isNumber = answer.entities.allSatisfy { entity in
            switch entity.values[name] {
            case nil, .null, .integer, .decimal, .double, .single: true
            default: false
            }
        }
        return isNumber ? .right : .left
    }

    private func links(_ entity: EntitySnapshot, _ navigation: String) -> String {
        guard let expanded = entity.expanded.first(where: { $0.navigation == navigation }) else { return "" }
        if expanded.form == .count { return String(expanded.count ?? 0) }
        return expanded.entities.map(\.readLink).joined(separator: " ")
    }

    /// Returns the text of a value: empty if it is unset, JSON for complex values and collections, times without `T`.
    private func text(_ value: Value?) -> String {
        switch value {
        case nil: return ""
        case .null: return "null"
        case .string(let text): return text
        case .dateTime(let time): return readable(time.description)
        case .dateTimeOffset(let time): return readable(time.description)
        case .binary(let bytes): return counted(bytes.count, "byte", "bytes")
        case .complex, .collection:
            var json = JSONWriter()
            if let value { ValueJSONWriter(version: .v4, model: model).write(value, to: &json) }
            return json.text
        case .some(let value): return PrimitiveLiteral.format(value, version: .v4, form: .json)
        }
    }

    private func readable(_ time: String) -> String {
        guard let mark = time.firstIndex(of: "T") else { return time }
        return time[..<mark] + " " + time[time.index(after: mark)...]
    }

    private func clipped(_ text: String) -> String {
        text.count > Self.valueLimit ? text.prefix(Self.valueLimit - 1) + "…" : text
    }
}
