import EDM
import GatewayCore
import ODataWire
import Testing

struct FeedRulesTests {
    private func content(_ text: String, ignoring: Set<String> = []) throws -> [UInt8] {
        RowContent.bytes(of: try JSONValue.parse(Array(text.utf8)), ignoring: ignoring)
    }

    // MARK: Rows

    @Test(arguments: [
        (#"{"A":1,"B":"x"}"#, #"{ "B" : "\u0078", "A" : 1 }"#), (#"{"A":1,"@odata.editLink":"a"}"#, #"{"A":1}"#),
        (#"{"A":1,"N@odata.navigationLink":"a"}"#, #"{"A":1,"N@odata.navigationLink":"b"}"#),
        (#"{"A":1,"N":{"__deferred":{"uri":"a"}}}"#, #"{"A":1}"#),
        (#"{"__metadata":{"uri":"u","edit_media":"a"}}"#, #"{"__metadata":{"uri":"u"}}"#),
    ])
    func `order, white space and links are not content`(_ a: String, _ b: String) throws {
        #expect(try content(a) == content(b))
    }

    @Test(arguments: [
        (#"{"A":1}"#, #"{"A":2}"#), (#"{"A":1}"#, #"{"A":"1"}"#), (#"{"A":1}"#, #"{"A":1.0}"#),
        (#"{"A":null}"#, #"{}"#), (#"{"A":[1,2]}"#, #"{"A":[2,1]}"#), (#"{"A":[]}"#, #"{"A":{}}"#),
        (#"{"A":{"B":1},"C":2}"#, #"{"A":{"B":1,"C":2}}"#), (#"{"A":"b","C":""}"#, #"{"A":"","C":"b"}"#),
        (#"{"@odata.etag":"1"}"#, #"{"@odata.etag":"2"}"#), (#"{"A":true}"#, #"{"A":false}"#),
        (#"{"__metadata":{"etag":"a"}}"#, #"{"__metadata":{"etag":"b"}}"#),
    ])
    func `values, their kinds, their places and ETags are content`(_ a: String, _ b: String) throws {
        #expect(try content(a) != content(b))
    }

    @Test func `a row with a next link inside is incomplete`() throws {
        for text in [
            #"{"Items":[],"Items@odata.nextLink":"x"}"#, #"{"A":{"B":[{"C@odata.nextLink":"x"}]}}"#,
            #"{"Items":{"results":[],"__next":"x"}}"#,
        ] {
            #expect(RowContent.isIncomplete(try JSONValue.parse(Array(text.utf8))))
        }
        #expect(!RowContent.isIncomplete(try JSONValue.parse(Array(#"{"Items":[{"A":1}],"nextLink":"x"}"#.utf8))))
    }

    // MARK: Refreshes

    private func row(_ key: String, _ value: UInt8) -> FeedRow {
        FeedRow(key: key, digest: RowDigest([value]), body: [value])
    }

    @Test func `a refresh finds new, changed and missing rows, and the last of two readings of a row counts`() {
        var run = RefreshRun(base: ["(1)": RowDigest([1]), "(2)": RowDigest([2]), "(3)": RowDigest([3])])
        for row in [row("(4)", 4), row("(1)", 1), row("(2)", 9), row("(4)", 5), row("(2)", 2)] { run.add(row) }
        #expect(run.changes == [row("(4)", 5)])
        #expect(run.missing == ["(3)"])
        #expect(run.rows == 3)
        run.add(row("(1)", 7))
        #expect(run.changes == [row("(1)", 7), row("(4)", 5)])
    }

    @Test func `a portion of a publication ends after the row that reaches a limit`() {
        func sizes(_ bodies: [Int], rows: Int, bytes: Int) -> [Int] {
            let changes = bodies.enumerated().map { index, count in
                FeedChange.row(
                    FeedRow(key: "\(index)", digest: RowDigest([]), body: [UInt8](repeating: 0, count: count)))
            }
            let portions = Array(FeedPortions(changes, FeedPortions.Limits(rows: rows, bytes: bytes)))
            #expect(portions.flatMap { $0 } == changes)
            return portions.map(\.count)
        }
        #expect(sizes([], rows: 2, bytes: 1_000) == [])
        #expect(sizes([0, 0, 0, 0, 0], rows: 2, bytes: 1_000) == [2, 2, 1])
        #expect(sizes([0, 900, 5, 2_000, 2_000, 0], rows: 9, bytes: 1_000) == [2, 2, 1, 1])
        #expect(sizes([1, 1], rows: 0, bytes: -1) == [1, 1])
        #expect(sizes([1, 1, 1], rows: .max, bytes: .max) == [3])
    }

    @Test func `a refresh counts the bytes of the rows that it holds`() {
        var run = RefreshRun(base: ["(1)": RowDigest([1])])
        func row(_ key: String, _ value: UInt8, _ count: Int) -> FeedRow {
            FeedRow(key: key, digest: RowDigest([value]), body: [UInt8](repeating: value, count: count))
        }
        let size = 64 + 3
        for (next, bytes) in [
            (row("(1)", 1, 500), 0), (row("(1)", 2, 10), size + 10), (row("(1)", 3, 20), size + 20),
            (row("(2)", 1, 7), 2 * size + 27), (row("(2)", 2, 5), 2 * size + 25), (row("(1)", 1, 9), size + 5),
        ] {
            run.add(next)
            #expect(run.bytes == bytes, "\(next)")
        }
        #expect(run.bytes == run.changes.reduce(0) { $0 + $1.size })
    }

    @Test func `a reading beyond a bound fails with the name of the feed and of the parameter`() {
        var run = RefreshRun(base: [:])
        run.add(FeedRow(key: "(1)", digest: RowDigest([1]), body: [1, 2, 3]))
        run.add(FeedRow(key: "(2)", digest: RowDigest([1]), body: []))
        func message(rows: Int, bytes: Int) -> String? {
            do throws(FeedError) {
                try ReadingLimits(feed: "Orders", rows: rows, bytes: bytes).check(run)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(message(rows: 2, bytes: 137) == nil)
        #expect(
            message(rows: 1, bytes: 137)
                == "The feed Orders has more than 1 rows. Raise feed_rows in [gateway], or select fewer rows.")
        #expect(
            message(rows: 2, bytes: 136)
                == "The changed rows of the feed Orders need more than 136 bytes of memory. Raise feed_bytes in [gateway], or select fewer rows or properties."
        )
    }

    @Test func `a feed that is not configured is kept for a month, or longer if delta links are valid longer`() {
        let month = FeedRetention.idleMilliseconds
        #expect(FeedRetention.idleSince(now: month + 5, lifetimes: []) == 5)
        #expect(FeedRetention.idleSince(now: month + 5, lifetimes: [1, month - 1]) == 5)
        #expect(FeedRetention.idleSince(now: month + 5, lifetimes: [1, month + 3, 2]) == 2)
        #expect(FeedRetention.idleSince(now: .min, lifetimes: []) == .min)
    }

    @Test func `missing rows are checked one by one, read again or refused`() {
        func judge(_ missing: Int, of base: Int, canCheck: Bool = true, isAccepted: Bool = false) -> RemovalCheck {
            RemovalCheck(missing: missing, base: base, canCheck: canCheck, isAccepted: isAccepted)
        }
        #expect(judge(0, of: 10) == .nothing)
        #expect(judge(1, of: 1) == .check)
        #expect(judge(20, of: 20) == .check)
        #expect(judge(21, of: 41) == .refuse)
        #expect(judge(21, of: 42) == .check)
        #expect(judge(200, of: 1_000) == .check)
        #expect(judge(201, of: 1_000) == .readAgain)
        #expect(judge(5, of: 1_000, canCheck: false) == .readAgain)
        #expect(judge(1_000, of: 1_000) == .refuse)
        #expect(judge(1_000, of: 1_000, isAccepted: true) == .readAgain)
    }

    @Test func `only a response of the service about the row removes it`() {
        #expect(RemovalCheck.presence(status: 404, isEntity: true, count: nil) == .gone(.deleted))
        #expect(RemovalCheck.presence(status: 410, isEntity: true, count: nil) == .gone(.deleted))
        #expect(RemovalCheck.presence(status: 200, isEntity: true, count: nil) == .present)
        #expect(RemovalCheck.presence(status: 200, isEntity: false, count: 0) == .gone(.changed))
        #expect(RemovalCheck.presence(status: 200, isEntity: false, count: 1) == .present)
        for status in [200, 204, 302, 400, 401, 403, 404, 429, 500, 503] {
            #expect(RemovalCheck.presence(status: status, isEntity: false, count: nil) == .unknown)
        }
        for status in [204, 302, 400, 401, 403, 429, 500, 503] {
            #expect(RemovalCheck.presence(status: status, isEntity: true, count: nil) == .unknown)
        }
    }

    @Test func `links without an end are unchanged`() {
        var walk = PageSequence(limit: 3)
        #expect(walk.follows("a") && walk.follows("b") && !walk.follows("a") && walk.follows("c") && !walk.follows("d"))
    }

    // MARK: Tokens

    private var head: FeedHead {
        var head = FeedHead(id: 3, salt: [1, 2])
        head.generation = 9
        head.tokensFrom = 4
        return head
    }

    @Test func `a token survives its encoding, and any other bytes are no token`() {
        let places: [FeedToken.ReadingPosition] = [
            .delta, .rows(after: "('ä')"), .changes(start: 4, after: FeedPosition(since: 5, key: "(1)")),
        ]
        for place in places {
            let token = FeedToken(feed: 3, salt: [1, 2], generation: 9, audience: [7], place: place, began: -5)
            let bytes = token.encoded
            #expect(FeedToken(encoded: bytes) == token)
            for count in 0..<bytes.count { #expect(FeedToken(encoded: Array(bytes[..<count])) == nil) }
            #expect(FeedToken(encoded: bytes + [0]) == nil)
        }
    }

    @Test func `a token of another feed, user or time is not continued`() {
        func isValid(_ change: (inout FeedToken) -> Void, audience: [UInt8] = []) -> Bool {
            var token = FeedToken(feed: 3, salt: [1, 2], generation: 5, place: .delta)
            change(&token)
            return token.isValid(for: head, audience: audience)
        }
        #expect(isValid { _ in })
        #expect(isValid { $0.generation = 4 })
        #expect(isValid { $0.generation = 9 })
        #expect(!isValid { $0.generation = 3 })
        #expect(!isValid { $0.generation = 10 })
        #expect(!isValid { $0.feed = 4 })
        #expect(!isValid { $0.salt = [1, 3] })
        #expect(!isValid { $0.audience = [1] })
        #expect(isValid({ $0.audience = [1] }, audience: [1]))
        #expect(!isValid({ $0.audience = [1] }, audience: [2]))
        #expect(!isValid({ _ in }, audience: [2]))
        #expect(!isValid { $0.place = .changes(start: 3, after: FeedPosition(since: 4, key: "")) })
        #expect(!isValid { $0.place = .changes(start: 6, after: FeedPosition(since: 4, key: "")) })
        #expect(
            !FeedToken(feed: 3, salt: [1, 2], generation: 0, place: .delta).isValid(for: FeedHead(id: 3, salt: [1, 2])))
    }

    // MARK: Users

    @Test func `credentials are all fields that may identify a user`() {
        func text(_ headers: HTTPHeaders) -> String { RequestCredentials.text(headers) }
        #expect(text(["Authorization": "a", "Accept": "x"]) == text(["Prefer": "y", "authorization": "a"]))
        let different: [HTTPHeaders] = [
            [:], ["Authorization": "a"], ["Authorization": "b"], ["Cookie": "a"], ["X-API-Key": "a"],
            ["Authorization": "a", "Cookie": "a"], ["X-User": "a\nauthorization b"],
        ]
        #expect(Set(different.map(text)).count == different.count)
    }

    @Test func `a renewed access token is of the same writer, and so are all opaque ones`() {
        func writer(_ authorization: String) -> String {
            RequestCredentials.writer(["Authorization": authorization, "Cookie": authorization])
        }
        // {"iss":"i","sub":"a","exp":1}, {"iss":"i","sub":"a","exp":2}, {"iss":"i","sub":"b"}
        let first = "eyJpc3MiOiJpIiwic3ViIjoiYSIsImV4cCI6MX0"
        let second = "eyJpc3MiOiJpIiwic3ViIjoiYSIsImV4cCI6Mn0"
        let other = "eyJpc3MiOiJpIiwic3ViIjoiYiJ9"
        #expect(writer("Bearer h.\(first).s") == writer("bearer h.\(second).t"))
        #expect(writer("Bearer h.\(first).s") != writer("Bearer h.\(other).s"))
        for text in ["Bearer x", "bearer y", "Bearer a.!.c", "Bearer a.e30.c"] { #expect(writer(text) == "bearer") }
        #expect(RequestCredentials.exactWriter(["Authorization": "Bearer x"]) == "Bearer x")
        for text in ["Basic dTpw", "Basic dTpx", ""] { #expect(writer(text) == text) }
    }

    @Test func `a probe allows only if the service has answered with data`() {
        #expect(FeedPermission.probe(status: 200, contentType: "application/json;odata=x") == .allowed)
        #expect(FeedPermission.probe(status: 200, contentType: "text/html") == .refused)
        #expect(FeedPermission.probe(status: 200, contentType: nil) == .refused)
        for status in [302, 400, 401, 403, 404] {
            #expect(FeedPermission.probe(status: status, contentType: "application/json") == .refused)
        }
        for status in [408, 429, 500, 503] {
            #expect(FeedPermission.probe(status: status, contentType: "application/json") == .unknown)
        }
    }

    @Test func `a permission ends after five minutes, a refusal after thirty seconds`() {
        let allowed = FeedPermission(isAllowed: true, checked: 1_000)
        #expect(allowed.isFresh(now: 300_999) && !allowed.isFresh(now: 301_000) && !allowed.isFresh(now: 999))
        let refused = FeedPermission(isAllowed: false, checked: 1_000)
        #expect(refused.isFresh(now: 30_999) && !refused.isFresh(now: 31_000))
    }

    @Test(arguments: [
        ("text/html", false), ("application/json", true), ("application/json; odata.metadata=minimal", true),
        ("application/json;odata.metadata=full", false), ("application/json;IEEE754Compatible=true", false),
        ("application/json;q=0.5, text/html", false), ("*/*", false),
    ])
    func `a feed answers only requests for plain JSON`(_ accept: String, _ expected: Bool) {
        let description = FeedDescription(version: "4.0")
        func accepts(_ headers: HTTPHeaders) -> Bool {
            Representation.accepts(headers, description, language: .pass)
        }
        #expect(accepts(["Accept": accept]) == expected)
        #expect(!accepts(["Accept": accept, "Accept-Language": "de"]))
        #expect(!accepts(["Accept": accept, "If-None-Match": "x"]))
    }

    @Test(arguments: [
        (["*"], true), (["de-DE,de;q=0.9"], false), (["*", "de"], false), (["*;q=0.5"], false), ([""], false),
        ([], true),
    ])
    func `a language matters unless the operator states that it does not`(_ fields: [String], _ passes: Bool) {
        let headers = HTTPHeaders([("Accept", "application/json")] + fields.map { ("Accept-Language", $0) })
        let description = FeedDescription(version: "4.0")
        #expect(Representation.accepts(headers, description, language: .pass) == passes)
        #expect(Representation.accepts(headers, description, language: .ignore))
    }

    // MARK: Times

    @Test func `rows are fresh for the interval, serve while the service fails, and end after a day`() {
        var head = head
        head.readBegan = 1_000_000
        func freshness(_ age: Int64, written: Int64? = nil) -> FeedFreshness {
            FeedFreshness(head, refreshMilliseconds: 60_000, written: written, now: 1_000_000 + age)
        }
        #expect(freshness(59_999) == .fresh)
        #expect(freshness(60_000) == .stale)
        #expect(freshness(-1) == .stale)
        #expect(freshness(86_400_001) == .required(begunAfter: .min))
        #expect(freshness(10, written: 999_999) == .fresh)
        #expect(freshness(10, written: 1_000_000) == .required(begunAfter: 1_000_000))
    }

    @Test func `failures are repeated after growing pauses, and the pause of the service is kept`() {
        var backoff = FeedBackoff()
        #expect(backoff.mayRead(now: 0))
        backoff.failed(now: 0, retryAfter: nil)
        #expect(!backoff.mayRead(now: 999) && backoff.mayRead(now: 1_000))
        backoff.failed(now: 1_000, retryAfter: 10_000)
        #expect(!backoff.mayRead(now: 10_999) && backoff.mayRead(now: 11_000))
        for _ in 0..<30 { backoff.failed(now: 0, retryAfter: nil) }
        #expect(backoff.mayRead(now: 3_600_000))
        backoff.succeeded()
        #expect(backoff.mayRead(now: 0))
    }

    @Test func `a generation is kept while a client that received it last may return`() {
        let made: [(generation: Int64, time: Int64)] = [(1, 100), (2, 200), (3, 300)]
        #expect(FeedRetention.oldest(made, cutoff: 200) == 1)
        #expect(FeedRetention.oldest(made, cutoff: 201) == 2)
        #expect(FeedRetention.oldest(made, cutoff: 1_000) == 3)
        #expect(FeedRetention.oldest([], cutoff: 0) == 0)
    }
}
