#if canImport(Darwin)
    import Foundation
    public import HTTPTypes

    /// HTTP through URLSession, with the system's proxies, certificates and power saving.
    ///
    /// Bodies are held in memory, within ``ResponseLimits``, and counted while they arrive. If a reused connection
    /// turns out to be dead, URLSession itself repeats idempotent requests (RFC 9110, section 9.2.2), never POST,
    /// PATCH or MERGE.
    public final class URLSessionTransport: HTTPTransport {
        private let options: TransportOptions
        private let session: URLSession
        private let connection: SystemConnection

        /// Creates a transport with a session of its own, whose cookies and caches are in memory.
        public init(_ options: TransportOptions = TransportOptions()) {
            self.options = options
            // Cookies and caches are in memory, for this transport only.
            let configuration = URLSessionConfiguration.ephemeral
            // Cookies are set in the header explicitly: those of the app belong to one request and not into the
            // store.
            configuration.httpShouldSetCookies = false
            configuration.httpMaximumConnectionsPerHost = max(1, options.connectionsPerHost)
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.urlCache = nil
            let limits = options.limits
            configuration.timeoutIntervalForRequest = limits.idleTimeout?.inSeconds ?? 7 * 86400
            configuration.timeoutIntervalForResource = limits.totalTimeout?.inSeconds ?? 7 * 86400
            connection = SystemConnection(options.connection)
            connection.setProxy(of: configuration)
            session = URLSession(configuration: configuration)
        }

        deinit { session.finishTasksAndInvalidate() }

        /// Sends a request and returns its response, whose body is in memory.
        ///
        /// - Throws: A ``TransportError`` if there is no complete response.
        public func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            let (response, body, _) = try await exchange(request, body: body, .buffered)
            return (response, body)
        }

        /// Sends a request and returns when the head of the response is complete.
        ///
        /// - Throws: A ``TransportError`` if there is no head of a response.
        public func stream(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
            let (response, body, _) = try await exchange(request, body: body, .streamed)
            return (response, ResponseBody(body))
        }

        /// Sends a GET for a media stream, within the limits for media streams.
        ///
        /// - Throws: A ``TransportError`` if there is no head of a response.
        public func media(
            _ request: HTTPRequest
        ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
            let (response, body, _) = try await exchange(request, body: [], .media)
            return (response, ResponseBody(body))
        }

        /// Sends a GET, and returns the URL of the response in addition if it was redirected.
        ///
        /// - Throws: A ``TransportError`` if there is no complete response.
        public func locate(
            _ request: HTTPRequest
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8], location: String?) {
            try await exchange(request, body: [], .buffered)
        }

        private func exchange(
            _ request: HTTPRequest, body: [UInt8], _ use: ResponseMeter.BodyUse
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8], location: String?) {
            _ = try OutgoingRequest(request, body: [])
            let outgoing = try OutgoingRequest(try await options.authorize(request), body: body)
            if let problem = connection.problem { throw outgoing.error(.tls, problem, sent: false) }
            var urlRequest = try outgoing.urlRequest()
            urlRequest.setValue(session.cookies(for: outgoing, at: urlRequest.url), forHTTPHeaderField: "Cookie")
            let exchange = Exchange(outgoing, options, connection)
            do {
                let (bytes, response) = try await session.bytes(for: urlRequest, delegate: exchange)
                if let failure = exchange.failure { throw failure }
                guard let response = response as? HTTPURLResponse else {
                    throw outgoing.error(.protocolViolation, "no response was received", sent: true)
                }
                session.keepCookies(of: response)
                let isRedirect =
                    (301...308).contains(response.statusCode) && response.head.headerFields[.location] != nil
                var meter = ResponseMeter(options.limits, use, status: response.statusCode, isRedirect: isRedirect)
                let body = try await Self.body(bytes, &meter, outgoing)
                if let failure = exchange.failure { throw failure }
                let location = response.url == urlRequest.url ? nil : response.url?.absoluteString
                return (response.head, body, location)
            } catch let error as TransportError {
                throw error
            } catch let error as URLError {
                throw exchange.failure ?? outgoing.error(error)
            } catch is CancellationError {
                throw outgoing.error(.cancelled, "it was cancelled", sent: true)
            } catch {
                throw exchange.failure ?? outgoing.error(.other, "it failed", sent: true)
            }
        }
    }

    extension URLSessionTransport {
        /// The cookies of this transport, for one in the background.
        var cookies: BackgroundCookies {
            BackgroundCookies(
                header: { [session] request in
                    guard let outgoing = try? OutgoingRequest(request, body: []) else { return nil }
                    return session.cookies(for: outgoing, at: URL(string: outgoing.url.text))
                },
                keep: { [session] head, request in
                    guard let outgoing = try? OutgoingRequest(request, body: []),
                        let url = URL(string: outgoing.url.text)
                    else { return }
                    session.keepCookies(head.headerFields, of: url)
                })
        }

        /// Reads the body within the limits.
        private static func body(
            _ bytes: URLSession.AsyncBytes, _ meter: inout ResponseMeter, _ request: OutgoingRequest
        ) async throws -> [UInt8] {
            var body: [UInt8] = []
            var counted = 0
            /// Returns whether the body continues.
            func count() throws -> Bool {
                let new = body.count - counted
                let verdict = meter.count(new, received: bytes.task.countOfBytesReceived)
                body.removeLast(new - verdict.kept)
                counted = body.count
                switch verdict.end {
                case .none: return true
                case .cut: bytes.task.cancel()
                case .refused(let sentence):
                    bytes.task.cancel()
                    throw request.error(.tooLarge, sentence, sent: true)
                }
                return false
            }
            for try await byte in bytes {
                body.append(byte)
                if body.count - counted >= 1 << 16, try !count() { return body }
            }
            _ = try count()
            return body
        }
    }

    /// Handles the redirects of one exchange. `@unchecked Sendable` because the lock guards its variables.
    private final class Exchange: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
        private let request: OutgoingRequest
        private let options: TransportOptions
        private let connection: SystemConnection
        private let lock = NSLock()
        private var redirects = 0
        private var stored: TransportError?

        init(_ request: OutgoingRequest, _ options: TransportOptions, _ connection: SystemConnection) {
            self.request = request
            self.options = options
            self.connection = connection
        }

        var failure: TransportError? { lock.withLock { stored } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            session.keepCookies(of: response)
            let location = newRequest.url?.absoluteString ?? ""
            switch request.decision(status: response.statusCode, location: location) {
            case .returnResponse:
                completionHandler(nil)
            case .follow:
                let count = lock.withLock {
                    redirects += 1
                    return redirects
                }
                if count > options.limits.maximumRedirects {
                    refuse(
                        task, "the service redirected the request more than \(options.limits.maximumRedirects) times")
                    return completionHandler(nil)
                }
                // Method, headers and body are restored, because URLSession omits some of them.
                var next = task.originalRequest ?? newRequest
                next.url = newRequest.url
                next.setValue(session.cookies(for: request, at: next.url), forHTTPHeaderField: "Cookie")
                completionHandler(next)
            case .refuse(let target):
                refuse(
                    task, "the service redirected the request to \(target), which has another origin",
                    sent: OutgoingRequest.mayHaveBeenDone(status: response.statusCode))
                completionHandler(nil)
            }
        }

        private func refuse(_ task: URLSessionTask, _ sentence: String, sent: Bool = true) {
            let error = request.error(.redirectRefused, sentence, sent: sent)
            lock.withLock { stored = error }
            task.cancel()
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            switch connection.answer(to: challenge) {
            case .system: completionHandler(.performDefaultHandling, nil)
            case .use(let credential): completionHandler(.useCredential, credential)
            case .reject: completionHandler(.rejectProtectionSpace, nil)
            case .refuse:
                let sentence = "the app does not trust the certificate of the server"
                lock.withLock { stored = request.error(.tls, sentence, sent: false) }
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }
    }

    extension URLSession {
        /// Returns the cookies that the service has set for the URL, followed by those of the request.
        fileprivate func cookies(for request: OutgoingRequest, at url: URL?) -> String? {
            var pairs: [String] = []
            if let url, let kept = configuration.httpCookieStorage?.cookies(for: url) {
                pairs = kept.map { "\($0.name)=\($0.value)" }
            }
            for field in request.headerFields where field.name == .cookie { pairs.append(field.value) }
            return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
        }

        fileprivate func keepCookies(of response: HTTPURLResponse) {
            guard let url = response.url else { return }
            var fields: [String: String] = [:]
            for case (let name as String, let value as String) in response.allHeaderFields { fields[name] = value }
            keepCookies(fields, of: url)
        }

        fileprivate func keepCookies(_ head: HTTPFields, of url: URL) {
            var fields: [String: String] = [:]
            for field in head { fields[field.name.rawName] = field.value }
            keepCookies(fields, of: url)
        }

        private func keepCookies(_ fields: [String: String], of url: URL) {
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
            configuration.httpCookieStorage?.setCookies(cookies, for: url, mainDocumentURL: nil)
        }
    }

    extension OutgoingRequest {
        func urlRequest() throws(TransportError) -> URLRequest {
            guard let target = URL(string: url.text) else {
                throw error(.invalidRequest, "the URL is not valid", sent: false)
            }
            var urlRequest = URLRequest(url: target)
            urlRequest.httpMethod = method
            for field in headerFields where field.name != .contentLength && field.name != .cookie {
                urlRequest.addValue(field.value, forHTTPHeaderField: field.name.rawName)
            }
            if !body.isEmpty { urlRequest.httpBody = Data(body) }
            return urlRequest
        }

        func error(_ code: TransportError.Code, _ sentence: String, sent: Bool) -> TransportError {
            TransportError(code, "\(name): \(sentence).", mayHaveBeenSent: sent)
        }

        /// Returns the transport error. Unless URLSession excludes it, the request may have been sent.
        func error(_ error: URLError) -> TransportError {
            switch error.code {
            case .cancelled: self.error(.cancelled, "it was cancelled", sent: true)
            case .badURL, .unsupportedURL: self.error(.invalidRequest, "the URL is not valid", sent: false)
            case .cannotFindHost, .dnsLookupFailed:
                self.error(.resolve, "the host name cannot be resolved", sent: false)
            case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed:
                self.error(.unreachable, "the server refused the connection", sent: false)
            case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
                .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot, .clientCertificateRejected,
                .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
                self.error(.tls, "no secure connection could be established", sent: false)
            case .timedOut: self.error(.timeout, "it timed out", sent: true)
            case .networkConnectionLost: self.error(.disconnected, "the connection was lost", sent: true)
            case .badServerResponse, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData:
                self.error(.protocolViolation, "the response is not valid HTTP", sent: true)
            default: self.error(.other, "it failed (URLError \(error.code.rawValue))", sent: true)
            }
        }
    }

    extension HTTPURLResponse {
        /// URLSession has already joined repeated fields.
        var head: HTTPResponse {
            var response = HTTPResponse(status: .init(code: min(max(statusCode, 0), 999)))
            for case (let name as String, let value as String) in allHeaderFields {
                if let name = HTTPField.Name(name) { response.headerFields.append(HTTPField(name: name, value: value)) }
            }
            return response
        }
    }

    extension Duration {
        var inSeconds: TimeInterval {
            TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18
        }
    }
#endif
