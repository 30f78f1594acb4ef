internal import EDM
internal import ODataQuery
internal import ODataWire

/// Creates responses with the resources of the service: to requests that read them, and to modifications and calls.
struct ResourceResponder {
    let view: ServiceView
    let state: SandboxState
    let options: Sandbox.Options

    private var evaluation: QueryEvaluation { QueryEvaluation(view: view, state: state, now: options.now) }

    /// Responds to a GET.
    ///
    /// - Parameter baselines: Receives the state if the response begins to track changes.
    func read(
        _ request: WireRequest, _ baselines: inout DeltaBaselines
    ) throws(SandboxError) -> WireResponse {
        try view.requireFormat(accepted: request)
        let resolver = Resolver(view: view, state: state)
        let url = try resolver.split(request.url)
        switch try resolver.target(of: url.path) {
        case .serviceDocument:
            return view.response(200, json: view.writer(for: request).serviceDocument(view.serviceDocument))
        case .metadata:
            return view.response(200, ["Content-Type": "application/xml"], body: metadata)
        case .batch: throw SandboxError(405, .methodNotAllowed, "A batch must be sent with POST.")
        case .entities(let collection): return try feed(collection, url, request, &baselines)
        case .count(let collection):
            let options = try view.options(url.query, collection.set)
            let rows = try evaluation.select(state.rows(of: collection), options)
            return view.response(200, ["Content-Type": "text/plain"], body: Array(String(rows.count).utf8))
        case .entity(let address): return try entity(address, url, request)
        case .references(let source, let navigation, _): return try references(source, navigation, request)
        case .property(let row, let path, let isRaw): return try property(row, path, isRaw: isRaw, request)
        case .media(let id):
            guard let media = state[id]?.media else { throw Transaction.gone }
            return view.response(to: request, media)
        case .stream(let id, let name):
            guard let content = state[id]?.streams[name] else { return view.response(204) }
            return view.response(to: request, content)
        case .everything: return view.response(200, json: try mixed(request).all())
        case .crossjoin(let sets):
            let options = try view.options(url.query, nil)
            return view.response(200, json: try mixed(request).combinations(of: sets, options))
        case .operation(let operation): return try callFunction(operation, url, request)
        }
    }

    /// Returns the metadata, with the annotation for repeatable requests of the standard if they are supported.
    private var metadata: [UInt8] {
        guard !view.isLegacy, options.repeatability?.dialect == .oasis else { return view.metadata }
        let annotation = #"<Annotation Term="Org.OData.Repeatability.V1.Supported" Bool="true"/>"#
        var bytes = view.metadata
        bytes.replace(Array("</EntityContainer>".utf8), with: Array("\(annotation)</EntityContainer>".utf8))
        return bytes
    }

    private func feed(
        _ collection: Target.Collection, _ url: RequestURL, _ request: WireRequest,
        _ baselines: inout DeltaBaselines
    ) throws(SandboxError) -> WireResponse {
        let deltas = DeltaResponder(view: view, state: state, options: options)
        if let token = url.deltaToken {
            return try deltas.response(to: request, token, collection, url, &baselines)
        }
        let options = try view.options(url.query, collection.set)
        var moment: Int?
        if options.skipToken == nil, let limit = self.options.deltas?.limit, deltas.tracks(collection, options),
            view.isLegacy || Preferences(request).tracksChanges
        {
            moment = baselines.keep(state, limit: limit)
        }
        return try page(state.rows(of: collection), in: collection.set, options, moment: moment, url, request)
    }

