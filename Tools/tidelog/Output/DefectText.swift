internal import EDM

/// The defects of a metadata document, and the elements that are omitted because of them.
struct DefectText {
    private let defects: [MetadataDefect]

    init(_ defects: [MetadataDefect]) { self.defects = defects }

    /// A heading, and a line for each defect.
    var lines: [String] {
        guard !defects.isEmpty else { return [] }
        let count = defects.count { $0.omitted != nil }
        let consequence =
            count == 0 ? "all elements are used" : "\(counted(count, "element is", "elements are")) omitted"
        return ["\(counted(defects.count, "defect", "defects")) in the metadata; \(consequence):"]
            + defects.map { oneLine("  \($0)") }
    }

    /// Writes the member `defects`: an array of objects with `code`, `message`, `line`, `column` and, if an element is
    /// omitted, `leftOut` with its `kind` and `path`.
    func write(to json: inout JSONWriter) {
        json.name("defects")
        json.beginArray()
        for defect in defects {
            json.beginObject()
            json.member("code", defect.code.rawValue)
            json.member("message", defect.message)
            json.member("line", defect.line)
            json.member("column", defect.column)
            if let omitted = defect.omitted {
                json.name("leftOut")
                json.beginObject()
                json.member("kind", omitted.kind)
                json.member("path", omitted.path)
                json.endObject()
            }
            json.endObject()
        }
        json.endArray()
    }
}
