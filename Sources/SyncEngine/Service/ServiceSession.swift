import HTTPTypes
import ODataQuery
package import ODataWire
package import OfflineStore
import Synchronization
package import Transport

/// A session with one OData service. It completes URLs and headers, fetches the CSRF token, and maps unexpected
/// responses to errors.
package actor ServiceSession {
    private nonisolated let address: Mutex<ServiceAddress>
    private let transport: any HTTPTransport
    private var credentials: Credentials
    private let authentication: AuthenticationHook?
    private let executor: (any TaskExecutor)?
    /// Limits on the service's responses.
    package nonisolated let limits: ServiceLimits
    /// The number of credential changes, so that the rejection of a request with earlier credentials does not trigger
    /// another renewal.
    private var generation = 0
    /// The running call of the authentication hook, if there is one. Its value is whether the hook returned
    /// credentials.
    private var renewal: Task<Bool, Never>?
    private var token: String?
    /// Whether the service has required a CSRF token before. Later calls then fetch one before the first modification.
    private var needsToken = false
    private nonisolated let tracing = Mutex<RequestTrace?>(nil)
    private nonisolated let added = Mutex(SessionHeaders())
    /// Receives an event for each exchange.
    nonisolated let activity = SyncActivity()

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - credentials: Credentials that are sent with every request to the service's origin and to no other. Next
    ///     links and entity links come from the service and may point elsewhere.
    ///   - authentication: A function that returns new credentials when the service rejects the current ones.
    ///   - limits: Limits on the service's responses. The limits of single responses are the transport's own.
    ///   - executor: The executor of the authentication hook. If nil, it runs in the shared pool.
    package init(
        root: String, transport: any HTTPTransport, credentials: Credentials = .none,
        authentication: AuthenticationHook? = nil, limits: ServiceLimits = ServiceLimits(),
        executor: (any TaskExecutor)? = nil
    ) {
        self.limits = limits
        address = Mutex(ServiceAddress(root))
        self.transport = transport
        self.credentials = credentials
        self.authentication = authentication
        self.executor = executor
    }

    /// The absolute root URL, with a trailing slash. If the configured root redirects, this is the target.
    package nonisolated var root: String { address.withLock { $0.root } }

    /// The configured root. The service may still use it in its links.
    package nonisolated var givenRoot: String { address.withLock { $0.given } }

    /// Continues with another root of the same origin, such as a session-specific one: `…/(S(abc))/OData.svc/`.
    ///
    /// - Returns: False if the root has another origin. Then nothing changes.
    @discardableResult
    package nonisolated func move(to root: String) -> Bool {
        address.withLock { $0.move(to: root) }
    }

    /// Sets the credentials for the next requests.
    package func use(_ credentials: Credentials) {
        self.credentials = credentials
        generation += 1
        // The token was issued for the previous credentials.
        token = nil
    }

    /// Headers and cookies that are added to every request to the service from now on.
    package nonisolated var headers: SessionHeaders {
        get { added.withLock { $0 } }
        set { added.withLock { $0 = newValue } }
    }

    /// The trace of each request from now on, or nil for none.
    package nonisolated var trace: RequestTrace? {
        get { tracing.withLock { $0 } }
        set { tracing.withLock { $0 = newValue } }
    }

    /// Sends a GET request. Any status is returned as a response.
    package func get(_ url: String, headers: HTTPHeaders = .empty) async throws(TidelogError) -> WireResponse {
        try await send(WireRequest(method: "GET", url: url, headers: headers))
    }

    /// The largest number of redirects that are followed if the transport does not follow them.
    private static var redirectLimit: Int { 5 }

    /// Sends a GET request for a resource of the service, and follows redirects within the origin.
    ///
    /// If the resource has the same name after the redirect, the session continues with the root of the target. Any
    /// other status is returned as a response.
    func locate(_ resource: String, headers: HTTPHeaders) async throws(TidelogError) -> WireResponse {
        var url = resource
        for _ in 0...Self.redirectLimit {
            let before = generation
            let request = WireRequest(method: "GET", url: url, headers: headers)
            var (response, location) = try await locateOnce(request)
            if await wantsRepetition(request, response, before) { (response, location) = try await locateOnce(request) }
            if let target = redirect(of: response, from: url) {
                url = target
                continue
            }
            let path = absolute(location ?? url).prefix { $0 != "?" && $0 != "#" }
            if response.isSuccess, path.hasSuffix("/" + resource) { move(to: String(path.dropLast(resource.count))) }
            return response
        }
        throw TidelogError(
            .unreachable, "The service redirected the request more than \(Self.redirectLimit) times.",
            place: "GET \(root)\(resource)",
            recovery: "Check the service root.")
    }

    private func locateOnce(_ request: WireRequest) async throws(TidelogError) -> (WireResponse, location: String?) {
        let (message, url) = try outgoing(request)
        let trace = trace
        trace?.request(message, url: url, body: [])
        do throws(TransportError) {
            let (response, body, location) = try await transport.locate(message)
            activity.notify(.exchanged(sent: 0, received: body.count, status: response.status.code))
            trace?.response(response, to: request.method, url: url, body: body)
            return (WireResponse(response, body), location)
        } catch {
            trace?.failure(error, of: request.method, url: url)
            activity.notify(.exchanged(sent: 0, received: 0, status: nil))
            throw TidelogError(error)
        }
    }

    /// Returns the target of a redirect within the origin, or nil if there is none.
    private func redirect(of response: WireResponse, from request: String) -> String? {
        guard [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"]
        else { return nil }
        let target = absolute(resolve(location, from: request))
        return isOurs(target) ? target : nil
    }

    /// Sends a GET request, and returns the body of a success as it arrives. Any status is returned as a response.
    ///
    /// The call returns after the head of the response. Rejected credentials are renewed as in ``get(_:headers:)``.
    ///
    /// - Parameter isMedia: Whether the body is the content of a media stream, which may be larger than a page.
    package func stream(
        _ url: String, headers: HTTPHeaders = .empty, isMedia: Bool = false
    ) async throws(TidelogError) -> StreamedResponse {
        let request = WireRequest(method: "GET", url: url, headers: headers)
        let before = generation
        let answer = try await streamOnce(request, isMedia)
        guard await wantsRepetition(request, answer.response, before) else { return answer }
        return try await streamOnce(request, isMedia)
    }

    /// Sends a request that may modify data, with a CSRF token if the service requires one.
    ///
    /// A 403 with `X-CSRF-Token: Required` means that the service did not process the request. The session then fetches
    /// a new token and sends the request once more.
    ///
    /// - Parameter file: The body. If it is not nil, the body of the request is ignored.
    package func modify(
        _ request: WireRequest, file: RequestFile? = nil
    ) async throws(TidelogError) -> WireResponse {
        try await modify(request, content: file)
    }

    /// Sends a request whose content is read during the transmission.
    func modify(
        _ request: WireRequest, content file: (any RequestContent)?
    ) async throws(TidelogError) -> WireResponse {
        if needsToken, token == nil { try await fetchToken() }
        let response = try await send(withToken(request), file)
        guard response.status == 403, response.headers["X-CSRF-Token"]?.equalsIgnoringCase("Required") == true else {
            return response
        }
        needsToken = true
        try await fetchToken()
        return try await send(withToken(request), file)
    }

    /// Records that the service requires a CSRF token, which saves the rejection of the first modification.
    package func expectToken() { needsToken = true }

    /// Adds the CSRF token. It is as secret as the credentials, so it is sent to the service's origin only.
    private func withToken(_ request: WireRequest) -> WireRequest {
        guard let token, isOurs(absolute(request.url)) else { return request }
        var request = request
        request.headers["X-CSRF-Token"] = token
        return request
    }

    private func fetchToken() async throws(TidelogError) {
        token = nil
        let response: WireResponse
        do throws(TidelogError) {
            response = try await get("", headers: ["X-CSRF-Token": "Fetch", "Accept": "application/json,*/*;q=0.5"])
        } catch {
            // Without the transport's error, which describes this GET: the modification itself has not been sent.
            throw TidelogError(
                error.code, error.message, place: error.place, recovery: error.recovery,
                cause: (error.cause as? TransportError).map(RequestNotSentError.init))
        }
        let issued = response.headers["X-CSRF-Token"]
        token = issued?.equalsIgnoringCase("Required") == true ? nil : issued
        // A service without a service document may issue a token all the same.
        if token == nil { try response.requireSuccess("GET", root) }
    }

    // MARK: Authentication

    /// Sends the request, and once more if the service rejected the credentials and the hook returned new ones. Such a
    /// rejection means that the request was not processed.
    private func send(
        _ request: WireRequest, _ file: (any RequestContent)? = nil
    ) async throws(TidelogError) -> WireResponse {
        let before = generation
        let response = try await sendOnce(request, file)
        guard await wantsRepetition(request, response, before) else { return response }
        return try await sendOnce(request, file)
    }

    /// Returns whether the service rejected the credentials of this generation, and newer ones are available now.
    private func wantsRepetition(_ request: WireRequest, _ response: WireResponse, _ used: Int) async -> Bool {
        guard let authentication, request.headers["Authorization"] == nil, isOurs(absolute(request.url)),
            let challenge = challenge(in: response)
        else { return false }
        return await hasOthers(than: used, challenge, authentication)
    }

    private func challenge(in response: WireResponse) -> AuthenticationChallenge? {
        let schemes = response.headers.values("WWW-Authenticate")
        switch response.status {
        case 401: break
        // Other refusals are OData errors of the service itself. Other credentials of the same user would not change
        // them.
        case 403:
            guard response.headers["X-CSRF-Token"] == nil,
                !schemes.isEmpty || ServiceErrorReader.read(response.body) == nil
            else { return nil }
        default: return nil
        }
        return AuthenticationChallenge(status: response.status, schemes: schemes, service: root)
    }

    /// Returns whether newer credentials than those of the generation are available. Runs at most one call of the hook
    /// at a time.
    private func hasOthers(
        than used: Int, _ challenge: AuthenticationChallenge, _ hook: @escaping AuthenticationHook
    ) async -> Bool {
        guard generation == used else { return true }
        if let renewal { return await renewal.value }
        let asking = Task(executorPreference: executor) {
            guard let given = await hook(challenge) else { return false }
            await self.use(given)
            return true
        }
        renewal = asking
        let hasGiven = await asking.value
        renewal = nil
        return hasGiven
    }

    // MARK: Exchange

    private func sendOnce(
        _ request: WireRequest, _ file: (any RequestContent)?
    ) async throws(TidelogError) -> WireResponse {
        let (message, url) = try outgoing(request)
        let trace = trace
        let size = file?.count ?? request.body.count
        trace?.request(message, url: url, body: request.body, count: size)
        do throws(TransportError) {
            let (response, body): (HTTPResponse, [UInt8])
            if let file {
                (response, body) = try await transport.sendContent(message, file)
            } else {
                (response, body) = try await transport.send(message, body: request.body)
            }
            activity.notify(.exchanged(sent: size, received: body.count, status: response.status.code))
            trace?.response(response, to: request.method, url: url, body: body)
            return WireResponse(response, body)
        } catch {
            trace?.failure(error, of: request.method, url: url)
            activity.notify(.exchanged(sent: size, received: 0, status: nil))
            throw TidelogError(error)
        }
    }

    private func streamOnce(_ request: WireRequest, _ isMedia: Bool) async throws(TidelogError) -> StreamedResponse {
        let (message, url) = try outgoing(request)
        let trace = trace
        trace?.request(message, url: url, body: request.body)
        let (response, chunks): (HTTPResponse, ResponseBody)
        do throws(TransportError) {
            (response, chunks) =
                isMedia
                ? try await transport.media(message) : try await transport.stream(message, body: request.body)
        } catch {
            trace?.failure(error, of: request.method, url: url)
            activity.notify(.exchanged(sent: request.body.count, received: 0, status: nil))
            throw TidelogError(error)
        }
        let activity = activity
        let body = StreamedBody(
            .init(chunks, chunkCame: { activity.notify(.received($0)) }) { count, beginning, error in
                activity.notify(
                    .exchanged(
                        sent: request.body.count, received: count, status: error == nil ? response.status.code : nil))
                if let error {
                    trace?.failure(error, of: request.method, url: url)
                } else {
                    trace?.response(response, to: request.method, url: url, body: beginning, count: count)
                }
            })
        let head = WireResponse(response, [])
        if head.isSuccess { return StreamedResponse(response: head, body: body) }
        return StreamedResponse(
            response: WireResponse(response, try await Self.beginning(of: body)), body: StreamedBody())
    }

    /// Returns the beginning of a body of unknown length.
    private static func beginning(of body: StreamedBody) async throws(TidelogError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < StreamedResponse.errorLimit {
            guard let chunk = try await body.next() else { break }
            bytes += chunk.prefix(StreamedResponse.errorLimit - bytes.count)
        }
        return bytes
    }

    /// Returns the request with all added headers and credentials, and its URL.
    private func outgoing(_ request: WireRequest) throws(TidelogError) -> (HTTPRequest, url: String) {
        let url = absolute(request.url)
        guard let method = HTTPRequest.Method(request.method),
            var message = HTTPRequest(method: method, url: url)
        else {
            throw TidelogError(
                .invalidRequest, "\(URLText.withoutSecrets(url)) is not a valid URL for a request.",
                recovery: "Use an absolute http or https URL without user and password.")
        }
        let isOurs = isOurs(url)
        // Custom headers may be secret, so other origins receive only those of the protocol.
        let fields =
            isOurs
            ? headers.added(to: request).headers.fields : request.headers.fields.filter { Self.isPublic($0.name) }
        for field in fields {
            guard let name = HTTPField.Name(field.name) else {
                throw TidelogError(
                    .invalidRequest, "'\(field.name)' is not a valid name of a header.",
                    place: URLText.withoutSecrets(url),
                    recovery: "Correct the custom headers.")
            }
            message.headerFields.append(HTTPField(name: name, value: field.value))
        }
        if isOurs, request.headers["Authorization"] == nil { credentials.apply(to: &message) }
        if Task.isCancelled {
            throw TidelogError(
                TransportError(
                    .cancelled, "It was cancelled before \(request.method) was sent.", mayHaveBeenSent: false))
        }
        return (message, url)
    }

    /// Returns whether a header may be sent to an origin other than the service's.
    private static func isPublic(_ name: String) -> Bool {
        let names: Set<String> = [
            "accept", "content-type", "dataserviceversion", "if-none-match", "maxdataserviceversion",
            "odata-maxversion",
            "odata-version", "prefer", "range",
        ]
        return names.contains(name.lowercased())
    }

    // MARK: URLs

    private nonisolated func isOurs(_ url: String) -> Bool { address.withLock { $0.isOurs(url) } }

    /// Returns whether a URL, which may be relative, has the service's origin.
    package nonisolated func isOfService(_ url: String) -> Bool {
        address.withLock { $0.isOurs($0.absolute(url)) }
    }

    /// Resolves a link in the response to a request; see ``ServiceAddress/resolve(_:from:)``.
    package nonisolated func resolve(_ link: String, from request: String) -> String {
        address.withLock { $0.resolve(link, from: request) }
    }

    nonisolated func absolute(_ url: String) -> String { address.withLock { $0.absolute(url) } }
}

/// An error of the transport for another request than the intended one.
private struct RequestNotSentError: UncertainDelivery {
    let error: TransportError

    var mayHaveBeenSent: Bool { false }
}
