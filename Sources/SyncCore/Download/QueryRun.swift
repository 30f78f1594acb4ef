package import EDM
package import Operations

/// The state machine of a defining query's download: a value without network, clock or log. The caller performs each
/// request and passes the response; the value returns the next step.
///
/// A run is full or incremental. It may restart once: if the service does not continue with a link that it returned
/// (expired, rejected), or answers a delta link with something other than a delta.
package struct QueryRun: Sendable, Hashable {
    /// A request of the run.
    package struct Request: Sendable, Hashable {
        /// The URL as the service or the query wrote it.
        package var url: String
        /// The value of the `Prefer` header, or nil for none.
        package var preferences: String?

        package init(url: String, preferences: String? = nil) {
            self.url = url
            self.preferences = preferences
        }
    }

    /// The interpretation of a status.
    package enum Verdict: Sendable, Hashable {
        /// The body is a page.
        case page
        /// The entity does not exist.
        case nothing
        /// The current ``request`` has to be sent, which has changed.
        case again
        /// The run has restarted: ``request`` is the first page of a full download.
        case restart
        /// The service rejects the request.
        case failure
    }

    /// The step after a page.
    package enum Step: Sendable, Hashable {
        /// ``request`` is the next page, at this URL.
        case next(String)
        /// The page was the last one.
        case finished(deltaLink: String?)
        /// The run has restarted: ``request`` is the first page of a full download, and the changes so far are
        /// incomplete.
        case restart
        /// The service's next links do not end.
        case endless(String, PagingLoop)
    }

    /// The way in which next links do not end.
    package enum PagingLoop: Sendable, Hashable {
        /// The links form a cycle.
        case circle
        /// The pages contain nothing new.
        case noProgress
        /// There are more pages than a query may have.
        case tooManyPages
    }

    /// The mode of the run, which changes when it restarts.
    package private(set) var mode: DownloadMode
    /// The next request.
    package private(set) var request: Request
    /// Whether the run downloads the complete result of the query.
    package private(set) var isFull: Bool

    private let query: String
    private let options: Options
    private let isSingle: Bool
    private var seen: Set<ExactText> = []
    private var progress: PageProgress
    private var preferring = true
    /// Whether ``request`` is left from an earlier download, so that the service may have discarded it.
    private var isOld: Bool

    /// The largest number of pages of a query, so that endless next links cannot fill the disk.
    static let pageLimit = 1_000_000

    /// The options for all runs of a download.
    package struct Options: Sendable, Hashable {
        package var settings: DefiningQuerySettings
        /// The preferred number of entities on a page, or nil to leave it to the service.
        package var pageSize: Int?
        /// Whether the version is V2 or V3. These return delta links without a request, which are used only if
        /// ``usesLegacyDeltas``.
        package var isLegacy: Bool
        /// Whether V2 deltas report deletions; see `ServiceOptions.hasDeletionsInV2`.
        package var usesLegacyDeltas: Bool
        /// The number of consecutive pages that may contain nothing new.
        package var fruitlessPages: Int

        package init(
            settings: DefiningQuerySettings = DefiningQuerySettings(), pageSize: Int? = nil, isLegacy: Bool = false,
            usesLegacyDeltas: Bool = false, fruitlessPages: Int = 100
        ) {
            self.fruitlessPages = fruitlessPages
            self.settings = settings
            self.pageSize = pageSize
            self.isLegacy = isLegacy
            self.usesLegacyDeltas = usesLegacyDeltas
        }

        /// Whether changes are requested from the service.
        var usesDeltas: Bool { settings.trackDeltas != .always && (!isLegacy || usesLegacyDeltas) }
    }

    /// Begins a run.
    ///
    /// - Parameters:
    ///   - isSingle: Whether the result is a single entity, for which there are no deltas.
    ///   - now: The current time, for the age of links.
    package init(_ state: QueryState, options: Options, isSingle: Bool, now: Timestamp) {
        query = state.query.query
        self.options = options
        self.isSingle = isSingle
        progress = PageProgress(limit: options.fruitlessPages)
        let usesDeltas = options.usesDeltas && !isSingle
        func isFresh(_ link: QueryState.ServiceLink) -> Bool {
            let age = now.subtractingReportingOverflow(link.time).partialValue
            let (lifetime, overflows) = Int64(clamping: options.settings.deltaTokenLifetime)
                .multipliedReportingOverflow(by: 60_000)
            // A clock that was set back does not measure the age.
            return overflows || age < lifetime
        }
        if state.run != 0, let next = state.next, isFresh(next), !state.isDelta || usesDeltas {
            (mode, isFull, isOld) = (.resumed, !state.isDelta, true)
            request = Request(url: next.url)
        } else if usesDeltas, let link = state.deltaLink, isFresh(link) {
            (mode, isFull, isOld) = (.delta, false, true)
            request = Request(url: link.url)
            request.preferences = maxPageSize
        } else {
            (mode, isFull, isOld) = (.full, true, false)
            request = Request(url: query)
            request.preferences = firstPreferences
        }
        seen = [ExactText(request.url)]
    }

    /// A Boolean value that indicates whether downloaded entities are compared with the stored ones, so that only
    /// differences are logged.
    package var compares: Bool { isFull && options.settings.trackDeltas != .never }

    private var maxPageSize: String? {
        options.isLegacy || isSingle ? nil : options.pageSize.map { "odata.maxpagesize=\($0)" }
    }

    /// The preferences of a request that may lead to a delta link (OData 4.0 Part 1, 8.2.8.6).
    private var firstPreferences: String? {
        guard preferring, !options.isLegacy, !isSingle else { return nil }
        let all = [options.usesDeltas ? "odata.track-changes" : nil, maxPageSize].compactMap { $0 }
        return all.isEmpty ? nil : all.joined(separator: ",")
    }

    // MARK: Answers

    /// Interprets the status of the response to ``request``.
    package mutating func answered(_ status: Int) -> Verdict {
        if (200..<300).contains(status) {
            return isSingle && status == 204 ? .nothing : .page
        }
        if isSingle, status == 404 || status == 410 { return .nothing }
        // A service must ignore unknown preferences (8.2.8), but some refuse them.
        if isFull, request.preferences != nil, Self.refusesPreferences.contains(status) {
            preferring = false
            request.preferences = nil
            return .again
        }
        // The standard status of an expired delta link is 410 (11.3); other services return 400, 404, 500 and more. If
        // the request was unauthorized or came too early, a full download would fail too.
        let mayPass = Self.saysNothingOfLinks.contains(status)
        guard !mayPass, isOld || request.url != query, beginAnew() else { return .failure }
        return .restart
    }

    private static let refusesPreferences: Set<Int> = [400, 405, 406, 412, 417, 501]
    private static let saysNothingOfLinks: Set<Int> = [401, 403, 407, 408, 425, 429, 502, 503, 504]

    /// Returns whether the page's context corresponds to the request. If not, the run has restarted, and the page has
    /// to be ignored.
    ///
    /// - Parameter context: The context URL of the page, as far as it was read.
    package mutating func admits(context: String?) -> Bool {
        guard !isFull, let context, !options.isLegacy, !context.hasSuffix("$delta"), !context.hasSuffix("%24delta")
        else { return true }
        // The service answers the delta link with the full result, which does not contain deletions.
        _ = beginAnew()
        return false
    }

    /// Returns the step after a completely read page.
    ///
    /// - Parameters:
    ///   - context: The context URL of the page.
    ///   - first: The identity of the page's first item, or nil if the page is empty.
    package mutating func ended(
        next: String?, deltaLink: String?, context: String?, first: ExactText?
    ) -> Step {
        if let next {
            guard seen.insert(ExactText(next)).inserted else {
                // A service that no longer has a page of an earlier download may link back to a previous one.
                return isOld && beginAnew() ? .restart : .endless(next, .circle)
            }
            guard seen.count <= Self.pageLimit else { return .endless(next, .tooManyPages) }
            guard progress.shouldContinue(after: first) else { return .endless(next, .noProgress) }
            request = Request(url: next)
            return .next(next)
        }
        // Without a delta context and a new delta link, the response may not have been a delta at all.
        if !isFull, deltaLink == nil, context == nil, beginAnew() { return .restart }
        return .finished(deltaLink: options.usesDeltas && !isSingle ? deltaLink : nil)
    }

    /// Restarts the run after an unreadable response to a link from an earlier download, which may differ from the
    /// response to the query. Returns whether it has restarted.
    package mutating func passesOverUnreadable() -> Bool { isOld && beginAnew() }

    /// Restarts the run with a full download. Returns false if it has already restarted.
    private mutating func beginAnew() -> Bool {
        guard mode != .restarted else { return false }
        (mode, isFull, isOld) = (.restarted, true, false)
        request = Request(url: query)
        request.preferences = firstPreferences
        seen = [ExactText(query)]
        progress = PageProgress(limit: options.fruitlessPages)
        return true
    }
}
