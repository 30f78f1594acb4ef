public import ODataWire

/// A failure that is injected into the next matching requests.
public struct Fault: Sendable, Hashable {
    /// The effect of a failure on a request.
    public enum Effect: Sendable, Hashable {
        // Effects that determine the response. Only the first one of these applies.

        /// The request is rejected with this status before it has any effect. Without a body the response is an OData
        /// error.
        case refuse(status: Int, headers: HTTPHeaders = .empty, body: [UInt8]? = nil)
        /// The request has no effect, and the connection is closed.
        case dropRequest
        /// Like ``dropRequest``; on a socket after this number of bytes of the request's body was received.
        case cutRequest(after: Int)
        /// The request takes effect, and the connection is closed instead of a response, so the outcome is unknown to
        /// the client.
        case dropAnswer
        /// Like ``dropAnswer``; on a socket after this number of bytes of the response, including its head.
        case cutAnswer(after: Int)

        // Effects that can be combined.

        /// The response is delayed.
        case delay(milliseconds: Int)
        /// The CSRF tokens issued so far become invalid (V2).
        case expireTokens
        /// A request of a different client is executed first.
        case precede(by: WireRequest)
        /// A request of a different client is executed before the response is sent.
        case follow(by: WireRequest)
        /// New entities get keys other than those from the client.
        case assignKeys
        /// `$<Content-ID>` in bodies is not supported.
        case ignoreBodyReferences
        /// The changes of a change set before it is rejected are kept.
        case keepRefused
        /// The body is truncated to this number of bytes without any error on the connection.
        case truncate(after: Int)
        /// The request takes effect, but the response is replaced by this one with status 200, as by an intermediary.
        case replace(contentType: String, body: [UInt8])
        /// The request takes effect, but the response is corrupted in this way.
        case distort(PayloadCorruption)
    }

    /// The corruption of a response.
    public enum PayloadCorruption: String, Sendable, Hashable, CaseIterable {
        /// Omits `Location` and `OData-EntityId`.
        case withoutLocation
        /// Omits the body.
        case withoutBody
        /// Reverses the responses within each change set; in JSON all responses.
        case reversed
        /// Reverses the parts of a batch, which no service should do.
        case reversedParts
        /// Omits the close delimiter of a batch; in JSON the last bracket.
        case unclosed
        /// Replaces the boundary in the batch's Content-Type by one that the body does not use.
        case wrongBoundary
        /// Adds an `error` after the rest of the body, like a service that fails while it writes (OData 4.01 Part 1,
        /// 9.5).
        case inStreamError
        /// Omits the key of the first entity of a page, and all links that contain it.
        case keyless
        /// Gives the first entity of a page a value that does not match the property's type.
        case badValue
    }

    /// The requests inside of a batch that a fault applies to.
    public enum BatchScope: Sendable, Hashable {
        /// Every request that matches method and URL.
        case any
        /// The request with this number, counted from 1 through all change sets.
        case number(Int)
    }

    /// The effect on each matching request.
    public var effect: Effect
    /// The number of requests that the fault still applies to.
    public var remaining: Int
    /// The number of matching requests that are still skipped.
    public var skipping: Int
    /// The method, or nil for any method.
    public var method: String?
    /// The text that the URL must contain. Empty for any URL.
    public var urlPart: String
    /// The part of a batch, or nil for a single request or a batch as a whole.
    ///
    /// For a request in a batch, `refuse`, `dropRequest`, `dropAnswer`, `delay`, `precede`, `follow` and the
    /// distortions of single responses are meaningful; of the body of a `refuse`, code and message are used if it is an
    /// OData error. Faults of a change set's requests take effect before or after
    /// the whole change set, which remains atomic.
    public var part: BatchScope?

    /// Creates a fault for the given number of requests; by default for the next request of any kind.
    public init(
        _ effect: Effect, times: Int = 1, skipping: Int = 0, method: String? = nil, urlPart: String = "",
        part: BatchScope? = nil
    ) {
        self.effect = effect
        self.remaining = times
        self.skipping = skipping
        self.method = method
        self.urlPart = urlPart
        self.part = part
    }

    func matches(_ request: WireRequest, part number: Int?) -> Bool {
        switch (part, number) {
        case (nil, nil), (.any, .some): break
        case (.number(let wanted), .some(let number)): guard wanted == number else { return false }
        default: return false
        }
        return remaining > 0 && (method ?? request.method) == request.method
            && (urlPart.isEmpty || request.url.contains(urlPart))
    }
}

extension Fault.Effect {
    /// Whether later faults do not apply to the same request.
    var isDecisive: Bool {
        switch self {
        case .refuse, .dropRequest, .cutRequest, .dropAnswer, .cutAnswer: true
        case .delay, .expireTokens, .precede, .follow, .assignKeys, .ignoreBodyReferences, .keepRefused, .truncate,
            .replace, .distort:
            false
        }
    }
}

/// The reply to a request.
public enum Reply: Sendable, Hashable {
    /// A complete response.
    case response(WireResponse)
    /// The connection is closed without a response.
    case cut
    /// The connection is closed after this number of bytes of the response, including its head.
    case cutOff(WireResponse, after: Int)
}

/// A reply and its delay.
public struct Delivery: Sendable, Hashable {
    /// The reply.
    public var reply: Reply
    /// The delay before the reply, in milliseconds.
    public var delayMilliseconds: Int

    /// Creates a reply with a delay; by default without one.
    public init(_ reply: Reply, delayMilliseconds: Int = 0) {
        self.reply = reply
        self.delayMilliseconds = delayMilliseconds
    }
}
