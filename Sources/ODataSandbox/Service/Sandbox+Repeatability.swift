internal import EDM
internal import ODataWire

extension Sandbox {
    /// Executes requests that take effect together, or returns the first responses if they were executed before.
    ///
    /// - Parameter head: The headers of the part that contains the requests, which may contain the identifiers.
    mutating func once(
        _ requests: [WireRequest], head: HTTPHeaders = .empty,
        perform: (inout Sandbox) throws(ChangeSetFailure) -> [WireResponse]
    ) throws(ChangeSetFailure) -> [WireResponse] {
        guard let terms = options.repeatability else { return try perform(&self) }
        let identifiers: [Repeatability.Identifier]
        let known: Result<[WireResponse], ChangeSetFailure>?
        do throws(SandboxError) {
            identifiers = try terms.identifiers(of: requests, head: head)
            known =
                identifiers.isEmpty
                ? nil
                : try repeatable.recall(requests, as: identifiers, terms, now: options.now?.millisecondsSince1970)
        } catch {
            throw ChangeSetFailure(error: error, contentID: nil)
        }
        guard !identifiers.isEmpty else { return try perform(&self) }
        var outcome = known ?? Result { () throws(ChangeSetFailure) in try perform(&self) }
        if known == nil, outcome.isFinal { repeatable.keep(outcome, of: requests, as: identifiers) }
        outcome.mark(terms.resultHeader)
        return try outcome.get()
    }

    /// Executes a single request with `perform`.
    mutating func once(
        _ request: WireRequest, perform: (inout Sandbox) throws(SandboxError) -> WireResponse
    ) throws(SandboxError) -> WireResponse {
        do throws(ChangeSetFailure) {
            let responses = try once([request]) { sandbox throws(ChangeSetFailure) in
                do throws(SandboxError) {
                    return [try perform(&sandbox)]
                } catch {
                    throw ChangeSetFailure(error: error, contentID: nil)
                }
            }
            return responses[0]
        } catch {
            throw error.error
        }
    }
}

extension Repeatability {
    /// Returns the identifiers of the requests, or none if they are not marked as repeatable.
    fileprivate func identifiers(
        of requests: [WireRequest], head: HTTPHeaders
    ) throws(SandboxError) -> [Identifier] {
        if let identifier = try identifier(in: head) { return [identifier] }
        var identifiers: [Identifier] = []
        for request in requests {
            if let identifier = try identifier(in: request.headers) { identifiers.append(identifier) }
        }
        guard identifiers.isEmpty || identifiers.count == requests.count else {
            throw refusal("Either all requests of a change set are repeatable, or none.")
        }
        guard Set(identifiers.map(\.name)).count == identifiers.count else {
            throw refusal("Two requests of a change set have the same identifier.")
        }
        return identifiers
    }
}

extension Result where Success == [WireResponse], Failure == ChangeSetFailure {
    /// Whether the outcome is final. After a failure of the service itself, a repeated request is executed again.
    fileprivate var isFinal: Bool {
        switch self {
        case .success(let responses): responses.allSatisfy { $0.status < 500 && $0.status != 429 }
        case .failure(let failure): failure.error.status < 500 && failure.error.status != 429
        }
    }

    fileprivate mutating func mark(_ header: String) {
        switch self {
        case .success(let responses):
            self = .success(
                responses.map { response in
                    var response = response
                    response.headers[header] = "accepted"
                    return response
                })
        case .failure(var failure):
            // An inner request may have been rejected because of its own identifier.
            if failure.error.headers[header] == nil { failure.error.headers[header] = "accepted" }
            self = .failure(failure)
        }
    }
}
