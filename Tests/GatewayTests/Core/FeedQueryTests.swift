import GatewayCore
import Testing

struct FeedQueryTests {
    @Test(arguments: [
        ("Orders", "Orders"), ("Orders?", "Orders"), ("Orders?&", "Orders"), ("%4Frders", "Orders"),
        ("Orders?$top=2&$filter=A%20eq%201", "Orders?$filter=A%20eq%201&$top=2"),
        ("Orders?%24filter=Name%20eq%20%27%c3%a4%27", "Orders?$filter=Name%20eq%20'%C3%A4'"),
        ("Orders?$format=json&$select=A,B", "Orders?$select=A,B"),
        ("Orders?x=a%26b%3Dc%2Bd+e", "Orders?x=a%26b%3Dc%2Bd+e"),
        (
            "Orders?$expand=Items($select=A;$filter=B%20gt%201)",
            "Orders?$expand=Items($select%3DA%3B$filter%3DB%20gt%201)"
        ),
    ])
    func `two spellings of a query have one normal form`(_ url: String, _ expected: String) {
        let query = CanonicalQuery(url)
        #expect(query?.description == expected)
        #expect(query.flatMap { CanonicalQuery($0.description) } == query)
    }

    @Test(arguments: [
        "", "$metadata", "$batch", "Orders(1)", "Orders/$count", "Orders(1)/Items", "Top()", "Orders?$count=true",
        "Orders?$inlinecount=allpages", "Orders?$apply=x", "Orders?$skiptoken=1", "Orders?$deltatoken=1",
        "Orders?!deltatoken=1", "Orders?$format=atom", "Orders?$top=1&$top=2", "Orders?$top", "Orders?=1",
        "Orders?x=%zz", "Orders?x=%f", "Orders?x=%ff", "Orders?x=%00", "Orders?x=ä", "Orders#x", "Or%2Fders", "%24all",
        "Orders?%24count=true", "Orders?$orderby=A",
    ])
    func `a request that is no query of a whole collection has no normal form`(_ url: String) {
        #expect(CanonicalQuery(url) == nil)
    }

    @Test func `different queries have different normal forms`() {
        let urls = [
            "Orders", "orders", "Orders?$filter=A%20eq%201", "Orders?$filter=A+eq+1", "Orders?$filter=A%2Beq%2B1",
            "Orders?$filter=A%20eq%202", "Orders?x=a%26y%3Db", "Orders?x=a&y=b", "Orders?$top=1", "Orders?$skip=1",
        ]
        #expect(Set(urls.compactMap { CanonicalQuery($0)?.description }).count == urls.count)
    }

    @Test func `the probe requests one row, regardless of the number that the query requests`() throws {
        #expect(CanonicalQuery("Orders?$filter=A%20eq%201")?.probe == "Orders?$filter=A%20eq%201&$top=1")
        #expect(CanonicalQuery("Orders?$top=500")?.probe == "Orders?$top=1")
    }

    @Test(arguments: [
        ("Orders", "(1)", "Orders(1)", true), ("Orders?$select=A&sap-client=5", "(1)", "Orders(1)?sap-client=5", true),
        ("Orders?$filter=A eq 1", "(1)", "Orders?$filter=(A%20eq%201)%20and%20(ID%20eq%201)", false),
        (
            "Orders?$filter=A eq 1", "(A='x,%20y',B=2)",
            "Orders?$filter=(A%20eq%201)%20and%20(A%20eq%20'x,%20y'%20and%20B%20eq%202)", false
        ),
    ])
    func `the presence of a row is checked by a request for the row`(
        _ url: String, _ key: String, _ expected: String, _ isEntity: Bool
    ) throws {
        let query = try #require(CanonicalQuery(url.replacing(" ", with: "%20")))
        let names = key.contains("=") ? ["A", "B"] : ["ID"]
        let check = try #require(query.check(key: key, names: names))
        #expect(check.url == expected)
        #expect(check.isEntity == isEntity)
    }

    @Test(arguments: ["Orders?$top=5", "Orders?$skip=5", "Orders?$search=x", "Orders?custom=1"])
    func `if the presence depends on other rows or on the service, a row is not checked alone`(_ url: String) {
        #expect(CanonicalQuery(url)?.check(key: "(1)", names: ["ID"]) == nil)
    }

    @Test func `tokens of the gateway are recognized in each form, those of the service are not`() throws {
        let query = try #require(CanonicalQuery("Orders?$select=A"))
        for (isDelta, isLegacy) in [(true, true), (true, false), (false, true), (false, false)] {
            let link = FeedRequest.link(query, token: "abc-_", isDelta: isDelta, isLegacy: isLegacy)
            let request = try #require(FeedRequest(link))
            #expect(request.query == query)
            #expect(request.token == "abc-_")
            #expect(FeedRequest.hasToken(link))
            #expect(FeedRequest(link + "&$skiptoken=tidelog-gateway.x") == nil)
        }
        #expect(FeedRequest("Orders?$select=A")?.token == nil)
        #expect(FeedRequest("Orders?$skiptoken=5") == nil)
        #expect(!FeedRequest.hasToken("Orders?$skiptoken=5"))
        #expect(FeedRequest.hasToken("Orders(1)/X?a=b&%24deltatoken=tidelog%2Dgateway.x"))
    }
}
