import Testing

@testable import Transport

struct RequestURLTests {
    @Test(arguments: [
        ("http://h", "http://h/", "http://h"), ("HTTP://H:80/a?b=c", "http://H:80/a?…", "http://h"),
        ("https://h:443/a", "https://h:443/a", "https://h"),
        ("https://h:8443?x", "https://h:8443/?…", "https://h:8443"),
        ("http://[::1]:81/a", "http://[::1]:81/a", "http://[::1]:81"),
        ("http://[::1]/", "http://[::1]/", "http://[::1]"),
    ])
    func `the origin has no default port, and messages have no query`(
        _ url: String, _ redacted: String, _ origin: String
    )
        throws
    {
        let parsed = try #require(RequestURL(url))
        #expect(parsed.redacted == redacted)
        #expect(parsed.origin.description == origin)
    }

    @Test(arguments: [
        "", "http:/h", "http:///a", "http://:80/", "http://h:/x#y", "http://a@b/", "http://h\\x/", "http://h:+1/",
    ])
    func `what is no plain URL is none`(_ url: String) {
        #expect(RequestURL(url) == nil)
    }

    @Test(arguments: ["http://127.0.0.1:1/", "http://localhost/", "http://[::1]/"])
    func `the loopback is known`(_ url: String) { #expect(RequestURL(url)?.origin.isLoopback == true) }

    @Test(arguments: ["http://127.evil.example/", "http://localhost.example/"])
    func `a name that looks like the loopback is not it`(_ url: String) {
        #expect(RequestURL(url)?.origin.isLoopback == false)
    }
}
