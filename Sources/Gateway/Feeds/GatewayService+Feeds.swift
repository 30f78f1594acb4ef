internal import GatewayCore
internal import Logging
internal import ODataWire

extension GatewayService {
    /// Answers a query from a shared feed.
    ///
    /// - Returns: `nil` if the request has to pass through.
    func feedAnswer(_ request: IncomingRequest, _ kind: RequestClass) async throws(RequestRefusal) -> GatewayResponse? {
        guard let feeds, let (feed, target) = feedRequest(request, kind) else {
            // The service would not understand the token.
            if request.method == "GET", FeedRequest.hasToken(kind.rest) { throw FeedCall.gone }
            return nil
        }
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
        await marks.after(status: status)
        return try result.get()
    }

    func writeMarks(_ headers: HTTPHeaders, _ endpoint: GatewayConfiguration.Endpoint) -> WriteMarks {
        WriteMarks(
            feeds: endpoint.feeds.isEmpty ? nil : feeds, headers: headers, endpoint: endpoint.name, logger: logger)
    }
}

/// Records, before and after a request, that its user may have changed data.
struct WriteMarks: Sendable {
    /// Nil if the service has no feeds.
    fileprivate let feeds: SharedFeeds?
    fileprivate let headers: HTTPHeaders
    fileprivate let endpoint: String
    fileprivate let logger: Logger

    /// Records the user before the request is sent, in case this process ends before the response.
    func before() async -> Result<Void, RequestRefusal> {
        do throws(LedgerStorageError) {
            try await feeds?.wrote(headers, endpoint, isAccepted: false)
            return .success(())
        } catch {
            logger.error("\(error)")
            return .failure(RequestRefusal(503, "The storage cannot be written.", headers: ["Retry-After": "5"]))
        }
    }

    /// Records the user after the response of the service, or its loss, and before the answer.
    ///
    /// - Parameter status: The status of the response, or nil if it was lost.
    func after(status: Int?) async {
        do throws(LedgerStorageError) {
            try await feeds?.wrote(headers, endpoint, isAccepted: status != 401 && status != 403)
        } catch {
            logger.error("\(error)")
        }
    }
}
