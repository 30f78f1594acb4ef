internal import Tidelog

/// An entity that the store could not accept, as a line or as JSON.
struct QuarantineText {
    private let entity: QuarantinedEntity
    private let time: Int64?

    init(_ entity: QuarantinedEntity, time: Int64? = nil) {
        self.entity = entity
        self.time = time
    }

    /// The entity as a line, such as `Orders(7)/Total: "1e400" is no …`.
    var line: String {
        let name = entity.name ?? "\(entity.set), key unknown"
        let path = entity.path.isEmpty ? "" : entity.path
        let count = entity.count > 1 ? " (\(entity.count) entities)" : ""
        let value = entity.text.isEmpty ? "" : " Value: \(entity.text)"
        return oneLine("\(name)\(path): \(entity.message)\(count)\(value)")
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("query", entity.query)
        json.member("set", entity.set)
        if let name = entity.name { json.member("entity", name) }
        json.member("reason", "\(entity.reason)")
        json.member("path", entity.path)
        json.member("message", entity.message)
        json.member("value", entity.text)
        json.member("count", Int(clamping: entity.count))
        if let time { json.member("time", StatusText.time(time)) }
        json.endObject()
    }

    var json: String {
        var json = JSONWriter()
        write(to: &json)
        return json.text
    }
}