    /// Returns a page of the entities that match the options.
    func page(
        _ all: [Row], in set: EntitySet, _ options: QueryOptions, moment: Int? = nil, isPaged: Bool = true,
        _ url: RequestURL,
        _ request: WireRequest
    ) throws(SandboxError) -> WireResponse {
        let rows = try evaluation.select(all, options)
        var paging = Paging(size: isPaged ? self.options.pageSize : nil)
        if let token = options.skipToken {
            guard let next = Paging(token: token) else {
                throw SandboxError(
                    400, .badRequest, "$skiptoken=\(token) does not belong to this service.", target: "$skiptoken")
            }
            paging = next
        } else if isPaged, !view.isLegacy, let asked = Preferences(request).maxPageSize {
            paging.size = min(asked, paging.size ?? asked)
        }
        let isFirst = options.skipToken == nil
        if let moment { paging.moment = moment }
        let (page, next) = paging.page(
            rows, skip: Int(clamping: options.skip ?? 0), top: Int(clamping: options.top ?? .max))
        let representation = Representation(view: view, state: state, evaluation: evaluation)
        let (expansion, selection) = (Expansion(options.expand), Selection(options.select))
        let entities = try page.map { row throws(SandboxError) in
            try representation.entity(row, expansion: expansion, selection: selection)
        }
        let feed = FeedPayload(
            entities: entities, count: options.count == true ? Int64(rows.count) : nil,
            nextLink: next.map { view.root + url.path + "?" + url.query(replacingSkipToken: $0) },
            deltaLink: next == nil ? paging.moment.map { url.link(view, DeltaToken(since: $0)) } : nil)
        guard let type = view.set(set.name)?.entityType else { throw Transaction.gone }
        let context = selection.context(
            of: view.place(of: set, source: all.first?.container, in: state))
        var headers = HTTPHeaders.empty
        if isFirst, paging.moment != nil, !view.isLegacy { headers["Preference-Applied"] = "odata.track-changes" }
        return view.response(200, headers, json: view.writer(for: request).feed(feed, type: type, set: context))
    }

    func entity(
        _ address: Target.EntityAddress, _ url: RequestURL, _ request: WireRequest
    ) throws(SandboxError) -> WireResponse {
        guard let id = address.row, let row = state[id] else {
            // A single-valued navigation property without a target: V4 responds 204, V2 responds that nothing was
            // found.
            if view.isLegacy || address.source == nil { throw Transaction.gone }
            return view.response(204)
        }
        let options = try view.options(url.query, address.set)
        let etag = view.etag(of: row)
        var headers = HTTPHeaders.empty
        headers["ETag"] = etag
        if let etag, request.headers["If-None-Match"].map({ EntityTag.list($0, contains: etag) }) == true {
            return view.response(304, headers)
        }
        let representation = Representation(view: view, state: state, evaluation: evaluation)
        let selection = Selection(options.select)
        let entity = try representation.entity(row, expansion: Expansion(options.expand), selection: selection)
        guard let type = view.set(address.set.name)?.entityType else { throw Transaction.gone }
        let context = selection.context(of: view.place(of: row, in: state))
        return view.response(200, headers, json: view.writer(for: request).entity(entity, type: type, set: context))
    }

    private func references(
        _ source: RowID, _ navigation: Property, _ request: WireRequest
    ) throws(SandboxError) -> WireResponse {
        guard let end = navigation.navigation else { throw Transaction.gone }
        let urls = state.targets(of: source, through: end).compactMap { state[$0] }.map {
            view.root + view.url(of: $0, in: state)
        }
        guard navigation.isCollection || !urls.isEmpty else {
            if view.isLegacy { throw Transaction.gone }
            return view.response(204)
        }
        let writer = view.writer(for: request)
        return view.response(
            200,
            json: navigation.isCollection ? writer.references(ReferencesPayload(urls: urls)) : writer.reference(urls[0])
        )
    }

    private func property(
        _ id: RowID, _ path: [Property], isRaw: Bool, _ request: WireRequest
    ) throws(SandboxError) -> WireResponse {
        guard let row = state[id], let last = path.last else { throw Transaction.gone }
        var value = row.values[path[0].name] ?? .null
        for property in path.dropFirst() {
            if case .complex(let complex) = value {
                value = complex.properties[property.name] ?? .null
            } else {
                value = .null
            }
        }
        value = value.converted(to: last.type)
        if value == .null {
            if isRaw || view.isLegacy && path.count > 1 { throw Transaction.gone }
            if !view.isLegacy { return view.response(204) }
        }
        if isRaw {
            guard let type = last.type.primitive else {
                throw SandboxError(400, .badRequest, "\(last.name) has no raw value.")
            }
            let text = PrimitiveLiteral.format(value, as: type, version: view.version, form: .text)
            return view.response(200, ["Content-Type": "text/plain;charset=utf-8"], body: Array(text.utf8))
        }
        let context = view.url(of: row, in: state) + "/" + path.map(\.name).joined(separator: "/")
        return view.response(
            200, json: view.writer(for: request).value(value, of: last, context: context), type: last.type)
    }

    private func mixed(_ request: WireRequest) -> MixedEntities {
        MixedEntities(view: view, state: state, evaluation: evaluation, writer: view.writer(for: request))
    }

    // MARK: Modifications

