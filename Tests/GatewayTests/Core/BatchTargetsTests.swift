import GatewayCore
import ODataWire
import Testing

struct BatchTargetsTests {
    private let roots = ServiceRoots(
        published: ServiceRoot("https://gw.example/odata/shop/")!, origin: ServiceRoot("http://backend:8000/sap/SHOP/")!
    )

    private func forwarded(_ body: String, _ headers: HTTPHeaders) -> Result<[UInt8], RequestRefusal> {
        let isJSON = headers["Content-Type"]?.hasPrefix("application/json") == true
        return BatchTargets.forwarded(
            Array(body.utf8), headers, format: isJSON ? .json : .multipart, roots, limits: GatewayLimits())
    }

    /// Returns the status of the refusal, or 200.
    private func status(_ body: String, _ headers: HTTPHeaders) -> Int {
        switch forwarded(body, headers) {
        case .success: 200
        case .failure(let refusal): refusal.status
        }
    }

    private func multipart(_ line: String, _ fields: String = "") -> String {
        let part = "Content-Type: application/http\r\n\(fields)\r\n\(line)\r\n\r\n\r\n"
        return "--b\r\nContent-Type: multipart/mixed;boundary=c\r\n\r\n--c\r\n\(part)--c--\r\n--b--\r\n"
    }

    private func status(line: String, _ fields: String = "") -> Int {
        status(multipart(line, fields), ["Content-Type": "multipart/mixed;boundary=b"])
    }

    private func json(_ url: String) -> String { #"{"requests":[{"id":"1","method":"get","url":"\#(url)"}]}"# }

    private func status(url: String) -> Int { status(json(url), ["Content-Type": "application/json"]) }

    @Test(arguments: [
        "Orders", "/odata/shop/Orders(1)", "https://gw.example/odata/shop/Orders", "$1/Lines", "Files('a;..')",
        "Files('..')", "http://backend:8000/sap/SHOP/Orders", "/sap/SHOP/Orders", "Orders?$filter=a%20eq%20'/../'",
    ])
    func `a batch whose targets are below the root is sent`(_ target: String) {
        #expect(status(line: "GET \(target) HTTP/1.1") == 200)
        #expect(status(line: "GET \(target)") == 200)
        #expect(status(url: target) == 200)
    }

    @Test(arguments: [
        "../x", "..;/..;/manager/html", "%2e%2e%3b/x", "/manager/html", "/odata/other/Orders", "/odata/shop/..;/x",
        "https://gw.example/odata/shop/../x", "https://evil.example/x", "//evil.example/x", "$1/../../x",
    ])
    func `a batch with a target outside the root is refused`(_ target: String) {
        #expect(status(line: "GET \(target) HTTP/1.1") == 400)
        #expect(status(line: "DELETE   \(target)   HTTP/1.1") == 400)
        #expect(status(line: "get \(target)") == 400)
        #expect(status(url: target) == 400)
        #expect(status(url: target.replacing("/", with: "\\/")) == 400)
    }

    @Test(arguments: [
        " GET /manager HTTP/1.1", "GET\t/manager HTTP/1.1", "GET\u{B}/manager HTTP/1.1", "GET", "R0VUIC9tYW5hZ2Vy",
        "X\rGET /manager HTTP/1.1", "GET a b/../../x HTTP/1.1", "GET ../x y",
        "GET\tOrders HTTP/1.1", "GET \thttps://gw.example/odata/shop/Orders HTTP/1.1", "GET Orders\t HTTP/1.1",
        "GET Orders /../x",
    ])
    func `a start line that servers read in different ways is refused`(_ line: String) {
        #expect(status(line: line) == 400)
    }

    @Test func `an encoded part is refused`() {
        #expect(status(line: "GET Orders HTTP/1.1", "Content-Transfer-Encoding: Binary\r\n") == 200)
        #expect(status(line: "GET Orders HTTP/1.1", "Content-Transfer-Encoding: quoted-printable\r\n") == 400)
    }

    @Test(arguments: [
        #"{"requests":[{"\u0075rl":"/manager"}]}"#, #"{"requests":[{"URL":"/manager"}]}"#,
        #"{"requests":[{"url":"Orders","url":"/manager"}]}"#, #"{"requests":[{"url":"/manager","url":"Orders"}]}"#,
        #"{"requests":[],"Requests":[{"url":"/manager"}]}"#, #"{"requests":[{"url":"\u002e./x"}]}"#,
        #"{'requests':[{'url':'/manager'}]}"#, #"[{"url":"/manager"}]"#, "", "\u{1F}\u{8B}",
    ])
    func `a JSON batch that hides a target, or cannot be read, is refused`(_ text: String) {
        #expect(status(text, ["Content-Type": "application/json"]) == 400)
    }

    @Test func `a batch that cannot be read, or can be read in two ways, is refused`() {
        let body = multipart("GET Orders HTTP/1.1")
        #expect(status("GET ../x HTTP/1.1", ["Content-Type": "multipart/mixed;boundary=b"]) == 400)
        #expect(status(body, ["Content-Type": "multipart/mixed;boundary=b;boundary=c"]) == 400)
        #expect(
            status(body, HTTPHeaders([("Content-Type", "multipart/mixed;boundary=b"), ("Content-Type", "text/plain")]))
                == 400)
        #expect(status(body, ["Content-Type": "multipart/mixed;boundary=b", "Content-Encoding": "gzip"]) == 415)
        #expect(status(body, ["Content-Type": "multipart/mixed;boundary=b", "Content-Encoding": "identity"]) == 200)
    }

    @Test func `an accepted batch has the links of the origin`() throws {
        let multipart = multipart("GET  /odata/shop/Orders HTTP/1.1")
        let sent = try forwarded(multipart, ["Content-Type": "multipart/mixed;boundary=b"]).get()
        #expect(String(decoding: sent, as: UTF8.self) == multipart.replacing("/odata/shop/", with: "/sap/SHOP/"))
        let json = json("https://gw.example/odata/shop/Orders")
        let changed = try forwarded(json, ["Content-Type": "application/json"]).get()
        #expect(
            String(decoding: changed, as: UTF8.self)
                == json.replacing("https://gw.example/odata/shop/", with: "http://backend:8000/sap/SHOP/"))
    }
}
