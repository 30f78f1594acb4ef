#if canImport(Darwin)
    import Foundation
    import HTTPTypes

    extension BackgroundTransport {
        /// Creates a transport whose transfers continue while the app is suspended.
        ///
        /// - Parameters:
        ///   - identifier: The identifier of the session, unique in the app. A process may create only one transport
        ///     with it.
        ///   - folder: An existing folder for the bodies of requests and responses, for this transport only. A folder in
        ///     *Application Support* with the protection `completeUntilFirstUserAuthentication`, so that it is available
        ///     in the background.
        ///   - options: The options, also of the requests in the foreground. `totalTimeout` and `mediaTimeout` limit the
        ///     time in which the system may complete a transfer.
        public convenience init(identifier: String, folder: String, options: TransportOptions = TransportOptions()) {
            let foreground = URLSessionTransport(options)
            self.init(
                URLSessionBackground(identifier, folder, options), foreground: foreground, cookies: foreground.cookies,
                folder: folder, options: options)
        }
    }

    /// A background session of URLSession. `@unchecked Sendable` because the lock guards its variables.
    ///
    /// The session retains its delegate, so both live as long as the process.
    final class URLSessionBackground: NSObject, BackgroundSession, URLSessionDataDelegate, URLSessionDownloadDelegate,
        @unchecked Sendable
    {
        /// A task that this process has started.
        private struct Running {
            var request: OutgoingRequest
            var task: URLSessionTask
            var maximumBytes: Int64
            var received: [UInt8] = []
            var file: String?
            var failure: (code: TransportError.Code, mayHaveBeenSent: Bool)?
        }

        let events: AsyncStream<BackgroundEvent>
        private let report: AsyncStream<BackgroundEvent>.Continuation
        private let folder: String
        private let connection: SystemConnection
        private let lock = NSLock()
        private var running: [String: Running] = [:]
        private var session: URLSession?

        init(_ identifier: String, _ folder: String, _ options: TransportOptions) {
            (events, report) = AsyncStream.makeStream()
            self.folder = folder
            connection = SystemConnection(options.connection)
            super.init()
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.httpShouldSetCookies = false
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.sessionSendsLaunchEvents = true
            configuration.isDiscretionary = false
            let limits = options.limits
            configuration.timeoutIntervalForRequest = limits.idleTimeout?.inSeconds ?? 7 * 86400
            let longest = [limits.totalTimeout, limits.mediaTimeout].map { $0?.inSeconds ?? 7 * 86400 }.max()
            configuration.timeoutIntervalForResource = longest ?? 7 * 86400
            connection.setProxy(of: configuration)
            let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            self.session = session
            session.getAllTasks { [report] tasks in
                let known = tasks.map { task in
                    if task.taskDescription == nil { task.taskDescription = UUID().uuidString }
                    return task.taskDescription ?? ""
                }
                report.yield(.restored(known))
            }
        }

        func start(_ request: BackgroundRequest) {
            guard let session, let outgoing = try? OutgoingRequest(request.request, body: []),
                var urlRequest = try? outgoing.urlRequest(), connection.problem == nil
            else {
                let code: TransportError.Code = connection.problem == nil ? .invalidRequest : .tls
                report.yield(.ended(request.id, .failure(code, mayHaveBeenSent: false)))
                return
            }
            urlRequest.setValue(request.request.headerFields[.cookie], forHTTPHeaderField: "Cookie")
            let task: URLSessionTask =
                if let file = request.file {
                    session.uploadTask(with: urlRequest, fromFile: URL(fileURLWithPath: file))
                } else {
                    session.downloadTask(with: urlRequest)
                }
            task.taskDescription = request.id
            lock.withLock {
                running[request.id] = Running(request: outgoing, task: task, maximumBytes: request.maximumBytes)
            }
            task.resume()
        }

        func cancel(_ id: String) {
            session?.getAllTasks { tasks in
                for task in tasks where task.taskDescription == id { task.cancel() }
            }
        }

        // MARK: Delegate

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            change(dataTask) { running in
                if Int64(running.received.count + data.count) > running.maximumBytes {
                    running.failure = (.tooLarge, true)
                    dataTask.cancel()
                } else {
                    running.received += data
                }
            }
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            change(downloadTask) { running in
                guard totalBytesWritten > running.maximumBytes else { return }
                running.failure = (.tooLarge, true)
                downloadTask.cancel()
            }
        }

        /// The file exists only until the end of this call.
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            change(downloadTask) { [folder] running in
                let path = BackgroundFile.path(folder, downloadTask.taskDescription ?? "", "response")
                do {
                    try FileManager.default.moveItem(at: location, to: URL(fileURLWithPath: path))
                    running.file = path
                } catch {
                    running.failure = (.other, true)
                }
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let id = task.taskDescription else { return }
            let ended: Running? = lock.withLock { running.removeValue(forKey: id) }
            report.yield(.ended(id, Self.outcome(ended, task, error)))
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            report.yield(.eventsReported)
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
                change(task) { $0.failure = (.tls, false) }
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }

        private func change(_ task: URLSessionTask, _ body: (inout Running) -> Void) {
            guard let id = task.taskDescription else { return }
            lock.withLock {
                guard var changed = running[id] else { return }
                body(&changed)
                running[id] = changed
            }
        }

        private static func outcome(
            _ running: Running?, _ task: URLSessionTask, _ error: (any Error)?
        ) -> BackgroundOutcome {
            let failure: BackgroundOutcome? =
                if let failure = running?.failure {
                    .failure(failure.code, mayHaveBeenSent: failure.mayHaveBeenSent)
                } else if let error = error as? URLError, let request = running?.request {
                    Self.failure(request.error(error))
                } else if error != nil || running == nil {
                    .failure(.other, mayHaveBeenSent: true)
                } else {
                    nil
                }
            if let failure {
                if let file = running?.file { BackgroundFile.remove(file) }
                return failure
            }
            guard let response = task.response as? HTTPURLResponse else {
                return .failure(.protocolViolation, mayHaveBeenSent: true)
            }
            let body: BackgroundResponse.Body = running?.file.map { .file($0) } ?? .bytes(running?.received ?? [])
            return .response(
                BackgroundResponse(head: response.head, url: response.url?.absoluteString, body: body))
        }

        private static func failure(_ error: TransportError) -> BackgroundOutcome {
            .failure(error.code, mayHaveBeenSent: error.mayHaveBeenSent)
        }
    }
#endif
