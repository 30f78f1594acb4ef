import Foundation
import Gateway
import GatewayCore
import HTTPTypes
import TestSupport
import Testing

/// Shared feeds through real sockets.
struct FeedServingTests {
    private static let rows = [1: "a", 2: "b", 3: "c", 4: "d", 5: "e"]

    @Test(arguments: [false, true])
    func `the first read returns all rows and a delta link, the next one only changes`(_ isLegacy: Bool) async throws {
        let origin = FeedOrigin(isLegacy: isLegacy)
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let first = try await world.get("Orders")
            #expect(first.status == 200)
            #expect(first.notes == ["a", "b", "c", "d", "e"])
            let link = try #require(first.delta)
            #expect(link.hasPrefix(world.gateway.root + "shop/Orders?"))
            if !isLegacy {
                #expect(first.body.contains("\"@odata.context\":\"\(world.gateway.root)shop/$metadata#Orders\""))
            }
            origin.change { $0.rows = [1: "a", 2: "B", 4: "d", 5: "e", 6: "f"] }
            let unchanged = try await world.get(link)
            #expect(
                unchanged.status == 200 && unchanged.notes == [] && unchanged.body.utf8.count < 400, "\(unchanged.body)"
            )
            world.time.advance(60_000)
            let second = try await world.get(link)
            #expect(second.notes.sorted() == ["B", "f"])
            #expect(second.body.contains("\"id\":\"\(world.gateway.root)shop/Orders(3)\""), "\(second.body)")
            #expect(
                isLegacy || second.body.contains("\"reason\":\"deleted\"") && second.body.contains("#Orders/$delta\""))
            let third = try await world.get(try #require(second.delta))
            #expect(third.notes == [] && !third.body.contains("deleted"))
            // The link before is still valid: a response can be lost.
            #expect(try await world.get(link).notes.sorted() == ["B", "f"])
        }
    }

    @Test func `the service is read as often for fifty clients as for one`() async throws {
        let origin = FeedOrigin()
        origin.change { ($0.rows, $0.delay) = (Self.rows, 0.05) }
        try await withFeed(origin) { world in
            for round in 0..<2 {
                let answers = try await withThrowingTaskGroup(of: FeedWorld.Answer.self) { group in
                    for user in 0..<50 { group.addTask { try await world.get("Orders", "Bearer \(user)") } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.allSatisfy { $0.notes.count == 5 && $0.delta != nil })
                #expect(origin.readings == 3 * (round + 1))
                world.time.advance(60_000)
            }
            // Each user is asked for once.
            #expect(origin.probes == 50)
        }
    }

    @Test(arguments: [FeedSettings.Language.pass, .ignore])
    func `a device that sends its language gets a feed if the operator ignores it`(
        _ language: FeedSettings.Language
    ) async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, language: language) { world in
            let german = [("Accept-Language", "de-DE,de;q=0.9")]
            let first = try await world.get("Orders", nil, german)
            #expect((first.delta != nil) == (language == .ignore), "\(first.body)")
            let every = try await world.get("Orders", nil, [("Accept-Language", "*")])
            let link = try #require(every.delta)
            #expect(try await world.get(link, nil, german).status == (language == .ignore ? 200 : 410))
        }
    }

    @Test func `pages are of one generation while the feed changes`() async throws {
        var limits = GatewayLimits()
        limits.pageRows = 2
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, limits: limits) { world in
            var page = try await world.get("Orders")
            var notes = page.notes
            #expect(page.delta == nil)
            origin.change { $0.rows = [1: "a", 3: "C", 5: "E", 9: "i"] }
            world.time.advance(60_000)
            _ = try await world.get("Orders", "Bearer other")
            while let next = page.next {
                page = try await world.get(next)
                notes += page.notes
            }
            #expect(notes == ["a", "b", "c", "d", "e"])
            var seen: [String] = []
            var removed = 0
            var link = page.delta
            while let next = link {
                page = try await world.get(next)
                #expect(page.status == 200)
                seen += page.notes
                removed += page.body.components(separatedBy: "$deletedEntity").count - 1
                link = page.next
            }
            #expect(seen.sorted() == ["C", "E", "i"] && removed == 2)
        }
    }

    @Test func `the preferred page size of the client is kept`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let page = try await world.get("Orders", nil, [("Prefer", "odata.track-changes,odata.maxpagesize=3")])
            #expect(page.notes.count == 3 && page.next != nil)
            #expect(page.headers[HTTPField.Name("Preference-Applied")!] == "odata.track-changes")
        }
    }

    // MARK: Requests that are not answered

    @Test(arguments: [
        ("Orders?$top=1", "application/json"), ("Orders?$filter=ID%20eq%201", "application/json"),
        ("Orders", "application/json;odata.metadata=full"), ("Orders(1)", "application/json"),
    ])
    func `all other requests pass through`(_ url: String, _ accept: String) async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let answer = try await world.get(url, nil, [("Accept", accept)])
            #expect(answer.status == 200 && answer.delta == nil && !answer.body.contains(FeedRequest.mark))
            let feeds = try await world.storage.list()
            #expect(feeds.isEmpty)
        }
    }

    @Test func `a query that does not prefer tracking passes through`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let answer = try await world.get("Orders", nil, [("Prefer", "odata.maxpagesize=2")])
            #expect(answer.delta == nil && answer.notes == ["a", "b"])
        }
    }

    @Test func `a forged link, and one of another gateway, are 410`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let link = try #require(try await world.get("Orders").delta)
            let readings = origin.readings
            var urls = [
                "Orders?$deltatoken=\(FeedRequest.mark)", "Orders?$deltatoken=\(FeedRequest.mark)AAAA",
                "Others?$deltatoken=\(FeedRequest.mark)AAAA", "Orders(1)?$skiptoken=\(FeedRequest.mark)AAAA",
            ]
            for index in stride(from: 4, to: 60, by: 7) {
                var bytes = Array(link.utf8)
                bytes[bytes.count - index] = bytes[bytes.count - index] == 0x41 ? 0x42 : 0x41
                urls.append(String(decoding: bytes, as: UTF8.self))
            }
            urls.append(link.replacing("Orders?", with: "Orders?$select=ID&"))
            for url in urls {
                let answer = try await world.get(url)
                #expect(answer.status == 410, "\(url) \(answer.body)")
            }
            #expect(origin.readings == readings)
            try await withFeed(origin) { other in
                let foreign = other.gateway.root + link.dropFirst(world.gateway.root.count)
                let answer = try await other.get(foreign)
                #expect(answer.status == 410)
            }
        }
    }

    // MARK: Permission

    @Test func `a user without permission gets the response of the service, and no row`() async throws {
        let origin = FeedOrigin()
        origin.change { ($0.rows, $0.users) = (Self.rows, ["Basic gw", "Basic a"]) }
        try await withFeed(origin, credentials: "Basic gw") { world in
            let first = try await world.get("Orders", "Basic a")
            #expect(first.notes.count == 5)
            let link = try #require(first.delta)
            for (user, fields) in [("Basic b", []), ("Basic a", [("Cookie", "x")]), ("Basic a", [("X-User", "b")])] {
                origin.change { $0.users = user == "Basic b" ? ["Basic gw", "Basic a"] : ["Basic gw"] }
                for url in ["Orders", link] {
                    let answer = try await world.get(url, user, fields)
                    #expect(answer.status == 401 && answer.notes == [] && answer.delta == nil)
                    #expect(answer.headers[.wwwAuthenticate] == "Basic realm=\"s\"")
                }
            }
            origin.change { $0.users = ["Basic gw"] }
            #expect(try await world.get(link, "Basic a").status == 200)
            world.time.advance(FeedPermission.allowedFor)
            #expect(try await world.get(link, "Basic a").status == 401)
        }
    }

    // MARK: Changes of users

    @Test func `a user reads the own change, although the feed is fresh for other users`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let link = try #require(try await world.get("Orders", "a").delta)
            _ = try await world.get(link, "b")
            origin.change { $0.rows[6] = "f" }
            world.time.advance(10)
            try await world.change("a")
            world.time.advance(10)
            #expect(try await world.get(link, "b").notes == [])
            #expect(try await world.get(link, "a").notes == ["f"])
            let readings = origin.readings
            #expect(try await world.get(link, "a").notes == ["f"])
            #expect(try await world.get(link, "b").notes == ["f"])
            #expect(origin.readings == readings)
        }
    }

    @Test func `a client that reads without credentials reads the changes of all users`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, authorization: .any) { world in
            let link = try #require(try await world.get("Orders", nil).delta)
            origin.change { $0.rows[6] = "f" }
            world.time.advance(10)
            try await world.change("a")
            world.time.advance(10)
            #expect(try await world.get(link, nil).notes == ["f"])
        }
    }

    @Test func `a user reads the own change after an opaque token was renewed`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let link = try #require(try await world.get("Orders", "Bearer first").delta)
            origin.change { $0.rows[6] = "f" }
            world.time.advance(10)
            try await world.change("Bearer first")
            world.time.advance(10)
            #expect(try await world.get(link, "Bearer second").notes == ["f"])
        }
    }

    @Test func `a user who changes data between two pages reads anew`() async throws {
        var limits = GatewayLimits()
        limits.pageRows = 2
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, limits: limits) { world in
            let next = try #require(try await world.get("Orders", "a").next)
            _ = try await world.get("Orders", "b")
            world.time.advance(10)
            try await world.change("a")
            let own = try await world.get(next, "a")
            #expect(own.status == 410)
            let other = try await world.get(next, "b")
            #expect(other.notes == ["c", "d"])
        }
    }

    @Test func `if the own change cannot be read, a delta link is 503 and not a response without it`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, patience: 300) { world in
            let link = try #require(try await world.get("Orders", "a").delta)
            origin.change { $0.fault = ("500 Error", "", "") }
            world.time.advance(10)
            try await world.change("a")
            world.time.advance(10)
            let answer = try await world.get(link, "a")
            #expect(answer.status == 503 && answer.headers[.retryAfter] != nil)
            #expect(try await world.get(link, "b").status == 200)
        }
    }
}
