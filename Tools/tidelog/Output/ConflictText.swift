internal import EDM
internal import ODataQuery
internal import Tidelog

/// A conflict, as lines or as JSON.
struct ConflictText {
    private let conflict: Conflict

    private let model: EntityDataModel
    private let set: EntitySet?
    private let type: EntityType?
    private let values: ValueJSONWriter

    init(_ conflict: Conflict, _ model: EntityDataModel) {
        self.conflict = conflict
        self.model = model
        set = model.findEntitySet(String(conflict.name.prefix { $0 != "(" }))
        type = model.findEntityType(conflict.type)
        values = ValueJSONWriter(version: .v4, model: model)
    }

    var lines: [String] {
        let operations = conflict.operations.map(String.init).joined(separator: ", ")
        let head =
            switch conflict.kind {
            case .changed: "also changed by another client"
            case .deletedByOthers: "changed here and deleted by another client"
            case .deletedHere: "deleted here and changed by another client"
            }
        return ["\(oneLine(conflict.name)): \(head) (pending: \(operations))"]
            + conflict.properties.map {
                "  \($0.isOverlapping ? "*" : " ") \($0.name): base \(text($0.base)), mine \(text($0.mine)), theirs \(text($0.theirs))"
            }
            + conflict.links.map { link in
                let ends = [link.base, link.mine, link.theirs].map { text($0, link.navigation) }
                let mark = link.isOverlapping ? "*" : " "
                return "  \(mark) \(link.navigation): base \(ends[0]), mine \(ends[1]), theirs \(ends[2])"
            }
    }

    private func text(_ value: Value?) -> String {
        value.map { oneLine(PrimitiveLiteral.format($0, version: .v4, form: .json)) } ?? "-"
    }

    /// Returns a name such as `Customers(~7)`, which remains valid.
    private func text(_ entity: EntityID?, _ navigation: String) -> String {
        guard let entity else { return "-" }
        let target = set.flatMap { set in
            type?.findProperty(navigation).flatMap { model.target(of: $0, in: set) }
        }
        return "\(target?.name ?? "")(\(entity))"
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("entityID", conflict.entity.rawValue)
        json.member("name", conflict.name)
        json.member("kind", "\(conflict.kind)")
        json.member("isOverlapping", conflict.isOverlapping)
        json.numbers("operations", conflict.operations)
        json.name("properties")
        json.beginArray()
        for property in conflict.properties {
            json.beginObject()
            json.member("name", property.name)
            write("base", property.base, of: property.name, &json)
            write("mine", property.mine, of: property.name, &json)
            write("theirs", property.theirs, of: property.name, &json)
            json.member("isOverlapping", property.isOverlapping)
            json.endObject()
        }
        json.endArray()
        json.name("links")
        json.beginArray()
        for link in conflict.links {
            json.beginObject()
            json.member("name", link.navigation)
            if let base = link.base { json.member("base", base.rawValue) }
            if let mine = link.mine { json.member("mine", mine.rawValue) }
            if let theirs = link.theirs { json.member("theirs", theirs.rawValue) }
            json.member("isOverlapping", link.isOverlapping)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.text
    }

    /// Writes a value. Omits it if it is unknown.
    private func write(_ name: String, _ value: Value?, of property: String, _ json: inout JSONWriter) {
        guard let value else { return }
        values.property(name, value, type?.findProperty(property)?.type, &json)
    }
}
