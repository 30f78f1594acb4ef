internal import EDM
internal import ODataQuery
internal import ODataWire

extension ServiceView {
    /// Returns a response with the headers that every response of the version has.
    func response(_ status: Int, _ headers: HTTPHeaders = .empty, body: [UInt8] = []) -> WireResponse {
        var response = WireResponse(status: status, headers: headers, body: body)
        response.headers[isLegacy ? "DataServiceVersion" : "OData-Version"] = isLegacy ? "2.0" : "4.0"
        return response
    }

    /// - Parameter type: The type of the value, if the content is that of a property.
    func response(
        _ status: Int, _ headers: HTTPHeaders = .empty, json: [UInt8], type: TypeReference? = nil
    ) -> WireResponse {
        var headers = headers
        if usesAtom {
            let (body, mediaType) = AtomTranslation(model: model, root: root).document(json, type: type)
            headers["Content-Type"] = mediaType
            return response(status, headers, body: body)
        }
        headers["Content-Type"] = isLegacy ? "application/json" : "application/json;odata.metadata=minimal"
        return response(status, headers, body: json)
    }

    func response(to error: SandboxError) -> WireResponse {
        let payload = ServiceError(
            code: error.ownCode ?? error.code.rawValue, message: error.message, target: error.target)
        let writer = PayloadWriter(version: version, model: model, serviceRoot: root)
        return response(error.status, error.headers, json: writer.error(payload))
    }

    /// Returns the response with the content of a stream.
    func response(to request: WireRequest, _ content: Row.Media) -> WireResponse {
        if request.headers["If-None-Match"].map({ EntityTag.list($0, contains: content.etag) }) == true {
            return response(304, ["ETag": content.etag])
        }
        return response(200, ["Content-Type": content.contentType, "ETag": content.etag], body: content.bytes)
    }

    func writer(for request: WireRequest) -> PayloadWriter {
        let accept = (request.headers["Accept"] ?? "").lowercased().filter { $0 != " " }
        return PayloadWriter(
            version: version, model: model, serviceRoot: root,
            isIEEE754Compatible: !isLegacy && accept.contains("ieee754compatible=true"))
    }

    var serviceDocument: ServiceDocument {
        ServiceDocument(entries: model.entitySets.map { ServiceDocument.Entry(name: $0.segment, url: $0.segment) })
    }

    /// Returns the URL of a row, relative to the service root.
    func url(of row: Row, in state: SandboxState) -> String {
        reference(to: row, in: state).map {
            RequestEncoder(version: version, model: model, serviceRoot: root).url(of: $0)
        } ?? row.id.set
    }

    /// Returns the set of an entity in the form of a context URL: `Orders`, or `People('ann')/Trips` for a contained
    /// entity.
    func place(of row: Row, in state: SandboxState) -> String {
        guard let set = set(row.id.set), let containment = set.containment,
            let parent = row.container.flatMap({ state[$0] })
        else { return row.id.set }
        return place(below: parent, containment, in: state)
    }

    /// Returns a collection in the form of a context URL.
    func place(of set: EntitySet, source: RowID?, in state: SandboxState) -> String {
        guard let containment = set.containment, let parent = source.flatMap({ state[$0] }) else { return set.segment }
        return place(below: parent, containment, in: state)
    }

    private func place(below parent: Row, _ containment: Containment, in state: SandboxState) -> String {
        let step = (containment.cast.map { $0 + "/" } ?? "") + containment.navigation.name
        return url(of: parent, in: state) + "/" + step
    }

    private func reference(to row: Row, in state: SandboxState) -> ResourceReference? {
        guard let set = set(row.id.set) else { return nil }
        guard let containment = set.containment else {
            return .entity(set: set, key: set.isSingleton ? KeyPredicate([]) : row.key)
        }
        guard let parent = row.container.flatMap({ state[$0] }), let owner = reference(to: parent, in: state) else {
            return nil
        }
        return .contained(
            in: containment.cast.map { .cast(owner, to: $0) } ?? owner, by: containment.navigation,
            key: set.isContainedSingle ? nil : row.key)
    }

    /// - Parameter set: The set that the options apply to, or nil for combinations of sets.
    func options(_ query: String, _ set: EntitySet?) throws(SandboxError) -> QueryOptions {
        let options: QueryOptions
        do {
            options = try QueryOptions.parse(
                query, version: version, type: set.flatMap { self.set($0.name)?.entityType }, model: model)
        } catch {
            throw SandboxError(400, .badRequest, "\(error)")
        }
        guard options.search == nil, options.apply.isEmpty, options.compute.isEmpty, options.deltaToken == nil else {
            throw SandboxError(
                501, .notImplemented, "The sandbox does not support $search, $apply, $compute and delta links.")
        }
        return options
    }
}
