internal import EDM
public import ODataWire

/// What goes wrong with the next requests that match.
public struct Fault: Sendable, Hashable {
    public enum Effect: Sendable, Hashable {
        /// Refused with this status before anything is done.
        case refuse(status: Int)
        /// Done as asked, and the connection cut instead of an answer: the client cannot know.
        case dropAnswer
        /// Nothing is done, and the connection is cut.
        case dropRequest
    }

    public var effect: Effect
    /// How many requests it still hits.
    public var remaining: Int
    /// nil for any method.
    public var method: String?
    /// What the URL must contain; empty for any.
    public var urlPart: String

    public init(_ effect: Effect, times: Int = 1, method: String? = nil, urlPart: String = "") {
        self.effect = effect
        self.remaining = times
        self.method = method
        self.urlPart = urlPart
    }

    func matches(_ request: WireRequest) -> Bool {
        remaining > 0 && (method ?? request.method) == request.method
            && (urlPart.isEmpty || request.url.contains(urlPart))
    }
}

/// What comes of a request.
public enum Reply: Sendable, Hashable {
    case response(WireResponse)
    /// The connection ends without a response.
    case cut
}

extension Sandbox {
    /// Handles the request under the ``faults``.
    public mutating func reply(to request: WireRequest) -> Reply {
        guard let index = faults.firstIndex(where: { $0.matches(request) }) else { return .response(handle(request)) }
        let effect = faults[index].effect
        faults[index].remaining -= 1
        if faults[index].remaining == 0 { faults.remove(at: index) }
        switch effect {
        case .refuse(let status):
            let version = Route(request.url).view ?? .v4
            let error = SandboxError(status, .injectedFault, "The sandbox was told to refuse this request.")
            return .response(view(version).response(to: error))
        case .dropAnswer:
            _ = handle(request)
            return .cut
        case .dropRequest: return .cut
        }
    }
}
