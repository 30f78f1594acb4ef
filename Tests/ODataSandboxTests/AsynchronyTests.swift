import ODataSandbox
import ODataWire
import Testing

@Suite struct AsynchronyTests {
    private func shop(_ terms: Asynchrony?) throws -> Shop {
        var shop = try Shop(.v4)
        shop.sandbox.options.asynchrony = terms
        return shop
    }

    private func accept(_ shop: inout Shop) throws -> (WireResponse, monitor: String) {
        let response = shop.send(
            "POST", "Suppliers", #"{"Name":"later"}"#, headers: ["Prefer": "respond-async"])
        let monitor = try #require(response.headers["Location"])
        #expect(response.status == 202 && response.headers["Preference-Applied"] == "respond-async")
        return (response, String(monitor.dropFirst(shop.root.count)))
    }

    private func exists(_ shop: Shop) -> Bool { shop.state("Suppliers").contains("later") }

    @Test func `a request is accepted, pending for a number of polls and then executed`() throws {
        var shop = try shop(Asynchrony(polls: 2, retryAfter: 7))
        let (accepted, monitor) = try accept(&shop)
        #expect(accepted.headers["Retry-After"] == "7")
        for _ in 0..<2 {
            #expect(shop.get(monitor).status == 202)
            #expect(!exists(shop))
        }
        let done = shop.get(monitor)
        #expect(done.status == 200 && done.headers["AsyncResult"] == "201")
        #expect(done.headers["Location"]?.hasPrefix(shop.root + "Suppliers(") == true)
        #expect(exists(shop))
        #expect(shop.get(monitor) == done)
        #expect(shop.state("Suppliers").split(separator: "\n").count { $0.contains("later") } == 1)
    }

    @Test(arguments: [["Accept": "application/http"], ["OData-MaxVersion": "4.0"]])
    func `a 4.0 client receives the response as an HTTP message`(_ headers: [String: String]) throws {
        var shop = try shop(Asynchrony(polls: 0))
        let (_, monitor) = try accept(&shop)
        let done = shop.get(monitor, headers: headers)
        #expect(done.headers["AsyncResult"] == nil && done.headers["Content-Type"] == "application/http")
        #expect(done.text.hasPrefix("HTTP/1.1 201 \r\n") && done.text.contains("\r\n\r\n{"))
    }

    @Test func `a request that was not executed yet can be cancelled`() throws {
        var shop = try shop(Asynchrony(polls: 1))
        let (_, monitor) = try accept(&shop)
        #expect(shop.send("DELETE", monitor).status == 204)
        #expect(shop.get(monitor).status == 404)
        #expect(!exists(shop))
    }

    @Test func `a request that was executed cannot be cancelled`() throws {
        var shop = try shop(Asynchrony(polls: 1, startsAtOnce: true))
        let (_, monitor) = try accept(&shop)
        #expect(exists(shop))
        #expect(shop.send("DELETE", monitor).status == 405)
        #expect(shop.get(monitor).status == 202)
        #expect(shop.get(monitor).headers["AsyncResult"] == "201")
    }

    @Test func `a refused request has a result with the status of the error`() throws {
        var shop = try shop(Asynchrony(polls: 0))
        let accepted = shop.send("POST", "Suppliers", #"{"No":1}"#, headers: ["Prefer": "respond-async"])
        let monitor = try #require(accepted.headers["Location"]).dropFirst(shop.root.count)
        let done = shop.get(String(monitor))
        #expect(done.status == 200 && done.headers["AsyncResult"] == "400")
    }

    @Test func `a whole batch can be answered later`() throws {
        var shop = try shop(Asynchrony(polls: 0))
        let member = BatchPart.Member(
            contentID: "1", request: shop.request("POST", "Suppliers", #"{"Name":"later"}"#, [:]))
        let accepted = try shop.rawBatch([.changeSet([member])], headers: ["Prefer": "respond-async"])
        let monitor = try #require(accepted.headers["Location"]).dropFirst(shop.root.count)
        let done = shop.get(String(monitor))
        #expect(done.headers["AsyncResult"] == "200")
        let batch = try MultipartBatchReader(strictness: .strict).readResponse(
            done.body, contentType: done.headers["Content-Type"] ?? "")
        #expect(batch.statuses == "[201]")
    }

    @Test func `without the option a request is answered at once`() throws {
        var shop = try shop(nil)
        let response = shop.send("POST", "Suppliers", #"{"Name":"later"}"#, headers: ["Prefer": "respond-async"])
        #expect(response.status == 201 && exists(shop))
    }
}
