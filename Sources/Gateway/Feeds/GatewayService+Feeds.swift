internal import GatewayCore
internal import Logging
internal import ODataWire

extension GatewayService {
    /// Answers a query from a shared feed.
    ///
    /// - Returns: `nil` if the request has to pass through.
    func feedAnswer(
        _ request: IncomingRequest, _ kind: RequestClass, _ place: AdmittedRequest
    ) async throws(RequestRefusal) -> GatewayResponse? {
        guard let feeds, let (feed, target) = feedRequest(request, kind) else {
            // The service would not understand the token.
            if request.method == "GET", FeedRequest.hasToken(kind.rest) { throw FeedCall.gone }
            return nil
        }
        try await place.begin(.feed(kind.endpoint.name))
        let call = FeedCall(
            service: self, feeds: feeds, feed: feed, kind: kind, request: request, target: target)
        return try await call.answer()
    }

    /// Returns the feed that may answer a request.
    func feedRequest(_ request: IncomingRequest, _ kind: RequestClass) -> (feed: SharedFeed, target: FeedRequest)? {
        guard request.method == "GET", let feeds, !kind.endpoint.feeds.isEmpty, let target = FeedRequest(kind.rest),
            let feed = feeds.feed(kind.endpoint.name, target.query), FeedCall.mayAnswer(request, target, feed.settings)
        else { return nil }
        return (feed, target)
    }

    /// Runs a request that may modify data and is not in the ledger. Afterwards, feeds contain its changes before they
    /// answer the same user.
    func modifying(
        _ request: IncomingRequest, _ kind: RequestClass,
        _ body: () async throws(RequestRefusal) -> GatewayResponse
    ) async throws(RequestRefusal) -> GatewayResponse {
        let marks = writeMarks(request.headers, kind.endpoint)
        try await marks.before().get()
        let result: Result<GatewayResponse, RequestRefusal>
        do throws(RequestRefusal) { result = .success(try await body()) } catch { result = .failure(error) }
        let status: Int? = if case .success(let answer) = result { answer.status } else { nil }
        // A service without repeatable requests has changed the data: the client gets its response in any case.
        // The mark does not end with the connection of the client.
        _ = await Task(executorPreference: environment.executor) { await marks.after(status: status) }.value
        return try result.get()
    }

    func writeMarks(_ headers: HTTPHeaders, _ endpoint: GatewayConfiguration.Endpoint) -> WriteMarks {
        WriteMarks(
            feeds: endpoint.feeds.isEmpty ? nil : feeds, headers: headers, endpoint: endpoint.name,
            environment: environment)
    }
}

/// Records, before and after a request, that its user may have changed data.
struct WriteMarks: Sendable {
    /// Nil if the service has no feeds.
    fileprivate let feeds: SharedFeeds?
    fileprivate let headers: HTTPHeaders
    fileprivate let endpoint: String
    fileprivate let environment: GatewayEnvironment

    /// Records the user before the request is sent, in case this process ends before the response.
    func before() async -> Result<Void, RequestRefusal> {
        do throws(LedgerStorageError) {
            try await feeds?.wrote(headers, endpoint, isAccepted: false)
            return .success(())
        } catch {
            environment.logger.error("\(error)")
            return .failure(RequestRefusal(503, "The storage cannot be written.", headers: ["Retry-After": "5"]))
        }
    }

    private static let attempts = 6

    /// Records the user after the response of the service, or its loss, and before the response to the client. Tries it
    /// again if the storage fails: until then, a reading that began before the change would count as one with it.
    ///
    /// - Parameter status: The status of the response, or nil if it was lost.
    /// - Returns: Whether the user is recorded.
    func after(status: Int?, attempts: Int = Self.attempts) async -> Bool {
        for attempt in 1...attempts {
            do throws(LedgerStorageError) {
                try await feeds?.wrote(headers, endpoint, isAccepted: status != 401 && status != 403)
                return true
            } catch {
                environment.logger.error("\(error)")
                if attempt < attempts { await environment.sleep(500) }
            }
        }
        return false
    }
}
