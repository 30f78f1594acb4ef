import ODataWire

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
}
