import HTTPTypes
public import ODataWire
import Synchronization
public import Transport

/// Talks to one OData service: completes URLs and headers, fetches the CSRF token, and turns what is no OData into errors.
public actor ServiceSession {
    /// The roots of the service: that which requests go to, and that which was given, if it redirects there.
    private nonisolated let roots: Mutex<(current: String, given: String)>
    private let transport: any HTTPTransport
    private var credentials: Credentials
    private let authentication: AuthenticationHook?
    /// Bounds on what the service may send.
    package nonisolated let limits: ServiceLimits
    /// Counts new credentials, so that a request that was refused with earlier ones is not a reason to ask for others.
    private var generation = 0
    /// While the hook is asked; nil tells nothing of whether it gave any.
    private var renewal: Task<Bool, Never>?
    private var token: String?
    /// Services that once demanded a token are asked for one before the first modification of later calls too.
    private var needsToken = false
    private nonisolated let tracing = Mutex<RequestTrace?>(nil)
    private nonisolated let added = Mutex(SessionHeaders())
    /// Is told of each exchange.
    nonisolated let activity = SyncActivity()

    /// - Parameter credentials: sent with every request to the service's origin, and nowhere else: next links and entity
    ///   links come from the service and may lead elsewhere.
    /// - Parameter authentication: asked for other credentials when the service refuses these.
    /// - Parameter limits: those of single responses are the transport's own.
    public init(
        root: String, transport: any HTTPTransport, credentials: Credentials = .none,
        authentication: AuthenticationHook? = nil, limits: ServiceLimits = ServiceLimits()
    ) {
        self.limits = limits
        let root = root.hasSuffix("/") ? root : root + "/"
        roots = Mutex((root, root))
        self.transport = transport
        self.credentials = credentials
        self.authentication = authentication
    }

    /// Absolute, with a slash at its end. Where the root that was given redirects, this is the root that it leads to.
    public nonisolated var root: String { roots.withLock { $0.current } }

    /// The root that was given; the service may still use it in its links.
    public nonisolated var givenRoot: String { roots.withLock { $0.given } }

    /// Goes on at another root of the same origin, such as that of a session of its own: `…/(S(abc))/OData.svc/`.
    ///
    /// Returns false, and changes nothing, if the root is of another origin.
    @discardableResult
    public nonisolated func move(to root: String) -> Bool {
        guard isOurs(root) else { return false }
        roots.withLock { $0.current = root.hasSuffix("/") ? root : root + "/" }
        return true
    }

    /// Takes effect with the next request.
    public func use(_ credentials: Credentials) {
        self.credentials = credentials
        generation += 1
        // Given to whoever was there before.
        token = nil
    }

    /// What is sent with every request to the service from now on.
    public nonisolated var headers: SessionHeaders {
        get { added.withLock { $0 } }
        set { added.withLock { $0 = newValue } }
    }

    /// What is told of each request from now on; nil for nothing.
    public nonisolated var trace: RequestTrace? {
        get { tracing.withLock { $0 } }
        set { tracing.withLock { $0 = newValue } }
    }

    /// Sends a request that changes nothing. Any status comes back as a response.
    public func get(_ url: String, headers: HTTPHeaders = .empty) async throws(TidelogError) -> WireResponse {
        try await send(WireRequest(method: "GET", url: url, headers: headers))
    }

    /// The most redirects that are followed for a transport that does not follow them.
    private static var redirectLimit: Int { 5 }

    /// Sends a GET for a resource of the service, and goes on at the root that it is redirected to, where that is of the same
    /// origin and has the resource under the same name. Any other status comes back as a response.
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
            .unreachable, "The service redirects more than \(Self.redirectLimit) times.",
            place: "GET \(root)\(resource)",
            recovery: "Check the service root.")
    }

    private func locateOnce(_ request: WireRequest) async throws(TidelogError) -> (WireResponse, location: String?) {
        let (message, url) = try outgoing(request)
        let trace = trace
        trace?.request(message, url: url, body: [])
        do throws(TransportError) {
            let (response, body, location) = try await transport.locate(message)
            activity.tell(.exchanged(sent: 0, received: body.count, status: response.status.code))
            trace?.response(response, to: request.method, url: url, body: body)
            return (WireResponse(response, body), location)
        } catch {
            trace?.failure(error, of: request.method, url: url)
            activity.tell(.exchanged(sent: 0, received: 0, status: nil))
            throw TidelogError(error)
        }
    }

    /// Where a response redirects to, within the origin; nil if it does not.
    private func redirect(of response: WireResponse, from request: String) -> String? {
        guard [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"]
        else { return nil }
        let target = absolute(resolve(location, from: request))
        return isOurs(target) ? target : nil
    }

    /// Sends a GET, and gives the body of a success as it arrives. Any status comes back as a response.
    ///
    /// Returns with the head of the answer. Refused credentials are renewed as with ``get(_:headers:)``.
    ///
    /// - Parameter isMedia: whether it is the content of a media stream, which may be larger than a page.
    public func stream(
        _ url: String, headers: HTTPHeaders = .empty, isMedia: Bool = false
    ) async throws(TidelogError) -> StreamedResponse {
        let request = WireRequest(method: "GET", url: url, headers: headers)
        let before = generation
        let answer = try await streamOnce(request, isMedia)
        guard await wantsRepetition(request, answer.response, before) else { return answer }
        return try await streamOnce(request, isMedia)
    }

    /// Sends a request that may change something, with a CSRF token where the service wants one.
    ///
    /// A 403 with `X-CSRF-Token: Required` says that the request was not looked at; a new token is fetched and the request
    /// sent once more.
    ///
    /// - Parameter file: holds the body; that of the request is not looked at then.
    public func modify(
        _ request: WireRequest, file: RequestFile? = nil
    ) async throws(TidelogError) -> WireResponse {
        try await modify(request, content: file)
    }

    /// The same with content that is read while it is sent.
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

    /// Says that the service is one of those that want a token, so that the first modification is not refused in vain.
    public func expectToken() { needsToken = true }

    /// The token is a secret like the credentials: it goes to the service's origin only.
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
            response = try await get("", headers: ["X-CSRF-Token": "Fetch", "Accept": "application/json"])
        } catch {
            // Without the transport's error, which tells of this GET: the modification itself has not been sent.
            throw TidelogError(
                error.code, error.message, place: error.place, recovery: error.recovery,
                cause: (error.cause as? TransportError).map(NothingSent.init))
        }
        try Self.check(response, "GET", root)
        token = response.headers["X-CSRF-Token"]
    }

    // MARK: Authentication

    /// Sends the request, and once more where the service wanted other credentials and the hook has given some: it says with
    /// such an answer that it has not looked at the request.
    private func send(
        _ request: WireRequest, _ file: (any RequestContent)? = nil
    ) async throws(TidelogError) -> WireResponse {
        let before = generation
        let response = try await sendOnce(request, file)
        guard await wantsRepetition(request, response, before) else { return response }
        return try await sendOnce(request, file)
    }

    /// Whether the service wanted other credentials than those of the generation, and there are some now.
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
        // Other refusals are the service's own decision, which it says in OData's words, and other credentials of the same
        // person change nothing about it.
        case 403:
            guard response.headers["X-CSRF-Token"] == nil,
                !schemes.isEmpty || ServiceErrorReader.read(response.body) == nil
            else { return nil }
        default: return nil
        }
        return AuthenticationChallenge(status: response.status, schemes: schemes, service: root)
    }

    /// Whether there are other credentials than those of the generation. Asks the hook at most once at a time.
    private func hasOthers(
        than used: Int, _ challenge: AuthenticationChallenge, _ hook: @escaping AuthenticationHook
    ) async -> Bool {
        guard generation == used else { return true }
        if let renewal { return await renewal.value }
        let asking = Task {
            guard let given = await hook(challenge) else { return false }
            self.use(given)
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
            activity.tell(.exchanged(sent: size, received: body.count, status: response.status.code))
            trace?.response(response, to: request.method, url: url, body: body)
            return WireResponse(response, body)
        } catch {
            trace?.failure(error, of: request.method, url: url)
            activity.tell(.exchanged(sent: size, received: 0, status: nil))
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
            activity.tell(.exchanged(sent: request.body.count, received: 0, status: nil))
            throw TidelogError(error)
        }
        let activity = activity
        let body = StreamedBody(
            .init(chunks, chunkCame: { activity.tell(.received($0)) }) { count, beginning, error in
                activity.tell(
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

    /// Of a body that may be of any length.
    @inline(never) @_optimize(none)
    private static func beginning(of body: StreamedBody) async throws(TidelogError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < StreamedResponse.errorLimit {
            guard let chunk = try await body.next() else { break }
            bytes += chunk.prefix(StreamedResponse.errorLimit - bytes.count)
        }
        return bytes
    }

    /// The request with all that is sent besides, and its URL.
    private func outgoing(_ request: WireRequest) throws(TidelogError) -> (HTTPRequest, url: String) {
        let url = absolute(request.url)
        guard let method = HTTPRequest.Method(request.method),
            var message = HTTPRequest(method: method, url: url)
        else {
            throw TidelogError(
                .invalidRequest, "\(URLText.withoutSecrets(url)) is not a URL that can be requested.",
                recovery: "Use an absolute http or https URL without a user and password in it.")
        }
        let isOurs = isOurs(url)
        for field in (isOurs ? headers.added(to: request) : request).headers.fields {
            guard let name = HTTPField.Name(field.name) else {
                throw TidelogError(
                    .invalidRequest, "'\(field.name)' is no name for a header.", place: URLText.withoutSecrets(url),
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

    /// Whether the URL, an absolute one, is of the service's origin.
    private nonisolated func isOurs(_ url: String) -> Bool { Self.origin(of: url) == Self.origin(of: root) }

    /// Whether the URL, which may be relative, leads to the service's origin.
    package nonisolated func isOfService(_ url: String) -> Bool { isOurs(absolute(url)) }

    /// Scheme, host and port, in one of the ways in which they can be written (RFC 3986, 6.2.2.1 and 6.2.3); empty for what is
    /// no absolute URL.
    package static func origin(of url: String) -> String {
        guard let separator = url.firstRange(of: "://") else { return "" }
        let end = url[separator.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        let origin = url[..<end].lowercased()
        let port = origin.hasPrefix("https:") ? ":443" : ":80"
        return origin.hasSuffix(port) ? String(origin.dropLast(port.count)) : origin
    }

    /// A link in the answer to a request, as it can be asked for.
    ///
    /// What begins with a slash is below the origin, and what begins with a question mark is about what was asked (RFC 3986,
    /// 5.2.2). What is relative in another way is below the root, as all URLs of the engine.
    package nonisolated func resolve(_ link: String, from request: String) -> String {
        let base = absolute(request)
        if link.hasPrefix("?") { return base.prefix { $0 != "?" && $0 != "#" } + link }
        guard link.hasPrefix("/"), let scheme = base.firstRange(of: "://") else { return link }
        if link.hasPrefix("//") { return base[..<scheme.lowerBound] + ":" + link }
        let end = base[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? base.endIndex
        return base[..<end] + link
    }

    nonisolated func absolute(_ url: String) -> String {
        let (root, given) = roots.withLock { $0 }
        // The service may go on using the root that it redirects from.
        if given != root, url.hasPrefix(given), !url.hasPrefix(root) {
            return absolute(String(url.dropFirst(given.count)))
        }
        // Only a scheme at the beginning makes a URL absolute: keys and query options may hold URLs too.
        let start = url.prefix(8).lowercased()
        let isAbsolute = start.hasPrefix("http://") || start.hasPrefix("https://")
        let text = isAbsolute ? url : root + (url.hasPrefix("/") ? String(url.dropFirst()) : url)
        return URLText.encoded(text)
    }

    /// Throws where the status is no success, with the service's own words.
    public static func check(_ response: WireResponse, _ method: String, _ url: String) throws(TidelogError) {
        guard !response.isSuccess else { return }
        let place = "\(method) \(url.prefix { $0 != "?" })"
        let words = ServiceErrorReader.read(response.body).map { ": \($0.message)" } ?? ""
        switch response.status {
        case 401, 403:
            throw TidelogError(
                .unauthorized, "The service refused with status \(response.status)\(words).", place: place,
                recovery: "Check the credentials.", cause: UnsuccessfulAnswer(response))
        case 404:
            throw TidelogError(
                .service(status: 404), "The service has nothing there (404)\(words).", place: place,
                recovery: "Check the URL.", cause: UnsuccessfulAnswer(response))
        case 301, 302, 303, 307, 308:
            let target = response.headers["Location"].map { " to \(URLText.withoutSecrets($0))" } ?? ""
            throw TidelogError(
                .service(status: response.status),
                "The service redirects\(target) (\(response.status)); nothing was done.", place: place,
                recovery:
                    "Read the metadata again ('tidelog refresh-metadata'): the store then goes over to the address "
                    + "that the service has now, if that is of the same origin. Otherwise make a store for that address.",
                cause: UnsuccessfulAnswer(response))
        default:
            throw TidelogError(
                .service(status: response.status), "The service answered with status \(response.status)\(words).",
                place: place, cause: UnsuccessfulAnswer(response))
        }
    }
}

extension WireResponse {
    fileprivate init(_ response: HTTPResponse, _ body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in response.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        self.init(status: response.status.code, headers: headers, body: body)
    }
}

/// The transport's error, of another request than the one that was meant.
private struct NothingSent: UncertainDelivery {
    let error: TransportError

    var mayHaveBeenSent: Bool { false }
}

extension TidelogError {
    init(_ error: TransportError) {
        switch error.code {
        case .invalidRequest: self.init(.invalidRequest, error.message, cause: error)
        case .libraryMissing: self.init(.unsupported, error.message, cause: error)
        case .errorTrailer:
            self.init(
                .service(status: 200), error.message,
                recovery: "Nothing of the answer was taken and nothing was removed; try again.",
                cause: ErrorTrailer(error: error))
        case .protocolViolation: self.init(.notOData, error.message, cause: error)
        case .tooLarge:
            self.init(
                .tooLarge, error.message,
                recovery: "Ask for less at once (a smaller page, $select, $filter), or raise the limits.", cause: error)
        case .cancelled:
            self.init(
                .cancelled, error.message, recovery: "Nothing is lost; the next upload or download goes on from here.",
                cause: error)
        default:
            self.init(
                .unreachable, error.message, recovery: "Nothing is lost; try again when the service can be reached.",
                cause: error)
        }
    }
}
