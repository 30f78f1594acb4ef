internal import ODataWire

/// The handling of `Prefer: respond-async` (OData 4.01 Part 1, section 11.6; not available in V2).
public struct Asynchrony: Sendable, Hashable {
    /// The number of times that the status monitor responds that the request is not done yet.
    public var polls: Int
    /// The `Retry-After` value of these responses, in seconds.
    public var retryAfter: Int?
    /// Whether the request takes effect when it is accepted instead of when it is done. It can be cancelled only before
    /// it has taken effect.
    public var startsAtOnce: Bool

    public init(polls: Int = 1, retryAfter: Int? = nil, startsAtOnce: Bool = false) {
        self.polls = polls
        self.retryAfter = retryAfter
        self.startsAtOnce = startsAtOnce
    }
}

/// A request with the response 202.
struct AcceptedRequest: Sendable {
    let request: WireRequest
    let terms: Asynchrony
    /// The number of polls so far.
    var polls = 0
    /// The final response, if the request has taken effect.
    var response: WireResponse?

    static let path = "$async/"

    /// Returns the number in the URL of a status monitor, or nil.
    static func number(of url: String) -> Int? {
        url.hasPrefix(path) ? Int(url.dropFirst(path.count)) : nil
    }
}

extension Sandbox {
    /// Responds with 202 and the URL of a status monitor.
    mutating func accept(_ request: WireRequest, _ terms: Asynchrony, _ view: ServiceView) -> WireResponse {
        var accepted = AcceptedRequest(request: request, terms: terms)
        if terms.startsAtOnce { accepted.response = completed(request, view) }
        self.accepted.append(accepted)
        return notDone(self.accepted.count, terms, view)
    }

    /// Handles a request to a status monitor.
    mutating func monitor(
        _ number: Int, _ request: WireRequest, _ view: ServiceView
    ) throws(SandboxError) -> WireResponse {
        guard accepted.indices.contains(number - 1), !cancelled.contains(number) else {
            throw SandboxError(404, .unknownResource, "There is no status monitor \(number).")
        }
        let place = number - 1
        switch request.method {
        case "GET":
            accepted[place].polls += 1
            let terms = accepted[place].terms
            guard accepted[place].polls > terms.polls else { return notDone(number, terms, view) }
            let response = accepted[place].response ?? completed(accepted[place].request, view)
            accepted[place].response = response
            return done(response, request, view)
        case "DELETE":
            guard accepted[place].response == nil else {
                throw SandboxError(405, .methodNotAllowed, "The request took effect and cannot be cancelled.")
            }
            cancelled.insert(number)
            return view.response(204)
        default:
            throw SandboxError(405, .methodNotAllowed, "A status monitor does not support \(request.method).")
        }
    }

    private mutating func completed(_ request: WireRequest, _ view: ServiceView) -> WireResponse {
        do throws(SandboxError) {
            return try perform(request, view)
        } catch {
            return view.response(to: error)
        }
    }

    private func notDone(_ number: Int, _ terms: Asynchrony, _ view: ServiceView) -> WireResponse {
        var headers: HTTPHeaders = [
            "Location": view.root + AcceptedRequest.path + String(number), "Preference-Applied": "respond-async",
        ]
        headers["Retry-After"] = terms.retryAfter.map(String.init)
        return view.response(202, headers)
    }

    /// Returns the response for a request that is done.
    ///
    /// It is an HTTP message in the body for 4.0 clients that do not specify a format. Otherwise its headers and body
    /// are used directly, with its status in `AsyncResult`.
    private func done(_ response: WireResponse, _ request: WireRequest, _ view: ServiceView) -> WireResponse {
        let accept = request.headers["Accept"]?.lowercased()
        let isMessage =
            accept?.contains("application/http") ?? (request.headers["OData-MaxVersion"] == "4.0")
        guard isMessage else {
            var result = view.response(200, response.headers, body: response.body)
            result.headers["AsyncResult"] = String(response.status)
            return result
        }
        var head = "HTTP/1.1 \(response.status) \r\n"
        for field in response.headers.fields { head += "\(field.name): \(field.value)\r\n" }
        head += "Content-Length: \(response.body.count)\r\n\r\n"
        return view.response(
            200, ["Content-Type": "application/http", "Content-Transfer-Encoding": "binary"],
            body: Array(head.utf8) + response.body)
    }
}
