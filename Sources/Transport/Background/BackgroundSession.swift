package import HTTPTypes

/// A session whose transfers continue while the app is suspended, such as a background session of URLSession.
package protocol BackgroundSession: Sendable {
    /// The events in the order in which they happened. Read once. The first is the list of the tasks that the session
    /// had when the process started.
    var events: AsyncStream<BackgroundEvent> { get }
    func start(_ request: BackgroundRequest)
    /// Cancels a task, which ends with an event. Without effect if it has ended.
    func cancel(_ id: String)
}

/// A request for a background session.
package struct BackgroundRequest: Sendable {
    /// Unique for all processes.
    package var id: String
    package var request: HTTPRequest
    /// The file that is the body of the request. `nil` for a request without a body, whose response is a file.
    package var file: String?
    /// The maximum size of the response's body.
    package var maximumBytes: Int64
}

package enum BackgroundEvent: Sendable {
    /// The identifiers of the tasks of earlier processes. A task without one has a new one.
    case restored([String])
    /// A task has ended.
    case ended(String, BackgroundOutcome)
    /// All events for which the system started or resumed the app were reported.
    case eventsReported
}

/// The end of a task.
package enum BackgroundOutcome: Sendable, Hashable {
    case response(BackgroundResponse)
    case failure(TransportError.Code, mayHaveBeenSent: Bool)

    /// The file of the response.
    var file: String? {
        if case .response(let response) = self, case .file(let path) = response.body { return path }
        return nil
    }
}

package struct BackgroundResponse: Sendable, Hashable {
    package enum Body: Sendable, Hashable {
        case bytes([UInt8])
        /// A file that the receiver removes.
        case file(String)
    }

    package var head: HTTPResponse
    /// The URL after redirects.
    package var url: String?
    package var body: Body

    package init(head: HTTPResponse, url: String?, body: Body) {
        (self.head, self.url, self.body) = (head, url, body)
    }
}
