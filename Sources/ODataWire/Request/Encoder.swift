package import EDM
package import ODataQuery

/// Encodes data modifications for a protocol version: method, URL, headers and body.
///
/// V2 and V3: MERGE, `$links`, `__metadata.uri`, verbose JSON or Atom. V4: PATCH, `$ref`, `@odata.bind`. The URLs of requests
/// are relative to the service root, so that they are also valid in a batch. URLs in bodies are absolute, except
/// references to entities that the same change set creates, which remain `$1`.
package struct RequestEncoder: Sendable {
    package let version: ODataVersion
    package let options: ServiceOptions
    let model: EntityDataModel
    let urls: EntityURLWriter
    /// The headers of a request without a body.
    package private(set) var headers = HTTPHeaders.empty

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - serviceRoot: The absolute URL of the service root, with or without a slash at its end.
    ///   - givenRoot: The URL that redirects to the service root, if there is one.
    package init(
        version: ODataVersion, model: EntityDataModel, serviceRoot: String, options: ServiceOptions = ServiceOptions(),
        givenRoot: String? = nil
    ) {
        self.version = version
        self.model = model
        self.options = options
        urls = EntityURLWriter(version: version, model: model, serviceRoot: serviceRoot, givenRoot: givenRoot)
        headers =
            version.isLegacy
            ? ["DataServiceVersion": version.rawValue, "MaxDataServiceVersion": version.rawValue, "Accept": accepted]
            : ["OData-Version": version.rawValue, "OData-MaxVersion": "4.01", "Accept": mediaType]
    }

    /// Returns the request for the modification.
    package func encode(_ modification: DataModification) -> WireRequest {
        var request = encode(modification.action)
        if let stream = modification.stream { write(stream, into: &request, of: modification.action) }
        if options.tunnelsMethods, request.method != "POST" {
            request.headers["X-HTTP-Method"] = request.method
            request.method = "POST"
        }
        if let ifMatch = modification.ifMatch { request.headers["If-Match"] = ifMatch }
        request.headers.merge(modification.headers)
        return request
    }

    /// Returns an entity's URL relative to the service root, percent-encoded: `Customers(1)`, `$1`. Only a URL outside
    /// of the service stays absolute.
    package func url(of reference: ResourceReference) -> String { urls.relative(reference) }

    /// Returns an entity's URL as used in bodies: absolute, or `$1`.
    package func absoluteURL(of reference: ResourceReference) -> String { urls.absolute(reference) }

    /// Returns the URL with further query options.
    package func adding(_ options: String, to url: String) -> String { EntityURLWriter.adding(options, to: url) }

    /// Returns a key predicate with its parentheses, percent-encoded: `(1)`, `(A=1,B='x')`.
    package func predicate(_ key: KeyPredicate, of type: EntityType) -> String { urls.predicate(key, of: type) }

    /// Whether entities are written as Atom. V4 has JSON only.
    private var usesAtom: Bool { version.isLegacy && options.payloadFormat == .atom }

    /// The media types of responses. In Atom, only entities are Atom, and other documents are XML.
    private var accepted: String { usesAtom ? "application/atom+xml,application/xml" : mediaType }

    /// The media type of entities. Without the parameter, V3 services respond in their light format.
    private var mediaType: String {
        if usesAtom { return "application/atom+xml" }
        if version == .v3 { return "application/json;odata=verbose" }
        return !version.isLegacy && options.isIEEE754Compatible
            ? "application/json;IEEE754Compatible=true" : "application/json"
    }

    private func encode(_ action: DataModification.Action) -> WireRequest {
        switch action {
        case .create(let set, let body):
            return request("POST", urls.encode(set.segment), write(body, declared: set.entityType.name))
        case .createRelated(let source, let navigation, let body):
            return request("POST", path(source, navigation), write(body, declared: navigation.navigation?.targetType))
        case .update(let target, let body, let replaces):
            let method = replaces ? "PUT" : version.isLegacy ? "MERGE" : "PATCH"
            return request(method, url(of: target), write(body))
        case .delete(let target): return request("DELETE", url(of: target))
        case .link(let source, let navigation, let target):
            // A collection requires POST; the link of a single-valued property is set by PUT, whether it is new or not.
            var request = request(
                navigation.isCollection ? "POST" : "PUT", reference(source, navigation), write(reference: target))
            if usesAtom { request.headers["Content-Type"] = "application/xml" }
            return request
        case .unlink(let source, let navigation, let target):
            return request("DELETE", reference(source, navigation, to: target))
        case .invoke(let invocation): return call(invocation)
        }
    }

    private func request(_ method: String, _ url: String, _ body: [UInt8]? = nil) -> WireRequest {
        var request = WireRequest(method: method, url: url, headers: headers)
        if let body {
            request.headers["Content-Type"] = mediaType
            request.body = body
        }
        return request
    }

    /// Turns a request into one whose body consists of the stream's bytes.
    ///
    /// A create remains a POST to the collection; an update is sent to the stream.
    private func write(_ stream: StreamHead, into request: inout WireRequest, of action: DataModification.Action) {
        request.body = []
        request.headers["Content-Type"] = stream.mediaType
        if case .update(let target, _, _) = action {
            request.method = stream.mediaType == nil ? "DELETE" : "PUT"
            request.url = stream.editLink ?? streamURL(of: target, property: stream.property)
        } else if let name = stream.name {
            request.headers["Slug"] = PercentCoding.encode(name, for: .pathSegment)
        }
    }

    /// Returns the default URL for reading and writing a stream (OData 4.01 Part 2, section 4.14).
    package func streamURL(of reference: ResourceReference, property: String?) -> String {
        EntityURLWriter.appending("/" + (property.map(urls.encode) ?? "$value"), to: url(of: reference))
    }

    private func path(_ source: ResourceReference, _ navigation: Property) -> String {
        EntityURLWriter.appending("/" + urls.encode(navigation.name), to: url(of: source))
    }

    /// Returns the URL of a link. One of several targets is identified by `(1)` at its end in V2, by `?$id=…` in V4.
    private func reference(
        _ source: ResourceReference, _ navigation: Property, to target: ResourceReference? = nil
    ) -> String {
        let target = navigation.isCollection ? target : nil
        if version.isLegacy {
            let member = target.flatMap { urls.predicate(endOf: url(of: $0)) } ?? ""
            return EntityURLWriter.appending("/$links/" + urls.encode(navigation.name) + member, to: url(of: source))
        }
        let link = EntityURLWriter.appending("/$ref", to: path(source, navigation))
        guard let target else { return link }
        let id = PercentCoding.encode(urls.absolute(target), for: .queryValue)
        return EntityURLWriter.adding("$id=" + id, to: link)
    }

    private func write(reference target: ResourceReference) -> [UInt8] {
        if usesAtom {
            var writer = AtomEntryWriter(version: version, model: model, urls: urls)
            writer.write(reference: urls.absolute(target))
            return writer.xml.bytes
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.name(version.isLegacy ? "uri" : "@odata.id")
        writer.string(urls.absolute(target))
        writer.endObject()
        return writer.bytes
    }

    private func write(_ body: EntityBody, declared: String? = nil) -> [UInt8] {
        if usesAtom {
            var writer = AtomEntryWriter(version: version, model: model, urls: urls)
            writer.write(body)
            return writer.xml.bytes
        }
        var writer = EntityBodyWriter(
            version: version, options: options, urls: urls,
            values: ValueJSONWriter(
                version: version, model: model, isIEEE754Compatible: options.isIEEE754Compatible))
        writer.write(body, declared: declared)
        return writer.json.bytes
    }
}
