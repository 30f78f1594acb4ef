internal import ODataWire

/// The accepted requests, which have the response 202, and their status monitors.
struct StatusMonitors: Sendable {
    static let path = "$async/"

    private struct AcceptedRequest: Sendable {
        let request: WireRequest
        let terms: Asynchrony
        /// The number of polls so far.
        var polls = 0
        /// The final response, if the request has taken effect.
        var response: WireResponse?
    }

    /// The result of a request to a monitor.
    enum Progress {
        case cancelled
        /// The request is not done yet.
        case waiting(Asynchrony)
        case done(WireResponse)
        /// The request has to be executed now. Pass its response to ``complete(_:_:)``.
        case execute(WireRequest)
    }

    /// The accepted requests. The number of a status monitor is the index plus 1.
    private var accepted: [AcceptedRequest] = []
    private var cancelled: Set<Int> = []

    /// Returns the number in the URL of a status monitor, or nil.
    static func number(of url: String) -> Int? {
        url.hasPrefix(path) ? Int(url.dropFirst(path.count)) : nil
    }

    /// Accepts a request and returns the number of its monitor.
    ///
    /// - Parameter response: The final response if the request has taken effect already.
    mutating func add(_ request: WireRequest, _ terms: Asynchrony, _ response: WireResponse?) -> Int {
        accepted.append(AcceptedRequest(request: request, terms: terms, response: response))
        return accepted.count
    }

    /// Handles a request with this method to a monitor.
    mutating func handle(_ method: String, _ number: Int) throws(SandboxError) -> Progress {
        guard accepted.indices.contains(number - 1), !cancelled.contains(number) else {
            throw SandboxError(404, .unknownResource, "There is no status monitor \(number).")
        }
        let place = number - 1
        switch method {
        case "GET":
            accepted[place].polls += 1
            let terms = accepted[place].terms
            guard accepted[place].polls > terms.polls else { return .waiting(terms) }
            return accepted[place].response.map(Progress.done) ?? .execute(accepted[place].request)
        case "DELETE":
            guard accepted[place].response == nil else {
                throw SandboxError(405, .methodNotAllowed, "The request took effect and cannot be cancelled.")
            }
            cancelled.insert(number)
            return .cancelled
        default:
            throw SandboxError(405, .methodNotAllowed, "A status monitor does not support \(method).")
        }
    }

    /// Stores the response of a request that was executed.
    mutating func complete(_ number: Int, _ response: WireResponse) { accepted[number - 1].response = response }
}

extension ServiceView {
    /// Returns the response 202 with the URL of a status monitor.
    func notDone(_ number: Int, _ terms: Asynchrony) -> WireResponse {
        var headers: HTTPHeaders = [
            "Location": root + StatusMonitors.path + String(number), "Preference-Applied": "respond-async",
        ]
        headers["Retry-After"] = terms.retryAfter.map(String.init)
        return self.response(202, headers)
    }

    /// Returns the response for a request that is done.
    ///
    /// It is an HTTP message in the body for 4.0 clients that do not specify a format. Otherwise its headers and body
    /// are used directly, with its status in `AsyncResult`.
    func done(_ response: WireResponse, _ request: WireRequest) -> WireResponse {
        let accept = request.headers["Accept"]?.lowercased()
        let isMessage =
            accept?.contains("application/http") ?? (request.headers["OData-MaxVersion"] == "4.0")
        guard isMessage else {
            var result = self.response(200, response.headers, body: response.body)
            result.headers["AsyncResult"] = String(response.status)
            return result
        }
        var head = "HTTP/1.1 \(response.status) \r\n"
        for field in response.headers.fields { head += "\(field.name): \(field.value)\r\n" }
        head += "Content-Length: \(response.body.count)\r\n\r\n"
        return self.response(
            200, ["Content-Type": "application/http", "Content-Transfer-Encoding": "binary"],
            body: Array(head.utf8) + response.body)
    }
}
