internal import GatewayCore
internal import Logging
internal import ODataWire
internal import Transport

/// One request for a shared feed.
struct FeedCall: Sendable {
    let service: GatewayService
    let feeds: SharedFeeds
    let feed: SharedFeed
    let kind: RequestClass
    let request: IncomingRequest
    let target: FeedRequest

    private var endpoint: String { kind.endpoint.name }
    private var isContinued: Bool { target.token != nil }

    /// - Returns: `nil` if the request has to pass through.
    func answer() async throws(RequestRefusal) -> GatewayResponse? {
        let user = feeds.user(request.headers)
        guard try await isAllowed(user) else { return nil }
        var token: FeedToken?
        if let text = target.token {
            guard let opened = feeds.seal.opened(text, endpoint: endpoint) else { throw Self.gone }
            token = opened
        }
        switch token?.place {
        case .rows, .changes:
            guard let token, let known = await feed.known() else { throw Self.gone }
            let head = await newest(known, token)
            if let written = try await lastWrite(isExact: true), written >= token.began { throw Self.gone }
            return try await answer(head, from: token, Self.check(token, head))
        case .delta, nil:
            guard let known = try await current() else {
                if isContinued { throw Self.unavailable }
                return nil
            }
            let head = await newest(known, token)
            guard Representation.accepts(request.headers, head.description, language: feed.settings.language) else {
                if isContinued { throw Self.gone }
                return nil
            }
            if !isContinued, !Representation.asksForDeltaLink(request.headers, head.description) { return nil }
            return try await answer(head, from: token, token.map { Self.check($0, head) } ?? true)
        }
    }

    /// Returns the newest generation of the storage, if a token shows that this node may not know it.
    private func newest(_ head: FeedHead, _ token: FeedToken?) async -> FeedHead {
        guard let token, !token.isValid(for: head), feeds.storage.isShared else { return head }
        return await feed.reloaded() ?? head
    }

    private static func check(_ token: FeedToken, _ head: FeedHead) -> Bool { token.isValid(for: head) }

    /// Returns whether the query of a request that does not continue a response can come from the feed at all, so that
    /// the service need not be asked for the permission.
    static func mayAnswer(_ request: IncomingRequest, _ target: FeedRequest, _ feed: FeedSettings) -> Bool {
        target.token != nil
            || [false, true].contains { isLegacy in
                let description = FeedDescription(isLegacy: isLegacy)
                return Representation.accepts(request.headers, description, language: feed.language)
                    && Representation.asksForDeltaLink(request.headers, description)
            }
    }

    private func current() async throws(RequestRefusal) -> FeedHead? {
        await feed.current(written: try await lastWrite(isExact: false))
    }

    /// The time of the last change of the user.
    private func lastWrite(isExact: Bool) async throws(RequestRefusal) -> Int64? {
        do throws(LedgerStorageError) {
            return try await feeds.lastWrite(request.headers, endpoint, isExact: isExact)
        } catch {
            service.logger.error("\(error)")
            throw Self.unavailable
        }
    }

    static let gone = RequestRefusal(410, "The link has expired. Read the query again.")
    private static let unavailable = RequestRefusal(
        503, "The service cannot be read at the moment.", headers: ["Retry-After": "5"])

    // MARK: Permission

    private func isAllowed(_ user: [UInt8]) async throws(RequestRefusal) -> Bool {
        if feed.settings.authorization == .any { return true }
        let now = await feeds.storage.time()
        if let known = feeds.permission(user, endpoint, feed.settings), known.isFresh(now: now) {
            if known.isAllowed { return true }
            // The service answers the query itself. For a delta link, its refusal is needed.
            if !isContinued { return false }
        }
        guard let origin = service.origin(kind.endpoint) else { return false }
        var headers = HeaderRules.forwarded(request.headers, trustsForwarded: service.configuration.trustsForwarded)
        headers["Prefer"] = nil
        let head: WireResponse
        do throws(TransportError) {
            head = try await origin.probe(kind.roots.originTarget(feed.settings.query.probe), headers)
        } catch {
            service.countError(error, kind.endpoint)
            throw service.refusal(error, isSafe: true)
        }
        let probe = FeedPermission.probe(status: head.status, contentType: head.headers["Content-Type"])
        service.count(.permissionProbes, feed.settings.name, "\(probe)")
        switch probe {
        case .allowed:
            feeds.remember(FeedPermission(isAllowed: true, checked: now), user, endpoint, feed.settings)
            return true
        case .refused:
            feeds.remember(FeedPermission(isAllowed: false, checked: now), user, endpoint, feed.settings)
            // The service answers the query itself, without a delta link.
            if !isContinued { return false }
            throw Self.refusal(head)
        case .unknown:
            throw RequestRefusal(503, "The service cannot be asked for permission.", headers: ["Retry-After": "5"])
        }
    }

