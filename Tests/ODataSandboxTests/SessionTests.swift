import EDM
import ODataSandbox
import ODataWire
import Testing

@Suite struct SessionTests {
    @Test func `a V2 modification needs the token of its session`() throws {
        var shop = try Shop(.v2)
        shop.sandbox.options.requiresToken = true
        let body = #"{"Name":"n"}"#
        let refused = shop.send("POST", "Customers", body)
        #expect(refused.status == 403)
        #expect(refused.headers["X-CSRF-Token"] == "Required")
        let fetched = shop.get("", headers: ["X-CSRF-Token": "Fetch"])
        let token = try #require(fetched.headers["X-CSRF-Token"])
        let cookie = String(try #require(fetched.headers["Set-Cookie"]).prefix { $0 != ";" })
        #expect(shop.send("POST", "Customers", body, headers: ["X-CSRF-Token": token]).status == 403)
        #expect(shop.send("POST", "Customers", body, headers: ["Cookie": cookie]).status == 403)
        let both = ["X-CSRF-Token": token, "Cookie": "a=b; " + cookie]
        #expect(shop.send("POST", "Customers", body, headers: both).status == 201)
        #expect(try shop.rawBatch([]).status == 403)
        #expect(shop.get("", headers: ["X-CSRF-Token": "fetch", "Cookie": cookie]).headers["X-CSRF-Token"] == token)
    }

    @Test func `V4 requires no token`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.options.requiresToken = true
        #expect(shop.send("POST", "Customers", #"{"Name":"n"}"#).status == 201)
    }

    @Test(arguments: Dialect.allCases)
    func `photos are created, read and replaced as bytes`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let headers = ["Content-Type": "image/png", "Slug": "sunset"]
        let created = shop.send("POST", "Photos", "PNG!", headers: headers)
        #expect(created.status == 201, "\(created.text)")
        #expect(created.headers["Location"] == shop.root + "Photos(2)")
        #expect(
            shop.state("Photos").hasSuffix(
                "Photos(2) {PhotoID: 2, Caption: 'sunset', ContentType: 'image/png'} <image/png, 4 bytes>\n"))
        #expect(shop.send("PUT", "Photos(2)/$value", "JPEG", headers: ["Content-Type": "image/jpeg"]).status == 204)
        let media = shop.get("Photos(2)/$value")
        #expect(media.text == "JPEG")
        #expect(media.headers["Content-Type"] == "image/jpeg")
        #expect(shop.update("Photos(2)", #"{"Caption":"dawn"}"#).status == 204)
        #expect(shop.get("Customers(1)/$value").status >= 400)
    }

    @Test(arguments: Dialect.allCases)
    func `a fault affects the configured number of requests`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let request = shop.request("POST", "/\(dialect.rawValue)/Customers", #"{"Name":"n"}"#, [:])
        shop.sandbox.faults = [
            Fault(.refuse(status: 503), times: 2, method: "POST", urlPart: "Customers"),
            Fault(.dropAnswer, method: "POST"),
        ]
        guard case .response(let first) = shop.sandbox.reply(to: request),
            case .response(let second) = shop.sandbox.reply(to: request)
        else {
            Issue.record("Responses were expected.")
            return
        }
        #expect([first.status, second.status] == [503, 503])
        #expect(shop.links("Customers").contains("Customers(4)") == false)
        #expect(shop.sandbox.reply(to: request) == .cut)
        #expect(shop.links("Customers").contains("Customers(4)"))
        #expect(shop.sandbox.faults.isEmpty)
    }
}
