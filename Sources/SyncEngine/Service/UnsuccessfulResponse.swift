import ODataWire
import OfflineStore
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

    /// See ``FailureClass/isLasting(status:)``.
    var isLasting: Bool { FailureClass.isLasting(status: status) }
}

extension TidelogError {
    /// Whether the service answered, and the failure concerns only this request. Other reads may succeed.
    var isLastingAnswer: Bool {
        (cause as? UnsuccessfulResponse)?.isLasting ?? (cause is PayloadError || cause is ErrorTrailer)
    }
}
