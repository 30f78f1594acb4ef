/// What goes wrong in a run.
package enum Trouble: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A device has no network for a while.
    case partition
    /// One request does not leave the device, and the device knows.
    case unreachable
    /// The connection breaks before the service has the request; the device cannot know.
    case lostRequest
    /// The connection breaks when the service is done.
    case lostAnswer
    /// A part of the answer comes, and the transport notices.
    case tornAnswer
    /// A part of the answer comes, and nobody notices.
    case shortAnswer
    /// The service gets the request when the device has long given it up.
    case lateRequest
    /// The service gets the request twice; the second answer reaches nobody.
    case repeatedRequest
    /// 429 or 503 with Retry-After; the request was not looked at.
    case busy
    /// One request of a batch is refused, for a while or for good.
    case refusedPart
    /// The answer lacks what it should have, or says it in another order.
    case distortedAnswer
    /// A gateway's 502 or 504; the service never got the request.
    case gatewayBefore
    /// A gateway's 502 or 504 in the place of the service's answer.
    case gatewayAfter
    /// 401; the request was not looked at.
    case unauthorized
    /// The login is no longer good, and the app gets a new one.
    case expiredLogin
    /// The login is no longer good, and for a while there is no other.
    case refusedLogin
    /// The CSRF token is no longer good.
    case expiredToken
    /// The answer takes minutes.
    case slowAnswer
    /// The app goes on working while a request is under way.
    case editInFlight
    /// Another device uploads while a request is under way.
    case otherDeviceInFlight
    /// The upload and the download are cancelled while a request is under way.
    case cancelInFlight
    /// The process ends.
    case processCrash
    /// The machine loses power: what was not synced may be there in part.
    case powerLoss
    /// The disk stops at some later call.
    case diskStop
    /// The process ends while a request is under way.
    case crashInFlight
    /// The process ends again while it recovers.
    case crashAtOpening
    /// A bit of the log changes while no process has it open.
    case bitRot

    package static func < (a: Trouble, b: Trouble) -> Bool { a.rawValue < b.rawValue }
}