    /// The response to a delta link of a user who may not read the feed: the rejection by the service.
    private static func refusal(_ head: WireResponse) -> RequestRefusal {
        var headers = HTTPHeaders()
        for challenge in head.headers.values("WWW-Authenticate") {
            headers.add(name: "WWW-Authenticate", value: challenge)
        }
        let status = (400..<500).contains(head.status) ? head.status : 403
        return RequestRefusal(status, "The service does not allow this user to read the query.", headers: headers)
    }

    // MARK: Answers

    private func answer(
        _ head: FeedHead, from token: FeedToken?, _ isValid: Bool
    ) async throws(RequestRefusal) -> GatewayResponse {
        guard isValid else { throw Self.gone }
        let preferences = Representation.preferences(request.headers)
        let limit = min(preferences.pageSize ?? .max, service.configuration.limits.pageRows)
        let page: [FeedItem]
        do throws(LedgerStorageError) { page = try await checkedItems(head, token, limit + 1) } catch {
            service.logger.error("\(error)")
            throw Self.unavailable
        }
        let items = cut(page, limit)
        let isLast = items.count == page.count
        let next = continuation(head, token, isLast ? nil : items.last)
        guard let sealed = feeds.seal.sealed(next, endpoint: endpoint) else { throw Self.unavailable }
        let isDelta =
            switch token?.place {
            case .delta, .changes: true
            case .rows, nil: false
            }
        let writer = FeedAnswer(
            head, target.query, roots: kind.roots, isDelta: isDelta,
            maxVersion: request.headers["OData-MaxVersion"])
        let body = writer.body(items, token: sealed, isLast: isLast)
        service.count(.feedReads, feed.settings.name, isDelta ? (items.isEmpty ? "empty" : "delta") : "full")
        return response(
            head, body, tracks: preferences.tracksChanges && token == nil)
    }

    /// Returns the items, unless the storage has forgotten some of them meanwhile.
    private func checkedItems(
        _ head: FeedHead, _ token: FeedToken?, _ limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        if token?.place == .delta, token?.generation == head.generation { return [] }
        let found = try await items(head, token, limit)
        guard let now = try await feeds.storage.head(head.id), head.generation >= now.tokensFrom,
            token?.isValid(for: now) ?? true
        else { throw LedgerStorageError("The feed \(feed.settings.name) has begun anew.") }
        return found
    }

    private func items(
        _ head: FeedHead, _ token: FeedToken?, _ limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        let storage = feeds.storage
        switch token?.place {
        case nil: return try await storage.rows(head.id, at: head.generation, after: nil, limit: limit)
        case .rows(let key):
            return try await storage.rows(head.id, at: token?.generation ?? 0, after: key, limit: limit)
        case .delta:
            let start = token?.generation ?? 0
            return try await storage.changes(head.id, from: start, to: head.generation, after: nil, limit: limit)
        case .changes(let start, let position):
            return try await storage.changes(
                head.id, from: start, to: token?.generation ?? 0, after: position, limit: limit)
        }
    }

    /// Returns the items of a page, at least one.
    private func cut(_ items: [FeedItem], _ limit: Int) -> [FeedItem] {
        var bytes = 0
        for (index, item) in items.enumerated() {
            bytes += FeedAnswer.size(item)
            if index > 0, index == limit || bytes > service.configuration.limits.pageBytes {
                return Array(items[..<index])
            }
        }
        return items
    }

    /// Returns the token of the link at the end of a page.
    ///
    /// - Parameter last: The last item, if another page follows.
    private func continuation(_ head: FeedHead, _ token: FeedToken?, _ last: FeedItem?) -> FeedToken {
        let isPage =
            switch token?.place {
            case .rows, .changes: true
            case .delta, nil: false
            }
        var next = FeedToken(
            feed: head.id, salt: head.salt, generation: isPage ? token?.generation ?? 0 : head.generation, place: .delta
        )
        guard let last else { return next }
        next.began = isPage ? token?.began ?? 0 : head.readBegan ?? 0
        let position = FeedPosition(since: last.since, key: last.key)
        switch token?.place {
        case nil, .rows: next.place = .rows(after: last.key)
        case .delta: next.place = .changes(start: token?.generation ?? 0, after: position)
        case .changes(let start, _): next.place = .changes(start: start, after: position)
        }
        return next
    }

    private func response(_ head: FeedHead, _ body: [UInt8], tracks: Bool) -> GatewayResponse {
        var headers: HTTPHeaders = ["Cache-Control": "private, no-store"]
        if head.description.isLegacy {
            headers["Content-Type"] = "application/json;charset=utf-8"
            headers["DataServiceVersion"] = "2.0"
        } else {
            headers["Content-Type"] = "application/json;odata.metadata=minimal"
            headers["OData-Version"] = head.description.version ?? "4.0"
            if tracks { headers["Preference-Applied"] = "odata.track-changes" }
        }
        return GatewayResponse(status: 200, headers: headers, body: .bytes(body))
    }
}
