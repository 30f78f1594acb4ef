/// The class of a response status with respect to retries.
package enum FailureClass: Sendable, Hashable {
    /// The failure is temporary, and nothing was processed. The same request may be sent again later.
    case transient
    /// The failure is temporary, but the request may have been processed: a gateway timed out, or did not understand
    /// the service's response.
    case uncertain
    /// The same request will be rejected again.
    case permanent

    package init(status: Int) {
        switch status {
        // Request Timeout: the service received an incomplete request. Too Early, Too Many Requests, Service
        // Unavailable.
        case 408, 425, 429, 503: self = .transient
        case 502, 504: self = .uncertain
        default: self = .permanent
        }
    }

    /// Returns whether the request may have been executed although its response is not a success: a gateway timed out or
    /// did not understand the service, or a redirect leads to the result (303; RFC 9110, section 15.4.4).
    package static func mayHaveBeenExecuted(status: Int) -> Bool {
        status == 303 || FailureClass(status: status) == .uncertain
    }

    /// Returns whether the service would answer this request in the same way again, while other requests may succeed.
    package static func isLasting(status: Int) -> Bool { status != 401 && FailureClass(status: status) == .permanent }
}
