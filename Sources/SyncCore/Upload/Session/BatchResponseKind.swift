package import ODataWire
package import Operations

/// The interpretation of the head of the response to a whole batch.
package enum BatchResponseKind: Sendable, Hashable {
    /// The response contains the responses to the parts.
    case parts
    /// The response will be available at this URL.
    case accepted(String)
    /// Nothing was processed, because of something in the batch.
    case refused
    /// Nothing was processed, whatever the batch contains.
    case untouched
    /// Any part may have been processed. A gateway timeout has this form.
    case unknown

    /// Interprets a response.
    ///
    /// - Parameter mayBeLater: Whether 202 means asynchronous processing. Pass true even if this request did not ask
    ///   for it, because a repeated request may receive the response to the first one, which did. In V2 a 202 is the
    ///   response itself.
    package init(_ response: WireResponse, mayBeLater: Bool = false) {
        switch response.status {
        case 202 where mayBeLater && response.headers["Location"] != nil && !response.hasParts:
            self = .accepted(response.headers["Location"] ?? "")
        case 200..<300: self = .parts
        case 400, 409, 412, 413, 422, 428: self = .refused
        case 503: self = response.isFromService ? .untouched : .unknown
        // A redirect to the result of the request (RFC 9110, section 15.4.4).
        case 303: self = .unknown
        case 501, ..<500: self = .untouched
        default: self = .unknown
        }
    }
}

/// The interpretation of a single request's response status.
package enum SingleResponseKind: Sendable, Hashable {
    case done
    /// The request was not processed, permanently or temporarily.
    case refused
    /// The service did not examine the request, and would not examine further requests either.
    case untouched
    /// The request may have been processed. A gateway timeout has this form.
    case unknown
    /// A successful status with a web page, for example the login page of a captive portal: the request may not have
    /// reached the service.
    case foreign

    package init(_ response: WireResponse) {
        let speaksOData = ServiceErrorReader.read(response.body) != nil
        switch response.status {
        case 200..<300: self = response.isForeignPage ? .foreign : .done
        case 403: self = speaksOData ? .refused : .untouched
        case 503: self = response.isFromService ? .refused : .unknown
        // A redirect to the result of the request (RFC 9110, section 15.4.4).
        case 303, 502, 504: self = .unknown
        case 300..<400, 401, 407: self = .untouched
        case 500...: self = speaksOData ? .refused : .unknown
        default: self = .refused
        }
    }
}

/// The interpretation of the response of a status monitor (OData 4.01 Part 1, 11.6).
package enum MonitorResponseKind: Sendable, Hashable {
    /// The batch is not finished; poll again, after the given delay if there is one.
    case notYet(Duration?)
    case done(WireResponse)
    /// The monitor does not exist: the response was already fetched, or the service has discarded it.
    case gone
    /// The response does not contain an outcome of the batch.
    case unreadable
    /// The service requires other credentials, as it would for any request.
    case unauthorized
    /// The monitor itself failed.
    case failed

    /// Interprets a response.
    ///
    /// - Parameter now: The time that a date in `Retry-After` is compared with.
    package init(_ response: WireResponse, now: Timestamp) {
        switch response.status {
        case 202: self = .notYet(RetryAfter.delay(response.headers, now: now))
        case 401, 407: self = .unauthorized
        case 404, 410: self = .gone
        case 200..<300:
            if response.headers["Content-Type"]?.lowercased().hasPrefix("application/http") == true {
                self = HTTPMessage.response(response.body).map(MonitorResponseKind.done) ?? .unreadable
            } else {
                var answer = response
                answer.status = response.headers["AsyncResult"].flatMap { Int($0) } ?? response.status
                self = .done(answer)
            }
        default: self = .failed
        }
    }
}

extension WireResponse {
    /// Whether the service itself is busy. A gateway may return 503 although the service has received the request.
    package var isFromService: Bool { headers["Retry-After"] != nil || ServiceErrorReader.read(body) != nil }

    package var isFromGateway: Bool { status == 503 && !isFromService }

    /// Whether the rejection is not an OData error, so that it comes from a component that inspects requests before the
    /// service.
    package var isForeignRefusal: Bool {
        status == 403 && headers["X-CSRF-Token"] == nil && headers["WWW-Authenticate"] == nil
            && ServiceErrorReader.read(body) == nil
    }

    /// See ``FailureClass/isLasting(status:)``.
    package var isLasting: Bool { FailureClass.isLasting(status: status) }

    /// Whether the body is a web page, or a batch, which is no response of a service to a single modification.
    fileprivate var isForeignPage: Bool {
        guard !body.isEmpty, headers["OData-Version"] == nil, headers["DataServiceVersion"] == nil,
            let type = headers["Content-Type"]?.lowercased()
        else { return false }
        return ["text/html", "application/xhtml+xml", "multipart/"].contains(where: type.hasPrefix)
    }

    fileprivate var hasParts: Bool { headers["Content-Type"]?.lowercased().hasPrefix("multipart/") == true }
}

extension HeaderObstacle {
    /// A response in the form of a rejection by the service. Its status is 0, which no service uses.
    var response: WireResponse {
        WireResponse(status: 0, headers: HTTPHeaders(), body: Array("\(description) \(recovery)".utf8))
    }
}

extension [BatchPartOutcome] {
    /// The outcomes of the change sets, without the other parts of the batch.
    package var changeSets: [ChangeSetOutcome] {
        map { if case .changeSet(let outcome) = $0 { outcome } else { .notProcessed } }
    }
}
