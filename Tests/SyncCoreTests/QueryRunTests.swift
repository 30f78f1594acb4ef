import EDM
import Operations
import SyncCore
import Testing

/// Requests and interpretation of responses of a query run, without a service.
struct QueryRunTests {
    private static let query = DefiningQuery(name: "Q", query: "Orders?$filter=Amount gt 1")
    private static let minute: Timestamp = 60_000

    private static func link(_ url: String, at time: Timestamp = 0) -> QueryState.ServiceLink {
        QueryState.ServiceLink(url: url, time: time)
    }

    private func run(
        deltaLink: QueryState.ServiceLink? = nil, next: QueryState.ServiceLink? = nil, isDelta: Bool = false,
        _ tracking: DefiningQuerySettings.DeltaTracking = .auto, lifetime: Int = 100, pageSize: Int? = nil,
        isLegacy: Bool = false, usesLegacyDeltas: Bool = false, isSingle: Bool = false, now: Timestamp = 0
    ) -> QueryRun {
        QueryRun(
            QueryState(
                query: Self.query, run: 1, isComplete: next == nil, isDelta: isDelta, deltaLink: deltaLink, next: next),
            options: QueryRun.Options(
                settings: DefiningQuerySettings(trackDeltas: tracking, deltaTokenLifetime: lifetime),
                pageSize: pageSize, isLegacy: isLegacy, usesLegacyDeltas: usesLegacyDeltas),
            isSingle: isSingle, now: now)
    }

    @Test func `a first download requests all entities and change tracking`() {
        let first = run(pageSize: 50)
        #expect(first.mode == .full)
        #expect(first.request.url == Self.query.query)
        #expect(first.request.preferences == "odata.track-changes,odata.maxpagesize=50")
        #expect(first.compares)
    }

    @Test func `a delta link is requested verbatim`() {
        let delta = run(deltaLink: Self.link("http://x/Orders?$deltatoken=a%2Fb"))
        #expect(delta.mode == .delta)
        #expect(delta.request.url == "http://x/Orders?$deltatoken=a%2Fb")
        #expect(delta.request.preferences == nil)
        #expect(!delta.compares)
    }

    @Test func `a next link is requested verbatim and without preferences`() {
        var run = run(pageSize: 50)
        let page = "Orders?$skiptoken=%24x"
        #expect(run.ended(next: page, deltaLink: nil, context: nil, first: ExactText(page)) == .next(page))
        #expect(run.request == QueryRun.Request(url: page, preferences: nil))
    }

    @Test(arguments: [
        (DefiningQuerySettings.DeltaTracking.auto, true, true, true), (.always, false, false, true),
        (.never, true, true, false),
    ])
    func `the settings determine whether a query tracks changes`(
        _ tracking: DefiningQuerySettings.DeltaTracking, _ prefers: Bool, _ usesLink: Bool, _ compares: Bool
    ) {
        let first = run(tracking)
        #expect((first.request.preferences == "odata.track-changes") == prefers)
        #expect(first.compares == compares)
        let second = run(deltaLink: Self.link("delta"), tracking)
        #expect((second.mode == .delta) == usesLink)
        var last = run(tracking)
        let link = prefers ? "later" : nil
        #expect(last.ended(next: nil, deltaLink: "later", context: nil, first: nil) == .finished(deltaLink: link))
    }

    @Test func `a delta link is used until its lifetime has passed`() {
        let link = Self.link("delta", at: 1_000)
        #expect(run(deltaLink: link, lifetime: 5, now: 1_000 + 5 * Self.minute - 1).mode == .delta)
        #expect(run(deltaLink: link, lifetime: 5, now: 1_000 + 5 * Self.minute).mode == .full)
        #expect(run(deltaLink: link, lifetime: 0, now: 1_000).mode == .full)
        // A clock that was set back, and times that overflow.
        #expect(run(deltaLink: link, lifetime: 5, now: 0).mode == .delta)
        #expect(run(deltaLink: link, lifetime: .max, now: .max).mode == .delta)
        #expect(run(deltaLink: Self.link("delta", at: .min), lifetime: 5, now: .max).mode == .delta)
    }

    @Test func `an interrupted download resumes after the last page in its mode`() {
        let full = run(deltaLink: Self.link("delta"), next: Self.link("page3"))
        #expect(full.mode == .resumed)
        #expect(full.isFull)
        #expect(full.compares)
        #expect(full.request.url == "page3")
        let delta = run(deltaLink: Self.link("delta"), next: Self.link("page3"), isDelta: true)
        #expect(delta.mode == .resumed)
        #expect(!delta.isFull)
        #expect(run(next: Self.link("page3"), isDelta: true, .always).mode == .full)
        #expect(run(next: Self.link("page3"), lifetime: 1, now: 60_000).mode == .full)
    }

    @Test(arguments: [400, 404, 409, 410, 412, 422, 500, 501])
    func `a link that the service no longer accepts leads to one full download`(_ status: Int) {
        for var run in [
            run(deltaLink: Self.link("delta")), run(next: Self.link("page3")),
            run(next: Self.link("page3"), isDelta: true),
        ] {
            #expect(run.answered(status) == .restart)
            #expect(run.mode == .restarted)
            #expect(run.isFull)
            #expect(run.request.url == Self.query.query)
            #expect(run.request.preferences == "odata.track-changes")
            #expect(run.answered(200) == .page)
            #expect(run.ended(next: "page2", deltaLink: nil, context: nil, first: ExactText("page2")) == .next("page2"))
            #expect(run.answered(410) == .failure)
        }
    }

