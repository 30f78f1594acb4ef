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
    func `the origin omits the default port, and the redacted URL omits the query`(
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
    func `a URL that is not a plain http or https URL is rejected`(_ url: String) {
        #expect(RequestURL(url) == nil)
    }

    @Test(arguments: ["http://127.0.0.1:1/", "http://localhost/", "http://[::1]/"])
    func `loopback addresses are recognized`(_ url: String) { #expect(RequestURL(url)?.origin.isLoopback == true) }

    @Test(arguments: ["http://127.evil.example/", "http://localhost.example/"])
    func `a host name that begins like a loopback address is not the loopback`(_ url: String) {
        #expect(RequestURL(url)?.origin.isLoopback == false)
    }
}
