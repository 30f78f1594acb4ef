internal import EDM
internal import ODataQuery

/// Translates the verbose JSON of V2 to Atom and XML, for a service that speaks nothing else (MS-ODATA 2.2.6.2).
///
/// It shares no code with the reader of Atom, so that a misreading of the standard is not the same on both sides. Links
/// are relative to `xml:base`.
struct AtomTranslation {
    let model: EntityDataModel
    /// The absolute service root with a slash at its end.
    let root: String

    /// The form of a document.
    private enum DocumentForm { case entry, feed, other }

    private static let data = "http://schemas.microsoft.com/ado/2007/08/dataservices"
    private static let namespaces =
        #" xmlns="http://www.w3.org/2005/Atom" xmlns:d="\#(data)" xmlns:m="\#(data)/metadata""#

    /// Returns the document and its media type.
    ///
    /// - Parameter type: The type of the value, if the document is that of a property.
    func document(_ bytes: [UInt8], type: TypeReference?) -> (body: [UInt8], mediaType: String) {
        guard let json = try? JSONValue.parse(bytes) else { return (bytes, "application/json") }
        let (text, form) = document(json, type)
        let body = Array((#"<?xml version="1.0" encoding="utf-8"?>"# + "\n" + text).utf8)
        switch form {
        case .entry: return (body, "application/atom+xml;type=entry;charset=utf-8")
        case .feed: return (body, "application/atom+xml;type=feed;charset=utf-8")
        case .other: return (body, "application/xml;charset=utf-8")
        }
    }

    private func document(_ json: JSONValue, _ type: TypeReference?) -> (String, DocumentForm) {
        if let error = json["error"] { return (self.error(error), .other) }
        let content = json["d"] ?? json
        if let sets = content["EntitySets"]?.array { return (service(sets.compactMap(\.string)), .other) }
        if let items = content["results"]?.array {
            if let first = items.first, first["uri"] != nil { return (links(items), .other) }
            if let first = items.first, first.object == nil {
                return (property("d:result", content, type, attributes: Self.namespaces), .other)
            }
            return (feed(content, items, isRoot: true), .feed)
        }
        if content["__metadata"]?["uri"] != nil { return (entry(content, isRoot: true), .entry) }
        if let uri = content["uri"]?.string {
            return (#"<uri xmlns="\#(Self.data)">\#(Self.escaped(uri))</uri>"#, .other)
        }
        guard let member = content.object?.members.first else { return ("<d:result\(Self.namespaces)/>", .other) }
        return (property("d:" + member.name, member.value, type, attributes: Self.namespaces), .other)
    }

    // MARK: Documents without entities

    private func error(_ json: JSONValue) -> String {
        var text = #"<m:error xmlns:m="\#(Self.data)/metadata">"#
        text += "<m:code>\(Self.escaped(json["code"]?.string ?? ""))</m:code>"
        text += #"<m:message xml:lang="en">\#(Self.escaped(json["message"]?["value"]?.string ?? ""))</m:message>"#
        return text + "</m:error>"
    }

    private func service(_ sets: [String]) -> String {
        let collections = sets.map {
            let name = Self.escaped($0)
            return #"<collection href="\#(name)"><a:title>\#(name)</a:title></collection>"#
        }
        return
            #"<service xmlns="http://www.w3.org/2007/app" xmlns:a="http://www.w3.org/2005/Atom" xml:base="\#(root)">"#
            + "<workspace><a:title>Default</a:title>\(collections.joined())</workspace></service>"
    }

    private func links(_ items: [JSONValue]) -> String {
        let urls = items.map { "<uri>\(Self.escaped($0["uri"]?.string ?? ""))</uri>" }
        return #"<links xmlns="\#(Self.data)">\#(urls.joined())</links>"#
    }

    // MARK: Entities

    private func head(_ isRoot: Bool) -> String { isRoot ? Self.namespaces + #" xml:base="\#(root)""# : "" }

    private func feed(_ content: JSONValue, _ items: [JSONValue], isRoot: Bool) -> String {
        var text = "<feed\(head(isRoot))>"
        text += #"<title type="text">Entities</title><id>\#(root)</id><updated>2020-01-01T00:00:00Z</updated>"#
        if let count = content["__count"]?.string { text += "<m:count>\(count)</m:count>" }
        for item in items {
            if item["@odata.context"]?.string?.hasSuffix("$deletedEntity") == true {
                let reference = Self.attribute(item["id"]?.string ?? "")
                text += #"<at:deleted-entry xmlns:at="http://purl.org/atompub/tombstones/1.0" ref="\#(reference)""#
                text += #" when="2020-01-01T00:00:00Z"/>"#
            } else {
                text += entry(item, isRoot: false)
            }
        }
        for (name, relation) in [("__next", "next"), ("__delta", "delta")] {
            guard let url = content[name]?.string else { continue }
            text += #"<link rel="\#(relation)" href="\#(href(url))"/>"#
        }
        return text + "</feed>"
    }

    private func entry(_ content: JSONValue, isRoot: Bool) -> String {
        let metadata = content["__metadata"]
        let uri = metadata?["uri"]?.string ?? ""
        let typeName = metadata?["type"]?.string ?? ""
        let type = model.findEntityType(typeName)
        let etag = metadata?["etag"]?.string.map { #" m:etag="\#(Self.attribute($0))""# } ?? ""
        var text = "<entry\(head(isRoot))\(etag)><id>\(Self.escaped(metadata?["id"]?.string ?? uri))</id>"
        text += #"<title type="text"/><updated>2020-01-01T00:00:00Z</updated><author><name/></author>"#
        text += #"<link rel="edit" title="\#(type?.localName ?? "")" href="\#(href(uri))"/>"#
        var properties = ""
        for member in content.object?.members ?? [] where member.name != "__metadata" {
            let property = type?.findProperty(member.name)
            if property?.isNavigation == true {
                text += link(member.name, member.value, isCollection: property?.isCollection == true, uri)
            } else {
                properties += self.property("d:" + member.name, member.value, property?.type)
            }
        }
        text += #"<category term="\#(typeName)" scheme="\#(Self.data)/scheme"/>"#
        properties = "<m:properties>\(properties)</m:properties>"
        guard let source = metadata?["media_src"]?.string else {
            return text + #"<content type="application/xml">\#(properties)</content></entry>"#
        }
        let mediaETag = metadata?["media_etag"]?.string.map { #" m:etag="\#(Self.attribute($0))""# } ?? ""
        text += #"<link rel="edit-media" href="\#(href(metadata?["edit_media"]?.string ?? source))"\#(mediaETag)/>"#
        let mediaType = Self.attribute(metadata?["content_type"]?.string ?? "application/octet-stream")
        text += #"<content type="\#(mediaType)" src="\#(href(source))"/>"#
        return text + properties + "</entry>"
    }

    private func link(_ name: String, _ value: JSONValue, isCollection: Bool, _ entity: String) -> String {
        let url = value["__deferred"]?["uri"]?.string ?? "\(entity)/\(name)"
        var text = #"<link rel="\#(Self.data)/related/\#(name)""#
        text += #" type="application/atom+xml;type=\#(isCollection ? "feed" : "entry")""#
        text += #" title="\#(name)" href="\#(href(url))""#
        if value["__deferred"] != nil { return text + "/>" }
        let content =
            if let items = value["results"]?.array {
                feed(value, items, isRoot: false)
            } else {
                value == .null ? "" : entry(value, isRoot: false)
            }
        return text + "><m:inline>\(content)</m:inline></link>"
    }

    // MARK: Values

    private func property(_ name: String, _ value: JSONValue, _ type: TypeReference?, attributes: String = "") -> String
    {
        var start = "<\(name)\(attributes)"
        if let typeName = type?.name, typeName != "Edm.String" {
            start += #" m:type="\#(type?.isCollection == true ? "Collection(\(typeName))" : typeName)""#
        }
        if value == .null { return start + #" m:null="true"/>"# }
        var content = ""
        if let items = value.array ?? value["results"]?.array {
            for item in items { content += property("d:element", item, type?.item) }
        } else if let object = value.object {
            let complex = type.flatMap { model.findComplexType($0.name) }
            for member in object.members where member.name != "__metadata" {
                content += property("d:" + member.name, member.value, complex?.findProperty(member.name)?.type)
            }
        } else {
            content = Self.escaped(text(of: value, type?.primitive))
        }
        return "\(start)>\(content)</\(name)>"
    }

    private func text(of value: JSONValue, _ type: PrimitiveType?) -> String {
        let text =
            switch value {
            case .string(let text), .number(let text): text
            case .boolean(let flag): String(flag)
            case .null, .array, .object: ""
            }
        guard let type, type != .string,
            let parsed = try? PrimitiveLiteral.parse(text, as: type, version: .v2, form: .json)
        else { return text }
        return PrimitiveLiteral.format(parsed, as: type, version: .v2, form: .text)
    }

    // MARK: Text

    private func href(_ url: String) -> String {
        Self.attribute(url.hasPrefix(root) ? String(url.dropFirst(root.count)) : url)
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\r": result += "&#13;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func attribute(_ text: String) -> String {
        var result = ""
        for character in escaped(text) { result += character == "\"" ? "&quot;" : String(character) }
        return result
    }
}
