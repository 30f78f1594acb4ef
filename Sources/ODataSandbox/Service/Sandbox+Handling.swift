internal import EDM
public import ODataWire

/// The service that a URL belongs to, and the rest of the URL below the service root.
struct Route {
    let view: ODataVersion?
    let rest: String

    init(_ url: String) {
        var path = url[...]
        if let scheme = ["http://", "https://"].first(where: { path.hasPrefix($0) }) {
            path = path.dropFirst(scheme.count).drop { $0 != "/" }
        }
        for (prefix, version) in [("/v2", ODataVersion.v2), ("/v4", .v4)] where path.hasPrefix(prefix) {
            let rest = path.dropFirst(prefix.count)
            if rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") {
                view = version
                self.rest = String(rest.hasPrefix("/") ? rest.dropFirst() : rest)
                return
            }
        }
        view = nil
        rest = String(path)
    }
}

extension Sandbox {
    /// Handles one request. `url` is a path from the root of the server (`/v4/Customers`) or absolute.
    public mutating func handle(_ request: WireRequest) -> WireResponse {
        let route = Route(request.url)
        guard let version = route.view else {
            return WireResponse(
                status: 404, headers: ["Content-Type": "text/plain"],
                body: Array("The services are at /v2/ and /v4/.\n".utf8))
        }
        let view = view(version)
        var request = request
        request.url = route.rest
        do throws(SandboxError) {
            return try respond(to: &request, view)
        } catch {
            var response = view.response(to: error)
            if error.code == .tokenRequired { response.headers[Sessions.header] = "Required" }
            return response
        }
    }

    private mutating func respond(
        to request: inout WireRequest, _ view: ServiceView
    ) throws(SandboxError) -> WireResponse {
        request = try view.untunnelled(request)
        if view.isLegacy {
            if Sessions.isFetch(request) {
                let tokens = sessions.fetch(request)
                var response = try read(request, view)
                for (name, value) in tokens { response.headers.add(name: name, value: value) }
                return response
            }
            let modifies = request.method != "GET" && request.method != "HEAD"
            if modifies, options.requiresToken, !sessions.admits(request) {
                throw SandboxError(403, .tokenRequired, "CSRF token validation failed: fetch one with a GET first.")
            }
        }
        if !view.isLegacy, let number = AcceptedRequest.number(of: request.url) {
            return try monitor(number, request, view)
        }
        if !view.isLegacy, let terms = options.asynchrony, Preferences(request).respondsAsync {
            return accept(request, terms, view)
        }
        return try perform(request, view)
    }

    mutating func perform(_ request: WireRequest, _ view: ServiceView) throws(SandboxError) -> WireResponse {
        switch request.method {
        case "GET", "HEAD": return try read(request, view)
        case "POST" where request.url == "$batch" || request.url.hasPrefix("$batch?"):
            return try once(request) { sandbox throws(SandboxError) in try sandbox.batch(request, view) }
        case "POST", "PUT", "PATCH", "MERGE", "DELETE":
            var response = try once(request) { sandbox throws(SandboxError) in try sandbox.modify(request, view) }
            response.distort(activeFaults?.distortions ?? [])
            return response
        default: throw SandboxError(405, .methodNotAllowed, "\(request.method) is not an OData method.")
        }
    }

    /// Executes a single modification, which is a change set of its own.
    mutating func modify(_ request: WireRequest, _ view: ServiceView) throws(SandboxError) -> WireResponse {
        var modifications = Modifications(view: view, state: state)
        let outcome = try modifications.perform(request)
        try modifications.transaction.finish()
        let before = state
        keep(modifications.transaction)
        do throws(SandboxError) {
            return try response(to: request, outcome, view)
        } catch {
            state = before
            throw error
        }
    }

    /// Returns the response to a modification after the transaction.
    func response(
        to request: WireRequest, _ outcome: ModificationOutcome, _ view: ServiceView
    ) throws(SandboxError) -> WireResponse {
        if case .invoked(let operation, let result, let url) = outcome {
            return try self.response(to: request, result, of: operation, url, view)
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
        var representation = Representation(view: view, state: state, evaluation: evaluation(view))
        if case .created(_, _, let marks) = outcome { representation.marks = marks }
        let entity = try representation.entity(row, expansion: expansion)
        guard let set = view.set(id.set) else { throw Transaction.gone }
        let json = view.writer(for: request).entity(entity, type: set.entityType, set: set.name)
        return view.response(status, headers, json: json)
    }

    func evaluation(_ view: ServiceView) -> Evaluation { Evaluation(view: view, state: state, now: options.now) }
}

/// The `Prefer` header (OData 4.01 Part 1, section 8.2.8).
struct Preferences {
    enum Return: String { case minimal, representation }

    private(set) var returns: Return?
    private(set) var continuesOnError = false
    private(set) var respondsAsync = false
    private(set) var maxPageSize: Int?
    private(set) var tracksChanges = false

    init(_ request: WireRequest) {
        for field in request.headers.values("Prefer") {
            for preference in field.split(whereSeparator: { $0 == "," || $0 == ";" }) {
                let parts = preference.lowercased().filter { $0 != " " && $0 != "\"" }.split(
                    separator: "=", maxSplits: 1)
                let value = parts.count > 1 ? String(parts[1]) : nil
                switch parts.first {
                case "return": returns = value.flatMap(Return.init(rawValue:))
                case "continue-on-error", "odata.continue-on-error": continuesOnError = value != "false"
                case "respond-async": respondsAsync = true
                case "track-changes", "odata.track-changes": tracksChanges = true
                case "maxpagesize", "odata.maxpagesize":
                    maxPageSize = value.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
                default: break
                }
            }
        }
    }
}

extension ServiceView {
    /// Returns the actual request for a tunneled POST, which clients use if they cannot send other methods.
    func untunnelled(_ request: WireRequest) throws(SandboxError) -> WireRequest {
        guard capabilities.methods || ["GET", "HEAD", "POST"].contains(request.method) else {
            throw SandboxError(405, .methodNotAllowed, "Only GET and POST are allowed, not \(request.method).")
        }
        guard request.method == "POST", let method = request.headers["X-HTTP-Method"]?.uppercased(),
            ["MERGE", "PATCH", "PUT", "DELETE"].contains(method)
        else { return request }
        var request = request
        request.method = method
        return request
    }
}