    /// Returns the response to a modification after the transaction.
    func response(
        to request: WireRequest, _ outcome: ModificationOutcome
    ) throws(SandboxError) -> WireResponse {
        if case .invoked(let operation, let result, let url) = outcome {
            return try self.response(to: request, result, of: operation, url)
        }
        guard let id = outcome.row, let row = state[id] else { return view.response(204) }
        if case .streamed(_, let property) = outcome {
            var headers = HTTPHeaders.empty
            headers["ETag"] = (property.map { row.streams[$0] } ?? row.media)?.etag
            return view.response(204, headers)
        }
        let preference = view.isLegacy ? nil : Preferences(request).returns
        var headers = HTTPHeaders.empty
        headers["ETag"] = view.etag(of: row)
        if !view.isLegacy, let preference { headers["Preference-Applied"] = "return=\(preference.rawValue)" }
        let expansion: Expansion
        let status: Int
        switch outcome {
        case .created(_, let expanded, _):
            headers["Location"] = view.root + view.url(of: row, in: state)
            if preference == .minimal || view.capabilities.deepInsertAnswer == .withoutBody {
                headers["OData-EntityId"] = view.root + view.url(of: row, in: state)
                return view.response(204, headers)
            }
            (status, expansion) = (201, view.capabilities.deepInsertAnswer == .outermost ? Expansion() : expanded)
        case .updated, .streamed, .done, .invoked:
            if view.master.configuration.derivedKeys[id.set] != nil {
                headers["Location"] = view.root + view.url(of: row, in: state)
                if !view.isLegacy { headers["OData-EntityId"] = view.root + view.url(of: row, in: state) }
            }
            guard preference == .representation || options.answersUpdates && preference != .minimal else {
                return view.response(204, headers)
            }
            (status, expansion) = (200, Expansion())
        }
        var representation = Representation(view: view, state: state, evaluation: evaluation)
        if case .created(_, _, let marks) = outcome { representation.marks = marks }
        let entity = try representation.entity(row, expansion: expansion)
        guard let set = view.set(id.set) else { throw Transaction.gone }
        let json = view.writer(for: request).entity(entity, type: set.entityType, set: set.name)
        return view.response(status, headers, json: json)
    }

    // MARK: Functions and actions

    /// Calls a function and discards its changes.
    func callFunction(
        _ target: OperationTarget, _ url: RequestURL, _ request: WireRequest
    ) throws(SandboxError) -> WireResponse {
        var transaction = Transaction(on: state, schema: view.master)
        let (operation, result) = try OperationRun(view: view, target: target, url: url, request: request).run(
            on: &transaction)
        return try response(to: request, result, of: operation, url)
    }

    /// Returns the response with the result. The result of a GET is paged; that of an action is not, because it cannot
    /// be requested again.
    func response(
        to request: WireRequest, _ result: SandboxResult, of operation: InvokedOperation, _ url: RequestURL
    ) throws(SandboxError) -> WireResponse {
        guard let type = operation.returnType?.type else { return view.response(204) }
        switch result {
        case .nothing, .entity(nil), .value(.null):
            guard view.isLegacy else { return view.response(204) }
            let json = view.writer(for: request).result(.null, type: type, name: operation.name)
            return view.response(200, json: json, type: type)
        case .value(let value):
            let json = view.writer(for: request).result(
                value.converted(to: type), type: type, name: operation.name)
            return view.response(200, json: json, type: type)
        case .entity(let content?):
            guard let row = state[content.row], let set = view.set(content.set) else { throw Transaction.gone }
            let address = Target.EntityAddress(set: set, row: row.id, source: nil)
            return try entity(address, url, request)
        case .entities(let contents):
            let set = try set(of: contents, operation)
            let options = try view.options(url.query, set)
            return try page(
                contents.compactMap { state[$0.row] }, in: set, options, isPaged: request.method == "GET", url, request)
        }
    }

    private func set(
        of contents: [Sandbox.StoredEntity], _ operation: InvokedOperation
    ) throws(SandboxError) -> EntitySet {
        let type = operation.returnType?.type.name
        let set =
            (contents.first?.set ?? operation.entitySet).flatMap(view.set)
            ?? view.model.entitySets.first { $0.entityType.name == type }
        guard let set else {
            throw SandboxError(
                501, .notImplemented, "The entity set of the entities that \(operation.name) returns is unknown.")
        }
        return set
    }
}
