/// Declares in the metadata of a V4 service that repeatable requests are supported.
package enum MetadataAnnotation {
    /// Returns the document with the annotation, or unchanged if it is not V4 in XML, has no container with content, or
    /// makes a statement about repeatable requests itself.
    package static func declared(in document: [UInt8]) -> [UInt8] {
        let head = String(decoding: document.prefix(2_000), as: UTF8.self)
        guard head.contains("Version=\"4.") || head.contains("Version='4."), let end = containerEnd(document),
            !contains(document, "Org.OData.Repeatability.V1.Supported"),
            !contains(document, "\"Repeatability.Supported\"")
        else { return document }
        let tag = #"<\#(end.prefix)Annotation Term="Org.OData.Repeatability.V1.Supported" Bool="true"/>"#
        return document[..<end.position] + Array(tag.utf8) + document[end.position...]
    }

    /// Returns the position of the last end tag of a container, and its prefix with the colon.
    private static func containerEnd(_ document: [UInt8]) -> (position: Int, prefix: String)? {
        let name = Array("EntityContainer".utf8)
        var position = document.count - name.count
        while position >= 2 {
            defer { position -= 1 }
            guard document[position] == name[0], document[position...].starts(with: name) else { continue }
            var start = position
            while start > 0, document[start - 1] != UInt8(ascii: "/"), position - start < 40 { start -= 1 }
            let prefix = document[start..<position]
            let isPrefix = prefix.isEmpty || prefix.last == UInt8(ascii: ":") && !prefix.contains(UInt8(ascii: "<"))
            guard isPrefix, start >= 2, document[start - 1] == UInt8(ascii: "/"),
                document[start - 2] == UInt8(ascii: "<")
            else { continue }
            return (start - 2, String(decoding: prefix, as: UTF8.self))
        }
        return nil
    }

    private static func contains(_ document: [UInt8], _ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var rest = document[...]
        while let start = rest.firstIndex(of: bytes[0]) {
            if document[start...].starts(with: bytes) { return true }
            rest = document[(start + 1)...]
        }
        return false
    }
}
