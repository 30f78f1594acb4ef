import ODataWire
import SyncCore

/// The cause of an error after an unsuccessful response: the values that a retry decision needs.
struct UnsuccessfulResponse: Error, Hashable {
    let status: Int
    /// `Retry-After` and `Date`, unchanged.
    let headers: HTTPHeaders

    init(_ response: WireResponse) {
        status = response.status
        var headers = HTTPHeaders()
        for name in ["Retry-After", "Date"] { headers[name] = response.headers[name] }
        self.headers = headers
    }

    /// Whether the service would answer this request in the same way again, while other requests may succeed.
    var isLasting: Bool { status != 401 && FailureClass(status: status) == .permanent }
}

extension TidelogError {
    /// Whether the service answered, and the failure concerns only this request. Other reads may succeed.
    var isLastingAnswer: Bool {
        (cause as? UnsuccessfulResponse)?.isLasting ?? (cause is PayloadError || cause is ErrorTrailer)
    }
}
