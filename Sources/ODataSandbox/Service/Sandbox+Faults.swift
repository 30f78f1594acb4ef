internal import EDM
public import ODataWire

/// The effects of the faults on the current request that are relevant inside of the service.
struct ActiveFaults: Sendable {
    var distortions: Set<Fault.PayloadCorruption> = []
    var assignsKeys = false
    var ignoresBodyReferences = false
    var keepsRefused = false
    /// Whether the connection is to be closed and the rest of the batch must not be executed.
    var isCut = false
    var delay = 0
    /// The number of the last request of the batch.
    var part = 0

    init(_ effects: [Fault.Effect]) {
        for effect in effects {
            switch effect {
            case .delay(let milliseconds): delay += milliseconds
            case .assignKeys: assignsKeys = true
            case .ignoreBodyReferences: ignoresBodyReferences = true
            case .keepRefused: keepsRefused = true
            case .distort(let distortion): distortions.insert(distortion)
            default: break
            }
        }
    }

    /// Returns the capabilities that remain of those of the service.
    func restricting(_ capabilities: Capabilities) -> Capabilities {
        var capabilities = capabilities
        if assignsKeys { capabilities.keepsClientKeys = false }
        if keepsRefused { capabilities.rollsBackChangeSets = false }
        if ignoresBodyReferences, capabilities.contentIDReferences != .none {
            capabilities.contentIDReferences = .urlsOnly
        }
        return capabilities
    }
}

extension [Fault] {
    /// Returns and consumes the effects of all faults that match the request, up to the first decisive one.
    mutating func consume(for request: WireRequest, part: Int?) -> [Fault.Effect] {
        var effects: [Fault.Effect] = []
        for index in indices where self[index].matches(request, part: part) {
            if self[index].skipping > 0 {
                self[index].skipping -= 1
                continue
            }
            self[index].remaining -= 1
            effects.append(self[index].effect)
            if self[index].effect.isDecisive { break }
        }
        removeAll { $0.remaining <= 0 }
        return effects
    }
}

extension Sandbox {
    /// Handles the request under the ``faults``, or changes the faults if it is a request to `/faults`.
    public mutating func reply(to request: WireRequest) -> Reply { deliver(request).reply }

    /// Handles the request like ``reply(to:)`` and also returns the delay.
    public mutating func deliver(_ request: WireRequest) -> Delivery {
        if let response = faults.handle(request) { return Delivery(.response(response)) }
        let effects = faults.consume(for: request, part: nil)
        begin(effects)
        defer { activeFaults = nil }
        let reply = reply(to: request, under: effects)
        return Delivery(reply, delayMilliseconds: activeFaults?.delay ?? 0)
    }

    /// Returns the number of bytes of the body after which a fault closes the connection, or nil.
    ///
    /// Does not change the sandbox: the request must still be passed to ``deliver(_:)``.
    public func cutOfBody(of request: WireRequest) -> Int? {
        var faults = faults
        for case .cutRequest(let bytes) in faults.consume(for: request, part: nil) { return bytes }
        return nil
    }

    private mutating func begin(_ effects: [Fault.Effect]) {
        for effect in effects {
            switch effect {
            case .expireTokens: sessions.expire()
            case .precede(let other): carryOut(other)
            default: break
            }
        }
        activeFaults = ActiveFaults(effects)
    }

    private mutating func reply(to request: WireRequest, under effects: [Fault.Effect]) -> Reply {
        let decisive = effects.last { $0.isDecisive }
        switch decisive {
        case .refuse(let status, let headers, let body):
            return .response(refusal(of: request, status, headers, body))
        case .dropRequest, .cutRequest: return .cut
        default: break
        }
        var response = handle(request)
        for case .follow(let other) in effects { carryOut(other) }
        if request.method == "GET" {
            let route = Route(request.url)
            let (path, model) = (route.rest.prefix { $0 != "?" }, view(route.view ?? .v4).model)
            for case .distort(let distortion) in effects { response.distortPage(distortion, path: path, model) }
        }
        if activeFaults?.isCut == true { return .cut }
        for effect in effects {
            switch effect {
            case .truncate(let count): response.body = Array(response.body.prefix(max(0, count)))
            case .replace(let type, let body):
                response = WireResponse(status: 200, headers: ["Content-Type": type], body: body)
            default: break
            }
        }
        switch decisive {
        case .dropAnswer: return .cut
        case .cutAnswer(let count): return .cutOff(response, after: max(0, count))
        default: return .response(response)
        }
    }

