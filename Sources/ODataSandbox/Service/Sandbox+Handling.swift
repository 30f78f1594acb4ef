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
                var response = try responder(view).read(request, &baselines)
                for (name, value) in tokens { response.headers.add(name: name, value: value) }
                return response
            }
            let modifies = request.method != "GET" && request.method != "HEAD"
            if modifies, options.requiresToken, !sessions.admits(request) {
                throw SandboxError(403, .tokenRequired, "CSRF token validation failed: fetch one with a GET first.")
            }
        }
        if !view.isLegacy, let number = StatusMonitors.number(of: request.url) {
            return try pollMonitor(number, request, view)
        }
        if !view.isLegacy, let terms = options.asynchrony, Preferences(request).respondsAsync {
            let response = terms.startsAtOnce ? completed(request, view) : nil
            return view.notDone(monitors.add(request, terms, response), terms)
        }
        return try perform(request, view)
    }

    /// Handles a request to the monitor of an accepted request, which takes effect when it is done.
    private mutating func pollMonitor(
        _ number: Int, _ request: WireRequest, _ view: ServiceView
    ) throws(SandboxError) -> WireResponse {
        switch try monitors.handle(request.method, number) {
        case .cancelled: return view.response(204)
        case .waiting(let terms): return view.notDone(number, terms)
        case .done(let response): return view.done(response, request)
        case .execute(let accepted):
            let response = completed(accepted, view)
            monitors.complete(number, response)
            return view.done(response, request)
        }
    }

    private mutating func completed(_ request: WireRequest, _ view: ServiceView) -> WireResponse {
        do throws(SandboxError) {
            return try perform(request, view)
        } catch {
            return view.response(to: error)
        }
    }

    private mutating func perform(_ request: WireRequest, _ view: ServiceView) throws(SandboxError) -> WireResponse {
        switch request.method {
        case "GET", "HEAD": return try responder(view).read(request, &baselines)
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
            return try responder(view).response(to: request, outcome)
        } catch {
            state = before
            throw error
        }
    }

    /// Returns a responder for the current state.
    func responder(_ view: ServiceView) -> ResourceResponder {
        ResourceResponder(view: view, state: state, options: options)
    }
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
