/// A fault or disturbance in a run.
package enum FaultKind: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A device is offline for a while.
    case partition
    /// A request does not leave the device, and the transport reports that.
    case unreachable
    /// The connection breaks before the service receives the request; the device cannot detect this.
    case lostRequest
    /// The connection breaks after the service has executed the request.
    case lostAnswer
    /// Only a part of the response arrives, and the transport detects it.
    case tornAnswer
    /// Only a part of the response arrives, and the transport does not detect it.
    case shortAnswer
    /// The service fails while it writes the response, which ends with an error in the middle (OData V4, in-stream
    /// errors).
    case inStreamError
    /// The service receives the request long after the device has abandoned it.
    case lateRequest
    /// The service receives the request twice; the device receives only one of the responses.
    case repeatedRequest
    /// The service returns 429 or 503 with Retry-After and does not process the request.
    case busy
    /// One request of a batch is rejected, temporarily or permanently.
    case refusedPart
    /// The response lacks required content, or contains it in a different order.
    case distortedAnswer
    /// A gateway returns 502 or 504; the service never receives the request.
    case gatewayBefore
    /// A gateway returns 502 or 504 in place of the service's response.
    case gatewayAfter
    /// The service redirects the request within its origin: with 307 and 308 to be sent again with method and body, with
    /// 301 and 302 without having executed it, with 303 possibly after that.
    case redirect
    /// The service redirects the request to another origin, as to a login page.
    case foreignRedirect
    /// The service returns 401 and does not process the request.
    case unauthorized
    /// The login has expired, and the app obtains a new one.
    case expiredLogin
    /// The login has expired, and the app cannot obtain a new one for a while.
    case refusedLogin
    /// The CSRF token has expired.
    case expiredToken
    /// The response takes minutes.
    case slowAnswer
    /// The system suspends the process for hours while a request is in flight, which the service may have received or
    /// not.
    case suspension
    /// The app performs operations while a request is in flight.
    case editInFlight
    /// Another device uploads while a request is in flight.
    case otherDeviceInFlight
    /// The upload and the download are cancelled while a request is in flight.
    case cancelInFlight
    /// The process ends.
    case processCrash
    /// The machine loses power: unsynced data may be present in part.
    case powerLoss
    /// The disk stops at a later call.
    case diskStop
    /// A call of the disk fails with an input/output error or for lack of space, possibly after a part of a write or of a
    /// sync.
    case diskError
    /// The process ends while a request is in flight.
    case crashInFlight
    /// The process ends again during recovery.
    case crashAtOpening
    /// A second process opens the store of a running one.
    case secondProcess
    /// A bit of the log changes while no process has the log open.
    case bitRot
    /// A sector of a closed log has the content of another sector, or zeros, because a write reached another place.
    case misplacedWrite
    /// A read of the log fails when it is opened.
    case readError
    /// A file of encrypted views changes while no process has it open: a bit changes, or a page replaces another page.
    case viewsDamage
    /// The clocks of the devices are set back or forward.
    case clockJump
    /// The metadata of the service change.
    case metadataChange
    /// A process of the gateway ends.
    case nodeCrash
    /// The gateway cannot reach the service.
    case originUnreachable
    /// The connection between gateway and service breaks before the service receives the request.
    case originRequestLost
    /// The connection between gateway and service breaks after the service has executed the request.
    case originAnswerLost
    /// The service returns 429 or 503 to the gateway and does not process the request.
    case originBusy
    /// The service redirects a request of the gateway, which passes the redirect on.
    case originRedirect
    /// A call of the gateway's storage fails without an effect.
    case storageRefused
    /// A call of the gateway's storage fails although its commit is durable.
    case storageAnswerLost

    package static func < (a: FaultKind, b: FaultKind) -> Bool { a.rawValue < b.rawValue }
}
