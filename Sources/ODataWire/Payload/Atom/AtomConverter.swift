internal import EDM

/// Converts Atom documents of V2 and V3 to verbose JSON of the same content (MS-ODATA 2.2.6.2 and 2.2.6.3).
///
/// Values remain text, because only the metadata determine their types. The nesting depth is that of the document, which
/// the parser limits.
struct AtomConverter {
    /// Whether the documents are requests, in which a link without content refers to an existing entity.
    var isRequest = false

    /// Returns the content of a document.
    func document(_ root: MarkupElement) throws(PayloadError) -> JSONValue {
        switch (root.namespace, root.name) {
        case (AtomNames.atom, "feed"): return try feed(root, AtomBase())
        case (AtomNames.atom, "entry"): return .object(try entry(root, AtomBase()))
        case (AtomNames.publishing, "service"): return Self.serviceDocument(root)
        case (AtomNames.data, "links") where root.children.allSatisfy { Self.partsOfLinks.contains($0.name) }:
            return Self.references(root)
        case (AtomNames.data, "uri") where root.children.isEmpty:
            return .object(JSONObject([.init(name: "uri", value: .string(root.trimmedText))]))
        case (AtomNames.data, let name):
            return .object(JSONObject([.init(name: name, value: try AtomProperties.value(of: root))]))
        case (AtomNames.metadata, "error"): throw Self.failure(root)
        default:
            throw PayloadError(
                .unexpectedShape, "The root element of the XML document is \(clipped(root.name)), not one of OData.")
        }
    }

    // MARK: Feeds

    /// The count and the links of a feed.
    struct FeedHead {
        var count: Int64?
        var nextLink: String?
        var deltaLink: String?
    }

    /// Returns the count and the links of a feed.
    func head(of feed: MarkupElement, _ base: AtomBase) throws(PayloadError) -> FeedHead {
        let base = base.within(feed)
        var head = FeedHead()
        for child in feed.children {
            switch (child.namespace, child.name) {
            case (AtomNames.metadata, "count"): head.count = Int64(child.trimmedText)
            case (AtomNames.metadata, "error"): throw Self.failure(child)
            case (AtomNames.atom, "link"):
                let link = base.within(child)
                switch AtomNames.relation(child.attribute("rel") ?? "") {
                case "next": head.nextLink = try link.resolve(Self.href(child))
                case "delta": head.deltaLink = try link.resolve(Self.href(child))
                default: break
                }
            default: break
            }
        }
        return head
    }

    /// Returns the items of a feed in the order of the document.
    ///
    /// - Parameter first: The index of the first item, for errors.
    func items(
        of feed: MarkupElement, _ base: AtomBase, first: Int = 0
    ) throws(PayloadError) -> [JSONValue] {
        let base = base.within(feed)
        var items: [JSONValue] = []
        for child in feed.children {
            switch (child.namespace, child.name) {
            case (AtomNames.atom, "entry"):
                do throws(PayloadError) { items.append(.object(try entry(child, base))) } catch {
                    throw error.below(first + items.count)
                }
            case (AtomNames.tombstones, "deleted-entry"):
                guard let reference = child.attribute("ref") else {
                    throw PayloadError(
                        .unexpectedShape, "A deleted entry has no reference.", path: "/\(first + items.count)")
                }
                items.append(Self.tombstone(reference))
            default: break
            }
        }
        return items
    }

    /// Returns a removed entity in the form in which Olingo writes it in JSON.
    private static func tombstone(_ reference: String) -> JSONValue {
        .object(
            JSONObject([
                .init(name: "@odata.context", value: .string("#$deletedEntity")),
                .init(name: "id", value: .string(reference)),
            ]))
    }

    func feed(_ element: MarkupElement, _ base: AtomBase) throws(PayloadError) -> JSONValue {
        let head = try head(of: element, base)
        var object = JSONObject([.init(name: "results", value: .array(try items(of: element, base)))])
        if let count = head.count { object.members.append(.init(name: "__count", value: .string(String(count)))) }
        if let link = head.nextLink { object.members.append(.init(name: "__next", value: .string(link))) }
        if let link = head.deltaLink { object.members.append(.init(name: "__delta", value: .string(link))) }
        return .object(object)
    }

    /// Returns the reference of a link. Throws if there is none, because a page without next link is the last one.
    private static func href(_ link: MarkupElement) throws(PayloadError) -> String {
        guard let href = link.attribute("href") else {
            throw PayloadError(.unexpectedShape, "A link of the feed has no reference.")
        }
        return href
    }

    // MARK: Other documents

    static func failure(_ element: MarkupElement) -> PayloadError {
        var error = JSONObject()
        for child in element.children where child.namespace == AtomNames.metadata && child.children.isEmpty {
            error.members.append(.init(name: child.name, value: .string(child.trimmedText)))
        }
        return .inStream(.object(error))
    }

    private static let partsOfLinks: Set<String> = ["uri", "next", "count"]

    private static func references(_ root: MarkupElement) -> JSONValue {
        var object = JSONObject()
        let urls = root.children.filter { $0.name == "uri" }.map { uri in
            JSONValue.object(JSONObject([.init(name: "uri", value: .string(uri.trimmedText))]))
        }
        object.members.append(.init(name: "results", value: .array(urls)))
        for child in root.children where child.name != "uri" {
            object.members.append(.init(name: "__" + child.name, value: .string(child.trimmedText)))
        }
        return .object(object)
    }

    private static func serviceDocument(_ root: MarkupElement) -> JSONValue {
        var entries: [JSONValue] = []
        for workspace in root.children where workspace.name == "workspace" {
            for collection in workspace.children where collection.name == "collection" {
                guard let url = collection.attribute("href") else { continue }
                let title = collection.children.first { $0.namespace == AtomNames.atom && $0.name == "title" }
                entries.append(
                    .object(
                        JSONObject([
                            .init(name: "name", value: .string(title?.trimmedText ?? url)),
                            .init(name: "url", value: .string(url)),
                        ])))
            }
        }
        return .object(JSONObject([.init(name: "value", value: .array(entries))]))
    }
}
