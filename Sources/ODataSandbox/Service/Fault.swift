public import ODataWire

/// What goes wrong with the next requests that match.
public struct Fault: Sendable, Hashable {
    public enum Effect: Sendable, Hashable {
        // What decides the answer: of these only the first applies.

        /// Refused with this status before anything is done. Without a body the answer is an OData error.
        case refuse(status: Int, headers: HTTPHeaders = .empty, body: [UInt8]? = nil)
        /// Nothing is done, and the connection is cut.
        case dropRequest
        /// As ``dropRequest``, on a socket when so many bytes of the request's body have come.
        case cutRequest(after: Int)
        /// Done as asked, and the connection cut instead of an answer: the client cannot know.
        case dropAnswer
        /// As ``dropAnswer``, on a socket after so many bytes of the answer, its head included.
        case cutAnswer(after: Int)

        // What may go together.

        /// The answer is held back.
        case delay(milliseconds: Int)
        /// Tokens handed out so far are worth nothing any more (V2).
        case expireTokens
        /// Another client's request is carried out first.
        case precede(by: WireRequest)
        /// Another client's request is carried out before the answer is sent.
        case follow(by: WireRequest)
        /// New entities get other keys than the client gives them.
        case assignKeys
        /// `$<Content-ID>` in bodies is not understood.
        case ignoreBodyReferences
        /// What was done of a change set before it is refused stays.
        case keepRefused
        /// Only so many bytes of the body are sent, as if they were all: on the connection nothing is wrong.
        case truncate(after: Int)
        /// Done as asked, but the answer is this, with status 200, as from something that stands between.
        case replace(contentType: String, body: [UInt8])
        case distort(Distortion)
    }

    /// What an answer lacks or has wrong.
    public enum Distortion: String, Sendable, Hashable, CaseIterable {
        /// No `Location` and `OData-EntityId`.
        case withoutLocation
        /// Status and header fields only.
        case withoutBody
        /// The answers within each change set the other way round, in JSON all answers.
        case reversed
        /// The parts of a batch the other way round, as no service should send them.
        case reversedParts
        /// No close delimiter at the end of a batch; in JSON the last bracket.
        case unclosed
        /// The batch's Content-Type names another boundary than the body has.
        case wrongBoundary
        /// An `error` behind the rest of the body, as from a service that fails while it writes (OData 4.01 Part 1, 9.5).
        case inStreamError
        /// The first entity of a page without its key, and without links that have it.
        case keyless
        /// The first entity of a page has a value that is not of the property's type.
        case badValue
    }

    /// Which of the requests inside of a batch a fault hits.
    public enum Part: Sendable, Hashable {
        /// Any that matches method and URL.
        case any
        /// The one with this number, counted from 1 through all change sets.
        case number(Int)
    }

    public var effect: Effect
    /// How many requests it still hits.
    public var remaining: Int
    /// How many requests that match it still lets pass.
    public var skipping: Int
    /// nil for any method.
    public var method: String?
    /// What the URL must contain; empty for any.
    public var urlPart: String
    /// nil: a request by itself, or a batch as a whole. Otherwise a request in a batch, for which `refuse`, `dropRequest`,
    /// `dropAnswer`, `delay`, `precede`, `follow` and the distortions of single answers have a meaning. Faults of a change
    /// set's requests take effect before or after the whole change set, which stays atomic.
    public var part: Part?

    public init(
        _ effect: Effect, times: Int = 1, skipping: Int = 0, method: String? = nil, urlPart: String = "",
        part: Part? = nil
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
    /// Whether no later fault applies to the same request.
    var isDecisive: Bool {
        switch self {
        case .refuse, .dropRequest, .cutRequest, .dropAnswer, .cutAnswer: true
        case .delay, .expireTokens, .precede, .follow, .assignKeys, .ignoreBodyReferences, .keepRefused, .truncate,
            .replace, .distort:
            false
        }
    }
}

/// What comes of a request.
public enum Reply: Sendable, Hashable {
    case response(WireResponse)
    /// The connection ends without a response.
    case cut
    /// The connection ends after so many bytes of the response, its head included.
    case cutOff(WireResponse, after: Int)
}

/// A reply and how long it is held back.
public struct Delivery: Sendable, Hashable {
    public var reply: Reply
    public var delayMilliseconds: Int

    public init(_ reply: Reply, delayMilliseconds: Int = 0) {
        self.reply = reply
        self.delayMilliseconds = delayMilliseconds
    }
}
