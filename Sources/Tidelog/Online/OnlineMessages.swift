import ODataWire
public import OfflineStore
import Synchronization

/// Messages of the service about a request that it carried out, such as a warning.
public struct OnlineMessages: Sendable, Hashable {
    /// The method and the URL of the request, such as `PATCH Orders(1)`.
    public let request: String
    /// The messages in the order of the response. Their `operation` is 0, because nothing is queued.
    public let messages: [UploadReport.ServiceMessage]
}

extension OnlineODataProvider {
    /// The function that receives the messages of the service about changes and calls, or nil for none.
    ///
    /// SAP services send them in the header `sap-message` (V2) or `sap-messages` (V4) of a successful response. The
    /// function is called before the call of the app returns, once for each request with messages, and for concurrent
    /// calls on several threads at once.
    public var messageHandler: (@Sendable (OnlineMessages) -> Void)? {
        get { messages.handler }
        set { messages.handler = newValue }
    }
}

/// Passes messages of the service to the function of the app.
final class MessageReceiver: Sendable {
    private let stored = Mutex<(@Sendable (OnlineMessages) -> Void)?>(nil)

    var handler: (@Sendable (OnlineMessages) -> Void)? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    /// - Parameter request: The request, which is only encoded for messages.
    func receive(_ response: WireResponse, to request: @autoclosure () -> WireRequest) {
        guard response.isSuccess, let handler else { return }
        let messages = UploadReport.ServiceMessage.all(in: response.headers, about: 0)
        guard !messages.isEmpty else { return }
        let request = request()
        handler(
            OnlineMessages(request: "\(request.method) \(URLText.withoutSecrets(request.url))", messages: messages))
    }
}
