public import EDM
public import Operations

/// What to ask of a service in the course of a defining query's download, and what its answers mean: a value, without
/// network, clock or log. Whoever does the asking tells what came, and is told what is next.
///
/// A run is full or brings changes. It may begin anew, once: where the service does not go on with a link that it gave
/// (expired, refused), or answers a delta link with something that is no delta.
public struct QueryRun: Sendable, Hashable {
    /// One request.
    public struct Request: Sendable, Hashable {
        /// As the service or the query wrote it.
        public var url: String
        /// What the `Prefer` header says; nil for no such header.
        public var preferences: String?

        public init(url: String, preferences: String? = nil) {
            self.url = url
            self.preferences = preferences
        }
    }

    /// What a status means.
    public enum Verdict: Sendable, Hashable {
        /// The body is a page.
        case page
        /// There is no such entity.
        case nothing
        /// Ask again, with ``request`` as it is now.
        case again
        /// It began anew: ``request`` is the first page of everything.
        case restart
        /// The service refuses.
        case failure
    }

    /// What follows from a page.
    public enum Step: Sendable, Hashable {
        /// ``request`` is the next page, at this URL.
        case next(String)
        /// It was the last one.
        case finished(deltaLink: String?)
        /// It began anew: ``request`` is the first page of everything, and what came of the changes is not all.
        case restart
        /// The service's next links do not end.
        case endless(String, Endlessness)
    }

    /// How next links do not end.
    public enum Endlessness: Sendable, Hashable {
        /// They lead in a circle.
        case circle
        /// The pages bring nothing new.
        case noProgress
        /// There are more pages than a query may have.
        case tooManyPages
    }

    /// How the run began, or how it goes on since it began anew.
    public private(set) var mode: DownloadMode
    /// What to ask for now.
    public private(set) var request: Request
    /// Whether what comes is everything that the query brings.
    public private(set) var isFull: Bool

    private let query: String
    private let options: Options
    private let isSingle: Bool
    private var seen: Set<ExactText> = []
    private var progress: PageProgress
    private var preferring = true
    /// Whether ``request`` is one that the service gave in an earlier download, and that it may have forgotten since.
    private var isOld: Bool

    /// The most pages that one query may have: a service whose next links never end must not fill the disk.
    static let pageLimit = 1_000_000

    /// What decides the ways of all runs of a download.
    public struct Options: Sendable, Hashable {
        public var settings: DefiningQuerySettings
        /// How many entities a page is wanted to have; nil leaves it to the service.
        public var pageSize: Int?
        /// V2 and V3: delta links come unasked for, and are used only where ``usesLegacyDeltas``.
        public var isLegacy: Bool
        /// Whether deltas of V2 say what was deleted; see `ServiceOptions.tellsDeletionsInV2`.
        public var usesLegacyDeltas: Bool
        /// How many pages in a row may bring nothing that earlier ones did not bring.
        public var fruitlessPages: Int

        public init(
            settings: DefiningQuerySettings = DefiningQuerySettings(), pageSize: Int? = nil, isLegacy: Bool = false,
            usesLegacyDeltas: Bool = false, fruitlessPages: Int = 100
        ) {
            self.fruitlessPages = fruitlessPages
            self.settings = settings
            self.pageSize = pageSize
            self.isLegacy = isLegacy
            self.usesLegacyDeltas = usesLegacyDeltas
        }

        /// Whether the service is left to say what has changed.
        var usesDeltas: Bool { settings.trackDeltas != .always && (!isLegacy || usesLegacyDeltas) }
    }

