package import ODataWire

/// The meaning of a response of the origin for the unit that it answers.
package enum ResponseMeaning: Sendable, Hashable {
    /// The response is the outcome.
    case outcome
    /// The origin has not executed the unit. A repetition is executed.
    case notExecuted
    /// The response does not show whether the unit took effect.
    case unknown

    /// Interprets the response to a single modification, or a part of a batch.
    ///
    /// 401, 403 and 407 are no outcomes: the client repeats the request with other credentials or a CSRF token.
    package init(_ response: WireResponse) {
        switch response.status {
        case 202 where response.headers["Location"] != nil && response.headers["OData-EntityId"] == nil:
            // The origin executes the request later.
            self = .unknown
        case 200..<300: self = .outcome
        case 303: self = .unknown
        case 300..<400, 401, 403, 407, 425, 429: self = .notExecuted
        case 408: self = .unknown
        case 400..<500: self = .outcome
        case 503: self = response.headers["Retry-After"] == nil ? .unknown : .notExecuted
        case 501: self = .notExecuted
        default: self = .unknown
        }
    }

    /// Interprets the status of the response to a whole batch, which is not a response to its parts.
    package init(batchStatus response: WireResponse) {
        switch response.status {
        case 202, 303, 408: self = .unknown
        case 300..<500, 501: self = .notExecuted
        case 503: self = response.headers["Retry-After"] == nil ? .unknown : .notExecuted
        default: self = .unknown
        }
    }
}
