internal import Crypto
internal import GatewayCore
internal import ODataWire
internal import Transport

/// One reading of a service for a feed: it reads all pages, judges missing rows, and publishes the changes. Nothing is
/// published if anything is not understood.
struct FeedRefresh: Sendable {
    let origin: OriginClient
    let endpoint: GatewayConfiguration.Endpoint
    let settings: FeedSettings
    let storage: any FeedStorage
    /// The value of `Authorization` for the service.
    let credentials: String?
    let limits: ReadingLimits
    /// The name of this process among the nodes of the storage.
    let node: String

    /// The end of a reading.
    enum ReadingEnd: Sendable {
        case published(FeedHead)
        /// Another node has published this generation since the caller looked.
        case adopted(FeedHead)
        /// Another reading has begun.
        case fenced
        /// Another node is reading the feed.
        case busy
    }

    /// - Parameter known: The newest generation that the caller knows.
    func run(_ model: FeedModel, known: FeedHead?) async throws(FeedError) -> ReadingEnd {
        let source = try FeedSource(model, set: settings.query.set, root: endpoint.root)
        let identity = FeedIdentity(
            endpoint: endpoint.name, query: settings.query.description,
            shape: "\(endpoint.root)\n\(source.shape)")
        let head: FeedHead
        let claim: FeedClaim
        do throws(LedgerStorageError) {
            head = try await storage.feed(identity)
            claim = try await storage.claim(head.id, node: node)
        } catch {
            throw FeedError(error.description, cause: .storage)
        }
        switch claim {
        case .busy: return .busy
        case .missing: return .fenced
        case .granted(let lease):
            if storage.isShared, let newer = await newer(than: known, lease) { return .adopted(newer) }
            return try await read(source, head, lease)
        }
    }

    /// Returns the generation that another node has published before the lease was granted.
    private func newer(than known: FeedHead?, _ lease: FeedLease) async -> FeedHead? {
        guard let head = (try? await storage.head(lease.feed)) ?? nil, let began = head.readBegan, head.generation > 0,
            known?.id != head.id || known?.readBegan != began, (try? await storage.release(lease)) != nil
        else { return nil }
        return head
    }

    /// Reads with a lease, which is renewed while the service answers.
    private func read(
        _ source: FeedSource, _ head: FeedHead, _ lease: FeedLease
    ) async throws(FeedError) -> ReadingEnd {
        let renewal = storage.isShared ? Task { [storage] in await Self.renew(lease, storage) } : nil
        defer { renewal?.cancel() }
        do throws(FeedError) {
            let (changes, description) = try await changes(source, head)
            renewal?.cancel()
            return try await publish(lease, changes, description)
        } catch {
            if Task.isCancelled {
                // The gateway stops. A task of its own is not cancelled.
                await Task { [storage] in try? await storage.release(lease) }.value
            } else {
                // Without it the lease ends by itself.
                try? await storage.refuse(lease, error.description)
            }
            throw error
        }
    }

    private static func renew(_ lease: FeedLease, _ storage: any FeedStorage) async {
        while true {
            try? await Task.sleep(for: .milliseconds(FeedLease.milliseconds / 3))
            if Task.isCancelled { return }
            // After an error the lease may still be valid.
            guard (try? await storage.renew(lease)) ?? true else { return }
        }
    }

    private func publish(
        _ lease: FeedLease, _ changes: [FeedChange], _ description: FeedDescription
    ) async throws(FeedError) -> ReadingEnd {
        do throws(LedgerStorageError) {
            guard let published = try await storage.publish(lease, changes, description) else { return .fenced }
            try await storage.forget(published.id, lifetime: settings.tokenMilliseconds)
            return .published(try await storage.head(published.id) ?? published)
        } catch {
            throw FeedError(error.description, cause: .storage)
        }
    }

    /// Returns the changes since the newest generation.
    private func changes(
        _ source: FeedSource, _ head: FeedHead
    ) async throws(FeedError) -> ([FeedChange], FeedDescription) {
        let base: [String: RowDigest]
        do throws(LedgerStorageError) { base = try await storage.digests(head.id) } catch {
            throw FeedError(error.description, cause: .storage)
        }
        var run = RefreshRun(base: base)
        let limits = limits
        let description = try await readPages(source, head.salt) { row throws(FeedError) in
            run.add(row.key, row.digest, body: row.body)
            try limits.check(run)
        }
        var changes = run.changes.map(FeedChange.row)
        let missing = run.missing
        let canCheck = settings.query.check(key: "(1)", names: source.keyNames) != nil
        switch RemovalCheck(
            missing: missing.count, base: base.count, canCheck: canCheck, isAccepted: head.acceptsRemovals)
        {
        case .nothing: break
        case .refuse:
            throw FeedError(
                "\(missing.count) of \(base.count) rows are missing. Check the service and the permissions of the gateway; then run: tidelog-gateway feeds --accept \(settings.name)",
                cause: .removals)
        case .check: changes += try await check(missing, source)
        case .readAgain: changes += try await readAgain(missing, source, head.salt)
        }
        return (changes, description)
    }