    private func refusal(
        of request: WireRequest, _ status: Int, _ headers: HTTPHeaders, _ body: [UInt8]?
    ) -> WireResponse {
        if let body { return WireResponse(status: status, headers: headers, body: body) }
        var response = view(Route(request.url).view ?? .v4).response(to: .injected(status))
        response.headers.merge(headers)
        return response
    }

    /// Executes a request of a different client, without faults and without requiring a token.
    private mutating func carryOut(_ request: WireRequest) {
        let (asks, work) = (options.requiresToken, activeFaults)
        options.requiresToken = false
        activeFaults = nil
        _ = handle(request)
        (options.requiresToken, activeFaults) = (asks, work)
    }

}

// MARK: - Batches

extension Sandbox {
    /// Executes requests of a batch that take effect together, under the faults that apply to them.
    ///
    /// - Returns: The responses of `perform`, distorted by the faults.
    mutating func underFaults(
        _ requests: [WireRequest],
        perform: (inout Sandbox) throws(ChangeSetFailure) -> [WireResponse]
    ) throws(ChangeSetFailure) -> [WireResponse] {
        guard activeFaults != nil else { return try perform(&self) }
        let effects = try before(requests)
        guard activeFaults?.isCut == false else { throw ChangeSetFailure(error: .injected(500), contentID: nil) }
        let cutsAfter = effects.joined().contains { if case .dropAnswer = $0 { true } else { false } }
        defer { if cutsAfter { activeFaults?.isCut = true } }
        var responses = try perform(&self)
        for (index, effects) in effects.enumerated() {
            for effect in effects {
                switch effect {
                case .follow(let other): carryOut(other)
                case .distort(let distortion): responses[index].distort([distortion])
                default: break
                }
            }
            responses[index].distort(activeFaults?.distortions ?? [])
        }
        return responses
    }

    private mutating func before(_ requests: [WireRequest]) throws(ChangeSetFailure) -> [[Fault.Effect]] {
        var taken: [[Fault.Effect]] = []
        var refusal: ChangeSetFailure?
        for request in requests {
            activeFaults?.part += 1
            taken.append(faults.consume(for: request, part: activeFaults?.part))
            for effect in taken.last ?? [] {
                switch effect {
                case .refuse(let status, let headers, let body):
                    var error = SandboxError.injected(status)
                    error.headers = headers
                    if let own = body.flatMap(ServiceErrorReader.read) { error.replace(by: own) }
                    refusal = refusal ?? ChangeSetFailure(error: error, contentID: nil, place: taken.count - 1)
                case .dropRequest: activeFaults?.isCut = true
                case .delay(let milliseconds): activeFaults?.delay += milliseconds
                case .precede(let other): carryOut(other)
                default: break
                }
            }
        }
        if let refusal { throw refusal }
        return taken
    }
}

extension SandboxError {
    fileprivate static func injected(_ status: Int) -> SandboxError {
        SandboxError(status, .injectedFault, "A fault of the sandbox rejected this request.")
    }
}

extension SandboxError {
    /// Replaces code and message by those of an OData error.
    fileprivate mutating func replace(by error: ServiceError) {
        ownCode = error.code
        message = error.message
    }
}

extension WireResponse {
    mutating func distort(_ distortions: Set<Fault.PayloadCorruption>) {
        if distortions.contains(.withoutLocation) {
            headers["Location"] = nil
            headers["OData-EntityId"] = nil
        }
        if distortions.contains(.withoutBody) {
            headers["Content-Type"] = nil
            body = []
        }
        if distortions.contains(.inStreamError) { failInStream() }
    }

    /// Adds an error after the content, as if the service had detected it while writing.
    mutating func failInStream() {
        guard (200..<300).contains(status), body.last == UInt8(ascii: "}"), body.count > 2 else { return }
        body.removeLast()
        body += Array(
            #","error":{"code":"Aborted","message":"A fault of the sandbox interrupted this response."}}"#.utf8)
    }
}
