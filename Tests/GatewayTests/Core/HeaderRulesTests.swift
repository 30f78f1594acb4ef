import GatewayCore
import ODataWire
import Testing

struct HeaderRulesTests {
    private let roots = ServiceRoots(
        published: ServiceRoot("https://gw.example/odata/shop/")!, origin: ServiceRoot("http://backend:8000/sap/SHOP/")!
    )

    @Test func `credentials, ETags and identifiers pass, fields of the connection do not`() {
        let headers: HTTPHeaders = [
            "Authorization": "Bearer x", "If-Match": "W/\"1\"", "Repeatability-Request-ID": "r",
            "Connection": "keep-alive, x",
            "Keep-Alive": "5", "Proxy-Authorization": "Basic y", "TE": "trailers", "Host": "gw.example", "X": "hop",
            "Content-Length": "3", "Expect": "100-continue",
        ]
        let names = Set(HeaderRules.forwarded(headers, trustsForwarded: false).fields.map { $0.name.lowercased() })
        #expect(names == ["authorization", "if-match", "repeatability-request-id", "via"])
    }

    @Test(arguments: [
        "X-Forwarded-Host", "X-Forwarded-For", "Forwarded", "X-Original-URL", "X-Rewrite-URL", "X-Host",
        "X_Forwarded_Host",
        "Accept-Encoding", "X-Forwarded-Prefix",
    ])
    func `a field that can change the meaning of a cached answer is dropped`(_ name: String) {
        let forwarded = HeaderRules.forwarded([name: "evil.example"], trustsForwarded: false)
        #expect(forwarded[name] == nil)
    }

    @Test func `a response points to the gateway and is not cached`() {
        let headers: HTTPHeaders = [
            "Location": "http://backend:8000/sap/SHOP/Orders(1)", "Cache-Control": "public, max-age=60",
            "Set-Cookie": "s=1; Domain=backend; Path=/sap/; HttpOnly", "Connection": "X-Secret", "X-Secret": "1",
            "Content-Length": "5", "ETag": "\"1\"",
        ]
        let answered = HeaderRules.answered(headers, roots, isRewritten: true)
        #expect(answered["Location"] == "https://gw.example/odata/shop/Orders(1)")
        #expect(answered.values("Cache-Control") == ["private, no-store"])
        #expect(answered["Set-Cookie"] == "s=1; HttpOnly; Path=/odata/shop/")
        #expect(answered["X-Secret"] == nil)
        #expect(answered["Content-Length"] == nil)
        #expect(answered["ETag"] == "\"1\"")
    }
}

struct RequestFramingTests {
    private func status(
        _ method: String, _ target: String, minor: Int = 1, _ headers: HTTPHeaders
    ) -> Int {
        do throws(RequestRefusal) {
            _ = try RequestFraming.check(
                method: method, target: target, minor: minor, headers: headers, limits: GatewayLimits())
            return 200
        } catch {
            return error.status
        }
    }

    @Test func `requests that can be read in two ways are refused`() {
        #expect(status(["Host": "a", "Content-Length": "3", "Transfer-Encoding": "chunked"]) == 400)
        #expect(status(HTTPHeaders([("Host", "a"), ("Content-Length", "3"), ("Content-Length", "4")])) == 400)
        #expect(status(["Host": "a", "Content-Length": "+3"]) == 400)
        #expect(status(["Host": "a", "Content-Length": "3, 3"]) == 400)
        #expect(status(["Host": "a", "Transfer-Encoding": "chunked, gzip"]) == 400)
        #expect(status(["Host": "a", "Transfer-Encoding": "xchunked"]) == 400)
        #expect(status("GET", "/", minor: 0, ["Host": "a", "Transfer-Encoding": "chunked"]) == 400)
        #expect(status(HTTPHeaders([("Host", "a"), ("Host", "b")])) == 400)
        #expect(status([:]) == 400)
        #expect(status("GET", "http://evil.example/", ["Host": "a"]) == 400)
        #expect(status(["Host": "a", "Connection": "Authorization"]) == 400)
        #expect(status(["Host": "a", "Connection": "close, Repeatability-Request-ID"]) == 400)
        #expect(status("CONNECT", "/x", ["Host": "a"]) == 405)
    }

    @Test func `sizes are bounded`() {
        #expect(status("POST", ["Host": "a", "Content-Length": "99999999999"]) == 413)
        #expect(status("POST", ["Host": "a", "Content-Length": "99999999999999999999999"]) == 400)
        #expect(status("GET", "/" + String(repeating: "a", count: 20_000), ["Host": "a"]) == 414)
        #expect(status(["Host": "a", "X": String(repeating: "a", count: 70_000)]) == 431)
    }

    private func status(_ method: String, _ headers: HTTPHeaders) -> Int { status(method, "/odata/shop/", headers) }

    private func status(_ headers: HTTPHeaders) -> Int { status("GET", headers) }

    @Test func `usual requests pass`() {
        #expect(status(["Host": "a", "Connection": "keep-alive"]) == 200)
        #expect(status("POST", ["Host": "a", "Content-Length": "3"]) == 200)
        #expect(status("POST", ["Host": "a", "Transfer-Encoding": "chunked"]) == 200)
    }

    @Test(arguments: [
        "/odata/shop/../admin", "/odata/shop/%2e%2e/admin", "/odata/shop/%252e%252e/x", "/odata/shop/a/..%2fb",
        "/odata/shop/%00", "/odata/shop/a%0d%0ab", "/odata/shop/..\\b", "/odata/shop/..;/..;/manager/html",
        "/odata/shop/..;a=b/x", "/odata/shop/..%3b/x", "/odata/shop/%2e%2e%3B/x", "/odata/shop/..%253b/x",
        "/odata/shop/.;/x", "/odata/shop/Files('x/..;a')", "/odata/shop/Files('a/../b')",
    ])
    func `a path does not lead out of the service`(_ target: String) { #expect(!RequestPath.isContained(target)) }

    @Test(arguments: [
        "/odata/shop/Orders('a.b')?$filter=../x", "/odata/shop/Files('..a')", "/odata/shop/%C3%A4..b",
        "/odata/shop/Files('..')", "/odata/shop/Files('a;..')", "/odata/shop/Files('x/..')", "/odata/shop;v=1/A..;b",
    ])
    func `dots in names and queries are allowed`(_ target: String) { #expect(RequestPath.isContained(target)) }
}