    // MARK: Pages

    private func readPages(
        _ source: FeedSource, _ salt: [UInt8], _ body: (FeedPageReader.Row) throws(FeedError) -> Void
    ) async throws(FeedError) -> FeedDescription {
        var walk = PageSequence()
        var description = FeedDescription(isLegacy: source.isLegacy)
        var target = settings.query.description
        var isFirst = true
        while true {
            guard walk.follows(target) else { throw FeedError("The next links of the service do not end.") }
            var reader = FeedPageReader(source) { content in
                var hash = SHA256()
                hash.update(data: salt)
                hash.update(data: content)
                return hash.finalize().withUnsafeBytes { RowDigest($0) }
            }
            let head = try await get(target, source.isLegacy) { chunk throws(FeedError) in
                for row in try reader.rows(chunk) { try body(row) }
            }
            guard head.status == 200 else { throw Self.refused(head) }
            for row in try reader.end() { try body(row) }
            if isFirst {
                description.context = reader.context.map { Self.absolute($0, endpoint.root) }
                description.version = head.headers["OData-Version"]
                isFirst = false
            }
            guard let next = reader.nextLink else { return description }
            target = try relative(next)
        }
    }

    /// Returns the target relative to the service root.
    private func relative(_ link: String) throws(FeedError) -> String {
        if let rest = endpoint.root.rest(of: link), RequestPath.isContained(rest) { return rest }
        guard !link.hasPrefix("/"), !link.contains("://"), RequestPath.isContained(link) else {
            throw FeedError("A next link of the service leads to another server.")
        }
        return link.hasPrefix("?") ? settings.query.set + link : link
    }

    /// A context URL may be relative to the service root.
    private static func absolute(_ context: String, _ root: ServiceRoot) -> String {
        context.hasPrefix("$metadata") ? "\(root)\(context)" : context
    }

    // MARK: Missing rows

    private func check(_ keys: [String], _ source: FeedSource) async throws(FeedError) -> [FeedChange] {
        var removed: [FeedChange] = []
        for key in keys {
            guard let (url, isEntity) = settings.query.check(key: key, names: source.keyNames) else {
                throw FeedError("The row \(key) cannot be checked.")
            }
            var reader = FeedPageReader(source) { _ in RowDigest([]) }
            var count: Int?
            var failure: FeedError?
            let head = try await get(url, source.isLegacy) { chunk throws(FeedError) in
                guard !isEntity, failure == nil else { return }
                do throws(FeedError) { count = (count ?? 0) + (try reader.rows(chunk)).count } catch { failure = error }
            }
            if !isEntity, failure == nil {
                do throws(FeedError) { count = (count ?? 0) + (try reader.end()).count } catch { count = nil }
            }
            if failure != nil { count = nil }
            switch RemovalCheck.presence(status: head.status, isEntity: isEntity, count: count) {
            case .present: break
            case .gone(let reason): removed.append(.removed(key: key, reason))
            case .unknown: throw Self.refused(head)
            }
        }
        return removed
    }

    /// Reads everything again, and returns the removals of rows that are missing in both readings.
    private func readAgain(
        _ missing: [String], _ source: FeedSource, _ salt: [UInt8]
    ) async throws(FeedError) -> [FeedChange] {
        var gone = Set(missing)
        _ = try await readPages(source, salt) { gone.remove($0.key) }
        return gone.sorted().map { .removed(key: $0, .changed) }
    }

    // MARK: Requests

    /// Sends a request with the credentials of the gateway. `body` receives the bytes of a response with status 200.
    private func get(
        _ target: String, _ isLegacy: Bool, _ body: ([UInt8]) throws(FeedError) -> Void
    ) async throws(FeedError) -> WireResponse {
        var headers = Representation.requestFields(isLegacy: isLegacy)
        if let credentials { headers["Authorization"] = credentials }
        let (head, received): (WireResponse, ResponseBody)
        do throws(TransportError) {
            (head, received) = try await origin.stream("GET", endpoint.root.path + target, headers, .bytes([]))
        } catch {
            throw FeedError(error.message, cause: .origin)
        }
        guard head.status == 200 else { return head }
        guard (head.headers["Content-Type"] ?? "").lowercased().hasPrefix("application/json") else {
            throw FeedError("The service did not answer with JSON.")
        }
        var chunks = received.makeAsyncIterator()
        while let chunk = try await Self.next(&chunks) { try body(chunk) }
        return head
    }

    private static func next(_ chunks: inout ResponseBody.Iterator) async throws(FeedError) -> [UInt8]? {
        do throws(TransportError) { return try await chunks.next() } catch {
            throw FeedError(error.message, cause: .origin)
        }
    }

    private static func refused(_ head: WireResponse) -> FeedError {
        let seconds = head.headers["Retry-After"].flatMap { Int64($0) }.map { min(max($0, 0), 3_600) }
        return FeedError(
            "The service answered with status \(head.status).", cause: head.status == 200 ? .answer : .origin,
            retryAfter: seconds.map { $0 * 1_000 })
    }
}