    /// - Parameters:
    ///   - isSingle: the query leads to one entity: of that there are no changes to be had.
    ///   - now: what the ages of links are measured by.
    public init(_ state: QueryState, options: Options, isSingle: Bool, now: Timestamp) {
        query = state.query.query
        self.options = options
        self.isSingle = isSingle
        progress = PageProgress(limit: options.fruitlessPages)
        let usesDeltas = options.usesDeltas && !isSingle
        func isFresh(_ link: QueryState.ServiceLink) -> Bool {
            let age = now.subtractingReportingOverflow(link.time).partialValue
            let (lifetime, overflows) = Int64(clamping: options.settings.deltaTokenLifetime)
                .multipliedReportingOverflow(by: 60_000)
            // A clock that was put back says nothing of the age.
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

    /// Whether what comes is compared with what is known, so that only what differs is logged.
    public var compares: Bool { isFull && options.settings.trackDeltas != .never }

    private var maxPageSize: String? {
        options.isLegacy || isSingle ? nil : options.pageSize.map { "odata.maxpagesize=\($0)" }
    }

    /// For the request that a delta link may come of (OData 4.0 Part 1, 8.2.8.6).
    private var firstPreferences: String? {
        guard preferring, !options.isLegacy, !isSingle else { return nil }
        let all = [options.usesDeltas ? "odata.track-changes" : nil, maxPageSize].compactMap { $0 }
        return all.isEmpty ? nil : all.joined(separator: ",")
    }

    // MARK: Answers

    /// What the status of the answer to ``request`` means.
    public mutating func answered(_ status: Int) -> Verdict {
        if (200..<300).contains(status) {
            return isSingle && status == 204 ? .nothing : .page
        }
        if isSingle, status == 404 || status == 410 { return .nothing }
        // A service must ignore preferences that it does not know (8.2.8); some refuse them.
        if isFull, request.preferences != nil, Self.refusesPreferences.contains(status) {
            preferring = false
            request.preferences = nil
            return .again
        }
        // 410 is what the standard has for a delta link that has expired (11.3); others say 400, 404, 500 and what not. Who may
        // not ask, or shall ask later, would not be better off with everything.
        let mayPass = Self.saysNothingOfLinks.contains(status)
        guard !mayPass, isOld || request.url != query, beginAnew() else { return .failure }
        return .restart
    }

    private static let refusesPreferences: Set<Int> = [400, 405, 406, 412, 417, 501]
    private static let saysNothingOfLinks: Set<Int> = [401, 403, 407, 408, 425, 429, 502, 503, 504]

    /// Whether what a page says of itself fits what was asked for. Where not, it began anew, and the page is none.
    ///
    /// - Parameter context: the page's context URL, as far as it was read.
    public mutating func admits(context: String?) -> Bool {
        guard !isFull, let context, !options.isLegacy, !context.hasSuffix("$delta"), !context.hasSuffix("%24delta")
        else { return true }
        // The service answers the delta link with everything. That says nothing of what was deleted.
        _ = beginAnew()
        return false
    }

    /// What follows from a page that was read to its end.
    ///
    /// - Parameters:
    ///   - context: the page's context URL.
    ///   - first: identifies the page's first item; nil where the page is empty.
    public mutating func ended(
        next: String?, deltaLink: String?, context: String?, first: ExactText?
    ) -> Step {
        if let next {
            guard seen.insert(ExactText(next)).inserted else {
                // A service that does not know a page of an earlier download any more may lead back to a page before it.
                return isOld && beginAnew() ? .restart : .endless(next, .circle)
            }
            guard seen.count <= Self.pageLimit else { return .endless(next, .tooManyPages) }
            guard progress.goesOn(behind: first) else { return .endless(next, .noProgress) }
            request = Request(url: next)
            return .next(next)
        }
        // Without a word of changes and without a new link it need not have been a delta at all.
        if !isFull, deltaLink == nil, context == nil, beginAnew() { return .restart }
        return .finished(deltaLink: options.usesDeltas && !isSingle ? deltaLink : nil)
    }

    /// Whether the answer to ``request`` is asked for in another way where it cannot be read. Then it began anew: what a
    /// service makes of links that it gave long ago need not be what it makes of a query.
    public mutating func passesOverUnreadable() -> Bool { isOld && beginAnew() }

    /// Returns whether it could: the second time it could not.
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
