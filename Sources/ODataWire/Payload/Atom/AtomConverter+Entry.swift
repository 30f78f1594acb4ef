internal import EDM

extension AtomConverter {
    /// Returns an entry as an object with `__metadata`, properties, and navigation properties.
    func entry(_ element: MarkupElement, _ base: AtomBase) throws(PayloadError) -> JSONObject {
        let base = base.within(element)
        var links = EntryLinks(isRequest: isRequest)
        var properties = JSONObject()
        var syndication = JSONObject()
        links.metadata["etag"] = element.attribute("etag", in: AtomNames.metadata)
        for child in element.children {
            switch (child.namespace, child.name) {
            case (AtomNames.atom, "id"): links.metadata["id"] = child.trimmedText.isEmpty ? nil : child.trimmedText
            case (AtomNames.atom, "category"):
                guard child.attribute("scheme") == AtomNames.scheme, let term = child.attribute("term") else { break }
                links.metadata["type"] = term
            case (AtomNames.atom, "link"): try link(child, base.within(child), &links)
            case (AtomNames.atom, "content"):
                if let source = child.attribute("src") {
                    links.metadata["media_src"] = base.within(child).resolve(source)
                    links.metadata["content_type"] = child.attribute("type")
                }
                for inner in child.children where inner.namespace == AtomNames.metadata && inner.name == "properties" {
                    try AtomProperties.append(inner, to: &properties)
                }
            case (AtomNames.metadata, "properties"): try AtomProperties.append(child, to: &properties)
            case (AtomNames.metadata, "error"): throw Self.failure(child)
            case (AtomNames.atom, _): Self.take(child, into: &syndication)
            default: break
            }
        }
        var object = JSONObject()
        let metadata = links.members
        if !metadata.isEmpty {
            object.members.append(.init(name: "__metadata", value: .object(JSONObject(metadata))))
        }
        if !syndication.members.isEmpty {
            object.members.append(.init(name: AtomNames.syndication, value: .object(syndication)))
        }
        object.members += properties.members + links.streams
        for (name, value) in links.navigation {
            guard !properties.contains(name) else {
                throw PayloadError(.malformedXML, "The entry contains \(clipped(name)) twice.", path: "/\(name)")
            }
            object.members.append(.init(name: name, value: value))
        }
        return object
    }

    /// Keeps the text of an element, and of the elements of a person: `title`, `author/name`.
    private static func take(_ element: MarkupElement, into object: inout JSONObject) {
        for (path, found) in [(element.name, element)] + element.children.map({ ("\(element.name)/\($0.name)", $0) })
        where !object.contains(path) && found.children.isEmpty {
            object.members.append(.init(name: path, value: .string(found.text)))
        }
    }

    /// The links of an entry, by their meaning.
    struct EntryLinks {
        let isRequest: Bool
        /// The members of `__metadata`.
        var metadata: [String: String] = [:]
        var editLink: String?
        var selfLink: String?
        /// Navigation properties in the order of the document.
        var navigation: [(name: String, value: JSONValue)] = []
        /// Annotations of stream properties (V3).
        var streams: [JSONObject.Member] = []

        var members: [JSONObject.Member] {
            var all = metadata
            all["uri"] = editLink ?? selfLink ?? metadata["id"]
            return all.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .string($0.value)) }
        }

        /// Adds the content of a navigation property. A request may contain several references.
        mutating func add(_ name: String, _ value: JSONValue) {
            guard let place = navigation.firstIndex(where: { $0.name == name }) else {
                navigation.append((name, value))
                return
            }
            if isRequest {
                navigation[place].value = .array(Self.items(navigation[place].value) + Self.items(value))
            } else if navigation[place].value["__deferred"] != nil {
                navigation[place].value = value
            }
        }

        private static func items(_ value: JSONValue) -> [JSONValue] {
            value.array ?? value["results"]?.array ?? (value == .null ? [] : [value])
        }
    }

    private func link(_ link: MarkupElement, _ base: AtomBase, _ links: inout EntryLinks) throws(PayloadError) {
        let relation = AtomNames.relation(link.attribute("rel") ?? "")
        let url = link.attribute("href").map(base.resolve)
        switch relation {
        case "edit": links.editLink = url
        case "self": links.selfLink = url
        case "edit-media":
            links.metadata["edit_media"] = url
            links.metadata["media_etag"] = link.attribute("etag", in: AtomNames.metadata)
        case _ where relation.hasPrefix(AtomNames.related):
            let name = String(relation.dropFirst(AtomNames.related.count))
            guard case .property = MemberName(name, version: .legacy), !name.isEmpty else { return }
            do throws(PayloadError) { try target(of: link, url, base).map { links.add(name, $0) } } catch {
                throw error.below(name)
            }
        case _ where relation.hasPrefix(AtomNames.streamReadLink):
            Self.stream(relation.dropFirst(AtomNames.streamReadLink.count), "mediaReadLink", url, link, &links)
        case _ where relation.hasPrefix(AtomNames.streamEditLink):
            Self.stream(relation.dropFirst(AtomNames.streamEditLink.count), "mediaEditLink", url, link, &links)
        default: break
        }
    }

    private static func stream(
        _ name: Substring, _ member: String, _ url: String?, _ link: MarkupElement, _ links: inout EntryLinks
    ) {
        guard let url, !name.isEmpty else { return }
        var members = [JSONObject.Member(name: "\(name)@odata.\(member)", value: .string(url))]
        if let etag = link.attribute("etag", in: AtomNames.metadata) {
            members.append(.init(name: "\(name)@odata.mediaEtag", value: .string(etag)))
        }
        links.streams += members.filter { member in !links.streams.contains { $0.name == member.name } }
    }

    /// Returns the content of a navigation link, or nil if it has neither content nor a URL.
    private func target(
        of link: MarkupElement, _ url: String?, _ base: AtomBase
    ) throws(PayloadError) -> JSONValue? {
        guard let inline = link.children.first(where: { $0.namespace == AtomNames.metadata && $0.name == "inline" })
        else {
            return url.map {
                let member = JSONObject.Member(name: "uri", value: .string($0))
                let name = isRequest ? "__metadata" : "__deferred"
                return .object(JSONObject([.init(name: name, value: .object(JSONObject([member])))]))
            }
        }
        let inner = base.within(inline)
        for child in inline.children where child.namespace == AtomNames.atom {
            if child.name == "entry" { return .object(try entry(child, inner)) }
            if child.name == "feed" { return try feed(child, inner) }
        }
        let isFeed = link.attribute("type")?.lowercased().contains("type=feed") ?? false
        return isFeed ? .object(JSONObject([.init(name: "results", value: .array([]))])) : .null
    }
}
