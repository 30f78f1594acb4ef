internal import EDM

/// The targets of a relationship, as in responses to `$links` of V2 and `$ref` of V4.
package struct ReferencesPayload: Sendable, Hashable {
    /// The URLs as the service wrote them, absolute or relative to the service root.
    package var urls: [String]
    package var count: Int64?
    package var nextLink: String?

    package init(urls: [String], count: Int64? = nil, nextLink: String? = nil) {
        self.urls = urls
        self.count = count
        self.nextLink = nextLink
    }
}

/// The content of a service document.
package struct ServiceDocument: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        package enum ResourceKind: String, Sendable, Hashable {
            case entitySet = "EntitySet"
            case singleton = "Singleton"
            case functionImport = "FunctionImport"
            case serviceDocument = "ServiceDocument"
            case other = ""
        }

        package var name: String
        package var url: String
        package var kind: ResourceKind

        package init(name: String, url: String, kind: ResourceKind = .entitySet) {
            self.name = name
            self.url = url
            self.kind = kind
        }
    }

    package var entries: [Entry]

    package init(entries: [Entry]) { self.entries = entries }

    /// The names of the entity sets.
    package var entitySets: [String] { entries.filter { $0.kind == .entitySet }.map(\.name) }
}

extension PayloadReader {
    /// Reads a `$links` or `$ref` response with one or several references.
    package func entityReferences(_ bytes: [UInt8]) throws(PayloadError) -> ReferencesPayload {
        if let atom = forMarkup(bytes) { return try atom.entityReferences(bytes) }
        let json = unwrapped(try document(bytes))
        if let url = Self.url(of: json) { return ReferencesPayload(urls: [url]) }
        guard let items = json.array ?? json["results"]?.array ?? json["value"]?.array else {
            throw PayloadError(.unexpectedShape, "The payload is neither a reference nor a collection of references.")
        }
        var result = ReferencesPayload(urls: [])
        for (index, item) in items.enumerated() {
            guard let url = Self.url(of: item) else {
                throw PayloadError(.unexpectedShape, "An item of the collection is not a reference.", path: "/\(index)")
            }
            result.urls.append(url)
        }
        let count = json["@odata.count"] ?? json["@count"] ?? json["__count"]
        result.count = count?.integer
        let next = json["@odata.nextLink"] ?? json["@nextLink"] ?? json["__next"] ?? json["odata.nextLink"]
        result.nextLink = next?.string
        return result
    }

    /// Returns the URL in `{"uri":…}` of V2, `{"url":…}` of V3's light format, `{"@odata.id":…}` of V4, or an entity's
    /// own metadata.
    static func url(of json: JSONValue) -> String? {
        let url = json["@odata.id"] ?? json["@id"] ?? json["uri"] ?? json["url"] ?? json["__metadata"]?["uri"]
        return url?.string
    }

    /// Reads the entries of a service document.
    package func serviceDocument(_ bytes: [UInt8]) throws(PayloadError) -> ServiceDocument {
        if let atom = forMarkup(bytes) { return try atom.serviceDocument(bytes) }
        let json = unwrapped(try document(bytes))
        if let names = json["EntitySets"]?.array {
            return ServiceDocument(entries: names.compactMap(\.string).map { .init(name: $0, url: $0) })
        }
        guard let items = json["value"]?.array else {
            throw PayloadError(.unexpectedShape, "The payload is not a service document.")
        }
        return ServiceDocument(
            entries: items.compactMap { item in
                guard let name = item["name"]?.string else { return nil }
                let kind = item["kind"]?.string.map { ServiceDocument.Entry.ResourceKind(rawValue: $0) ?? .other }
                return .init(name: name, url: item["url"]?.string ?? name, kind: kind ?? .entitySet)
            })
    }
}