    @Test(arguments: [401, 403, 407, 408, 425, 429, 502, 503, 504])
    func `a temporary error does not lead to a full download`(_ status: Int) {
        var run = run(deltaLink: Self.link("delta"))
        #expect(run.answered(status) == .failure)
        #expect(run.mode == .delta)
    }

    @Test func `a skip token that expires during a full download restarts it`() {
        var run = run()
        #expect(run.ended(next: "page2", deltaLink: nil, context: nil, first: ExactText("page2")) == .next("page2"))
        #expect(run.answered(410) == .restart)
        #expect(run.request.url == Self.query.query)
    }

    @Test func `a rejected query ends with the rejection`() {
        var run = run(isLegacy: true)
        #expect(run.answered(400) == .failure)
        #expect(run.answered(404) == .failure)
    }

    @Test(arguments: [400, 501]) func `a request with rejected preferences is repeated once without them`(_ status: Int)
    {
        var run = run()
        #expect(run.answered(status) == .again)
        #expect(run.request == QueryRun.Request(url: Self.query.query, preferences: nil))
        #expect(run.answered(status) == .failure)
    }

    @Test func `a response with all entities to a delta link is not a delta`() {
        var run = run(deltaLink: Self.link("delta"))
        #expect(run.admits(context: nil) == true)
        #expect(run.admits(context: "http://x/$metadata#Orders/$delta") == true)
        #expect(run.admits(context: "http://x/$metadata#Orders") == false)
        #expect(run.mode == .restarted)
        #expect(run.admits(context: "http://x/$metadata#Orders") == true)
    }

    @Test
    func
        `a delta without a new link leads to a full download, at once if the response does not identify itself as a delta`()
    {
        var said = run(deltaLink: Self.link("delta"))
        #expect(
            said.ended(next: nil, deltaLink: nil, context: "$metadata#Orders/$delta", first: nil)
                == .finished(deltaLink: nil))
        var silent = run(deltaLink: Self.link("delta"))
        #expect(silent.ended(next: nil, deltaLink: nil, context: nil, first: nil) == .restart)
        #expect(silent.isFull)
    }

    @Test func `delta links of V2 are used only if they are known to report deletions`() {
        #expect(run(deltaLink: Self.link("delta"), isLegacy: true).mode == .full)
        #expect(run(isLegacy: true).request.preferences == nil)
        #expect(run(deltaLink: Self.link("delta"), isLegacy: true, usesLegacyDeltas: true).mode == .delta)
        var unused = run(isLegacy: true)
        #expect(unused.ended(next: nil, deltaLink: "delta", context: nil, first: nil) == .finished(deltaLink: nil))
    }

    @Test func `a cycle of next links ends the download`() {
        var run = run()
        #expect(run.ended(next: "page2", deltaLink: nil, context: nil, first: ExactText("page2")) == .next("page2"))
        #expect(run.ended(next: "page3", deltaLink: nil, context: nil, first: ExactText("page3")) == .next("page3"))
        #expect(
            run.ended(next: "page2", deltaLink: nil, context: nil, first: ExactText("page2"))
                == .endless("page2", .circle))
        var loop = self.run()
        #expect(
            loop.ended(next: Self.query.query, deltaLink: nil, context: nil, first: ExactText(Self.query.query))
                == .endless(Self.query.query, .circle))
    }

    @Test func `a resumption link without a download run is ignored`() {
        let state = QueryState(query: Self.query, run: 0, isComplete: false, isDelta: false, next: Self.link("page3"))
        #expect(QueryRun(state, options: .init(), isSingle: false, now: 0).mode == .full)
    }

    @Test func `a cycle of next links in a resumed download restarts it once`() {
        var run = run(next: Self.link("page3"))
        #expect(run.ended(next: "page4", deltaLink: nil, context: nil, first: ExactText("page4")) == .next("page4"))
        #expect(run.ended(next: "page3", deltaLink: nil, context: nil, first: ExactText("page3")) == .restart)
        #expect(run.mode == .restarted)
        #expect(run.ended(next: "page4", deltaLink: nil, context: nil, first: ExactText("page4")) == .next("page4"))
        #expect(
            run.ended(next: "page4", deltaLink: nil, context: nil, first: ExactText("page4"))
                == .endless("page4", .circle))
    }

    @Test func `a single entity is requested as it is, and may be missing`() {
        var single = run(deltaLink: Self.link("delta"), pageSize: 5, isSingle: true)
        #expect(single.mode == .full)
        #expect(single.request == QueryRun.Request(url: Self.query.query, preferences: nil))
        #expect(single.compares)
        #expect(single.answered(404) == .nothing)
        #expect(single.answered(204) == .nothing)
        #expect(single.answered(200) == .page)
        #expect(single.ended(next: nil, deltaLink: "x", context: nil, first: nil) == .finished(deltaLink: nil))
    }
}
