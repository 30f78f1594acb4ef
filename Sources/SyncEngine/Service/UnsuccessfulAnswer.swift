import ODataWire
import SyncCore

/// The cause of an error that an answer without success led to: what deciding about another attempt needs of it.
struct UnsuccessfulAnswer: Error, Hashable {
    let status: Int
    /// `Retry-After` and `Date`, as they came.
    let headers: HTTPHeaders

    init(_ response: WireResponse) {
        status = response.status
        var headers = HTTPHeaders()
        for name in ["Retry-After", "Date"] { headers[name] = response.headers[name] }
        self.headers = headers
    }

    /// Whether the service will say the same again of this one request, and may say something else of others.
    var isLasting: Bool { status != 401 && FailureClass(status: status) == .permanent }
}

extension TidelogError {
    /// Whether the service answered, and what it answered is about what was asked for: reading something else may go well.
    var isLastingAnswer: Bool {
        (cause as? UnsuccessfulAnswer)?.isLasting ?? (cause is PayloadError || cause is ErrorTrailer)
    }
}
