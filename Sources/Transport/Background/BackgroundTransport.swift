public import HTTPTypes

/// Sends uploads and downloads in the background: they continue while the app is suspended.
///
/// Requests with a body (batches, media streams) and the reading of pages and media streams use a background session.
/// All other requests, such as for metadata and tokens, are small, and use the transport in the foreground.
///
/// If the process ends, its transfers are cancelled when the next one uses the transport. No request, including one in
/// the foreground, is sent before all of them have ended, because a lookup of operations in doubt must not precede
/// their effect. The store then decides about these operations as after a lost connection.
///
/// A background session has limits of its own: the system follows redirects, also with credentials, and responses from
/// other origins are refused only when they arrive. The bodies of requests are in files in the folder while they are
/// sent, unencrypted and readable for the app only.
public final class BackgroundTransport: HTTPTransport {
    private let foreground: any HTTPTransport
    private let cookies: BackgroundCookies
    private let options: TransportOptions
    private let folder: String
    private let driver: BackgroundDriver

    /// - Parameters:
    ///   - foreground: Sends the requests that do not use the session.
    ///   - folder: An existing folder for the bodies of requests and responses, for this transport only.
    package init(
        _ session: any BackgroundSession, foreground: any HTTPTransport, cookies: BackgroundCookies, folder: String,
        options: TransportOptions
    ) {
        self.foreground = foreground
        self.cookies = cookies
        self.options = options
        self.folder = folder
        let leftovers = BackgroundFile.all(in: folder)
        driver = BackgroundDriver(session) { leftovers.forEach(BackgroundFile.remove) }
    }

    /// Returns when the system has reported all events for which it has started or resumed the app.
    ///
    /// Call it in `application(_:handleEventsForBackgroundURLSession:)`, and let the running upload or download end
    /// before that returns.
    public func eventsReported() async { await driver.eventsReported() }

    /// Sends a request, in the background if it has a body, and returns its response.
    ///
    /// - Throws: A ``TransportError`` if there is no complete response.
    public func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        if body.isEmpty {
            await driver.waitUntilOpen(Self.newID())
            return try await foreground.send(request, body: body)
        }
        let id = Self.newID()
        let path = BackgroundFile.path(folder, id, "request")
        guard BackgroundFile.write(body, to: path) else {
            throw TransportError(.other, "The file \(path) cannot be written.", mayHaveBeenSent: false)
        }
        defer { BackgroundFile.remove(path) }
        return try await upload(request, path, id)
    }

    /// Sends a request whose body is a file, in the background.
    ///
    /// - Throws: A ``TransportError`` if there is no complete response.
    public func send(
        _ request: HTTPRequest, file: RequestFile
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        try await upload(request, file.path, Self.newID())
    }

    /// Sends a GET in the foreground, and returns the URL of the response in addition.
    ///
    /// - Throws: A ``TransportError`` if there is no complete response.
    public func locate(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8], location: String?) {
        await driver.waitUntilOpen(Self.newID())
        return try await foreground.locate(request)
    }

    /// Sends a request and returns its body as a stream; without a request body, in the background.
    ///
    /// - Throws: A ``TransportError`` if there is no response.
    public func stream(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        if !body.isEmpty {
            await driver.waitUntilOpen(Self.newID())
            return try await foreground.stream(request, body: body)
        }
        return try await download(request, options.limits.streamedBytes)
    }

    /// Sends a GET for a media stream in the background, within the limits for media streams.
    ///
    /// - Throws: A ``TransportError`` if there is no response.
    public func media(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        try await download(request, options.limits.mediaBytes)
    }

    private func upload(
        _ request: HTTPRequest, _ file: String, _ id: String
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let (response, name) = try await exchange(request, file, id, options.limits.bufferedBytes)
        switch response.body {
        case .bytes(let bytes): return (response.head, bytes)
        case .file(let path):
            var bytes: [UInt8] = []
            for try await chunk in try BackgroundFile.body(path, name: name) { bytes += chunk }
            return (response.head, bytes)
        }
    }

    private func download(
        _ request: HTTPRequest, _ limit: Int64
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        let (response, name) = try await exchange(request, nil, Self.newID(), limit)
        switch response.body {
        case .bytes(let bytes): return (response.head, ResponseBody(bytes))
        case .file(let path): return (response.head, try BackgroundFile.body(path, name: name))
        }
    }

    /// Executes a request. The name is that of the request in messages.
    private func exchange(
        _ request: HTTPRequest, _ file: String?, _ id: String, _ limit: Int64
    ) async throws(TransportError) -> (response: BackgroundResponse, name: String) {
        let checked = try OutgoingRequest(request, body: [])
        var authorized = try await options.authorize(request)
        authorized.headerFields[.cookie] = cookies.header(authorized)
        let outcome = await driver.outcome(
            of: BackgroundRequest(id: id, request: authorized, file: file, maximumBytes: limit))
        switch outcome {
        case .failure(let code, let mayHaveBeenSent):
            let message = "\(checked.name): \(Self.sentence(code))."
            throw TransportError(code, message, mayHaveBeenSent: mayHaveBeenSent)
        case .response(let response):
            if let url = response.url.flatMap(RequestURL.init), url.origin != checked.url.origin {
                if let file = outcome.file { BackgroundFile.remove(file) }
                let message =
                    "\(checked.name): the service redirected the request to \(url.origin), which has another origin."
                throw TransportError(.redirectRefused, message, mayHaveBeenSent: true)
            }
            if let method = response.method, method != request.method.rawValue {
                if let file = outcome.file { BackgroundFile.remove(file) }
                let message =
                    "\(checked.name): the system followed a redirect with the method \(method), so the response is not that of the request."
                throw TransportError(.redirectRefused, message, mayHaveBeenSent: true)
            }
            cookies.keep(response.head, authorized)
            return (response, checked.name)
        }
    }

    private static func sentence(_ code: TransportError.Code) -> String {
        switch code {
        case .cancelled: "it was cancelled"
        case .tooLarge: "the response exceeds the size limit"
        default: CurlResult.sentence(code)
        }
    }

    private static func newID() -> String {
        let parts = [UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)]
        return parts.map { String($0, radix: 36) }.joined()
    }
}

/// The cookies of the transport in the foreground.
package struct BackgroundCookies: Sendable {
    /// Returns the cookies for a request, followed by those that it has.
    package var header: @Sendable (HTTPRequest) -> String?
    /// Stores the cookies of a response.
    package var keep: @Sendable (HTTPResponse, HTTPRequest) -> Void

    package init(
        header: @escaping @Sendable (HTTPRequest) -> String? = { $0.headerFields[.cookie] },
        keep: @escaping @Sendable (HTTPResponse, HTTPRequest) -> Void = { _, _ in }
    ) {
        (self.header, self.keep) = (header, keep)
    }
}
