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
            let feed = feeds.feed(kind.endpoint.name, target.query), FeedCall.mayAnswer(request, target)
        else { return nil }
        return (feed, target)
    }

    /// Runs a request that may modify data. Afterwards, feeds contain its changes before they answer the same user.
    func modifying(
        _ request: IncomingRequest, _ kind: RequestClass,
        _ body: () async throws(RequestRefusal) -> GatewayResponse
    ) async throws(RequestRefusal) -> GatewayResponse {
        guard let feeds, !kind.endpoint.feeds.isEmpty else { return try await body() }
        // The first record is for a process that ends meanwhile.
        do throws(LedgerStorageError) {
            try await feeds.wrote(request.headers, kind.endpoint.name, isAccepted: false)
        } catch {
            logger.error("\(error)")
            throw RequestRefusal(503, "The storage cannot be written.", headers: ["Retry-After": "5"])
        }
        let result: Result<GatewayResponse, RequestRefusal>
        do throws(RequestRefusal) { result = .success(try await body()) } catch { result = .failure(error) }
        let isRefused =
            if case .success(let answer) = result { answer.status == 401 || answer.status == 403 } else { false }
        do throws(LedgerStorageError) {
            try await feeds.wrote(request.headers, kind.endpoint.name, isAccepted: !isRefused)
        } catch {
            logger.error("\(error)")
        }
        return try result.get()
    }
}
