/// What the status of an answer says about trying again.
public enum FailureClass: Sendable, Hashable {
    /// It goes by itself, and nothing was done: the same request may be sent again later.
    case transient
    /// It goes by itself, but something may have been done: a gateway did not wait for the service, or got no answer that it
    /// understood.
    case uncertain
    /// The same request will be refused again.
    case permanent

    public init(status: Int) {
        switch status {
        // Request Timeout: the service got no whole request. Too Early, Too Many Requests, Service Unavailable.
        case 408, 425, 429, 503: self = .transient
        case 502, 504: self = .uncertain
        default: self = .permanent
        }
    }
}
