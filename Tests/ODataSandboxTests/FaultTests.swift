import EDM
import ODataSandbox
import ODataWire
import Testing

/// The behavior of the sandbox with faults, in process. `ServerTests` contains the tests that need a socket.
@Suite struct FaultTests {
    private func exists(_ shop: Shop, _ name: String) -> Bool { shop.state("Suppliers").contains("'\(name)'") }

    private func create(_ shop: Shop, _ name: String) -> WireRequest {
        shop.request("POST", "/\(shop.dialect.rawValue)/Suppliers", "{\"Name\":\"\(name)\"}", [:])
    }

    /// Sends two change sets with two creates each, and returns the reply.
    private func batch(_ shop: inout Shop, headers: [String: String] = [:]) throws -> Reply {
        let parts = [["a", "b"], ["c", "d"]].map { names in
            BatchPart.changeSet(
                names.map { (name: String) in
                    BatchPart.Member(
                        contentID: name, request: shop.request("POST", "Suppliers", "{\"Name\":\"\(name)\"}", [:]))
                })
        }
        var request = shop.request("POST", "/\(shop.dialect.rawValue)/$batch", "", headers)
        request.headers["Content-Type"] = "multipart/mixed; boundary=b"
        request.body = try MultipartBatchWriter().write(BatchRequest(parts: parts), boundary: "b") { "cs\($0)" }
        return shop.sandbox.reply(to: request)
    }

    private func read(_ reply: Reply) throws -> BatchResponse {
        guard case .response(let response) = reply else { throw NoResponse() }
        return try MultipartBatchReader().readResponse(
            response.body, contentType: response.headers["Content-Type"] ?? "")
    }

    private struct NoResponse: Error {}

    private func status(_ reply: Reply) -> Int? {
        if case .response(let response) = reply { response.status } else { nil }
    }

    @Test func `a refusal has the configured header fields and body`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.faults = [
            Fault(.refuse(status: 503, headers: ["Retry-After": "7"])),
            Fault(.refuse(status: 401, headers: ["WWW-Authenticate": "Bearer"], body: Array("<html>".utf8))),
        ]
        guard case .response(let busy) = shop.sandbox.reply(to: create(shop, "n")),
            case .response(let login) = shop.sandbox.reply(to: create(shop, "n"))
        else { throw NoResponse() }
        #expect(busy.status == 503 && busy.headers["Retry-After"] == "7" && busy.errorCode == "InjectedFault")
        #expect(login.status == 401 && login.headers["WWW-Authenticate"] == "Bearer" && login.text == "<html>")
        #expect(!exists(shop, "n"))
    }

    @Test func `a fault does not affect the requests that it skips`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.faults = [Fault(.refuse(status: 401), skipping: 1, method: "POST")]
        let statuses = (0..<3).map { status(shop.sandbox.reply(to: create(shop, "n\($0)"))) }
        #expect(statuses == [201, 401, 201])
    }

    @Test func `a request is not executed if it is cut, and is executed if its response is cut`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.faults = [Fault(.cutRequest(after: 3)), Fault(.cutAnswer(after: 40))]
        #expect(shop.sandbox.cutOfBody(of: create(shop, "x")) == 3)
        #expect(shop.sandbox.reply(to: create(shop, "x")) == .cut)
        #expect(!exists(shop, "x"))
        #expect(shop.sandbox.cutOfBody(of: create(shop, "y")) == nil)
        guard case .cutOff(let response, let bytes) = shop.sandbox.reply(to: create(shop, "y")) else {
            throw NoResponse()
        }
        #expect(bytes == 40 && response.status == 201 && exists(shop, "y"))
    }

    @Test func `a delay is combined with the next fault`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.faults = [Fault(.delay(milliseconds: 30)), Fault(.refuse(status: 429))]
        let delivery = shop.sandbox.deliver(create(shop, "n"))
        #expect(delivery.delayMilliseconds == 30 && status(delivery.reply) == 429)
        #expect(shop.sandbox.faults.isEmpty)
    }

    @Test func `an expired token must be requested again`() throws {
        var shop = try Shop(.v2)
        shop.sandbox.options.requiresToken = true
        func token() -> [String: String] {
            let response = shop.get("", headers: ["X-CSRF-Token": "Fetch"])
            let cookie = response.headers["Set-Cookie"].map { String($0.prefix { $0 != ";" }) }
            return ["X-CSRF-Token": response.headers["X-CSRF-Token"] ?? "", "Cookie": cookie ?? ""]
        }
        let headers = token()
        var request = create(shop, "n")
        for (name, value) in headers { request.headers[name] = value }
        shop.sandbox.faults = [Fault(.expireTokens)]
        guard case .response(let response) = shop.sandbox.reply(to: request) else { throw NoResponse() }
        #expect(response.status == 403 && response.headers["X-CSRF-Token"] == "Required")
        for (name, value) in token() { request.headers[name] = value }
        #expect(status(shop.sandbox.reply(to: request)) == 201)
    }

    @Test(arguments: Dialect.allCases)
    func `a request of another client can precede or follow a request`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let etag = try #require(shop.get("Orders(1)").headers["ETag"])
        let other = shop.request(
            shop.updateMethod, "/\(dialect.rawValue)/Orders(1)", #"{"Note":"theirs"}"#, ["If-Match": "*"])
        let mine = shop.request(
            shop.updateMethod, "/\(dialect.rawValue)/Orders(1)", #"{"Quantity":5}"#, ["If-Match": etag])
        shop.sandbox.faults = [Fault(.precede(by: other), urlPart: "Orders")]
        #expect(status(shop.sandbox.reply(to: mine)) == 412)
        #expect(shop.state("Orders").contains("theirs"))
        let gone = shop.request("DELETE", "/\(dialect.rawValue)/Orders(1)", "", ["If-Match": "*"])
        shop.sandbox.faults = [Fault(.follow(by: gone))]
        var again = mine
        again.headers["If-Match"] = shop.get("Orders(1)").headers["ETag"]
        #expect(status(shop.sandbox.reply(to: again)) == 204)
        #expect(shop.get("Orders(1)").status == 404)
    }

    @Test func `the service can assign a different key than the client`() throws {
        var shop = try Shop(.v4)
        let body = #"{"Currency":"USD","Day":1,"Amount":1}"#
        shop.sandbox.faults = [Fault(.assignKeys)]
        guard case .response(let response) = shop.sandbox.reply(to: shop.request("POST", "/v4/Prices", body, [:]))
        else { throw NoResponse() }
        #expect(response.headers["Location"] == shop.root + "Prices(Currency='US2',Day=1001)")
        #expect(shop.get("Prices(Currency='USD',Day=1)").status == 404)
    }

    @Test(arguments: Dialect.allCases)
    func `a refused change set can keep earlier changes, and references in bodies can be ignored`(
        _ dialect: Dialect
    ) throws {
        var shop = try Shop(dialect)
        let bind = dialect == .v2 ? #"{"__metadata":{"uri":"$1"}}"# : #""$1""#
        let name = dialect == .v2 ? "Person" : "Person@odata.bind"
        let parts = [
            BatchPart.changeSet([
                .init(contentID: "1", request: shop.request("POST", "Persons", #"{"Name":"kept"}"#, [:])),
                .init(contentID: "2", request: shop.request("POST", "IDCards", "{\"\(name)\":\(bind)}", [:])),
            ])
        ]
        var request = shop.request("POST", "/\(dialect.rawValue)/$batch", "", [:])
        request.headers["Content-Type"] = "multipart/mixed; boundary=b"
        request.body = try MultipartBatchWriter().write(BatchRequest(parts: parts), boundary: "b") { "cs\($0)" }
        for (effects, kept) in [([Fault.Effect.ignoreBodyReferences], 0), ([.ignoreBodyReferences, .keepRefused], 1)] {
            shop.sandbox.faults = effects.map { Fault($0) }
            guard case .response(let response) = shop.sandbox.reply(to: request) else { throw NoResponse() }
            #expect(response.text.contains(dialect == .v2 ? " 404 " : " 400 "))
            #expect(shop.state("Persons").split(separator: "\n").count { $0.contains("kept") } == kept)
            #expect(!shop.state("IDCards").contains("IDCards(3)"))
        }
        guard case .response = shop.sandbox.reply(to: request) else { throw NoResponse() }
        #expect(shop.state("IDCards").contains("IDCards(3)"))
    }

    @Test func `a body can be truncated without a connection error, or replaced`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.faults = [
            Fault(.truncate(after: 10)), Fault(.replace(contentType: "text/html", body: Array("<html>".utf8))),
        ]
        guard case .response(let replaced) = try batch(&shop) else { throw NoResponse() }
        #expect(replaced.status == 200 && replaced.text == "<html>")
        shop.sandbox.faults = [Fault(.truncate(after: 10))]
        guard case .response(let cut) = try batch(&shop) else { throw NoResponse() }
        #expect(cut.body.count == 10 && exists(shop, "d"))
    }

    @Test func `responses can be returned in a different order`() throws {
        var shop = try Shop(.v4)
        let orders = try [Fault.PayloadCorruption.reversed, .reversedParts].map { distortion in
            shop.sandbox.faults = [Fault(.distort(distortion))]
            return try read(batch(&shop)).parts.map { part in
                guard case .changeSet(let members) = part else { return "" }
                return members.compactMap(\.contentID).joined()
            }
        }
        #expect(orders == [["ba", "dc"], ["cd", "ab"]])
    }

    @Test func `responses can lack addresses or bodies`() throws {
        var shop = try Shop(.v4)
        for distortion in [Fault.PayloadCorruption.withoutLocation, .withoutBody] {
            shop.sandbox.faults = [Fault(.distort(distortion))]
            for part in try read(batch(&shop)).parts {
                guard case .changeSet(let members) = part else { throw NoResponse() }
                for response in members.map(\.response) {
                    #expect(response.status == 201)
                    #expect((response.headers["Location"] == nil) == (distortion == .withoutLocation))
                    #expect(response.body.isEmpty == (distortion == .withoutBody))
                }
            }
        }
        shop.sandbox.faults = [Fault(.distort(.withoutLocation))]
        guard case .response(let single) = shop.sandbox.reply(to: create(shop, "n")) else { throw NoResponse() }
        #expect(single.headers["Location"] == nil && single.status == 201)
    }

    @Test func `a batch response can end early or have the wrong boundary`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.faults = [Fault(.distort(.unclosed))]
        #expect(try !read(batch(&shop)).isClosed)
        shop.sandbox.faults = [Fault(.distort(.wrongBoundary))]
        guard case .response(let response) = try batch(&shop) else { throw NoResponse() }
        #expect(response.headers["Content-Type"] == "multipart/mixed; boundary=another")
        #expect(!response.text.contains("--another"))
    }

    // MARK: - Parts

    @Test func `a refused part fails its own change set only`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.faults = [Fault(.refuse(status: 503, headers: ["Retry-After": "9"]), part: .number(2))]
        let response = try read(batch(&shop, headers: ["Prefer": "continue-on-error"]))
        guard case .single(let id, let refusal) = response.parts[0] else { throw NoResponse() }
        #expect(id == "b" && refusal.status == 503 && refusal.headers["Retry-After"] == "9")
        #expect(response.statuses == "503 [201, 201]")
        #expect(!exists(shop, "a") && exists(shop, "c"))
    }

    @Test func `a refused part has the code and message of the error in the fault`() throws {
        var shop = try Shop(.v4)
        let error = Array(#"{"error":{"code":"Closed","message":"The order is closed."}}"#.utf8)
        shop.sandbox.faults = [Fault(.refuse(status: 422, body: error), part: .number(2))]
        let response = try read(batch(&shop, headers: ["Prefer": "continue-on-error"]))
        guard case .single(_, let refusal) = response.parts[0] else { throw NoResponse() }
        #expect(refusal.status == 422)
        #expect(ServiceErrorReader.read(refusal.body)?.code == "Closed")
        #expect(ServiceErrorReader.read(refusal.body)?.message == "The order is closed.")
    }

    @Test func `a part can be selected by method and URL`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.faults = [
            Fault(.refuse(status: 500), urlPart: "Nowhere", part: .any),
            Fault(.refuse(status: 409), skipping: 3, method: "POST", urlPart: "Suppliers", part: .any),
        ]
        #expect(try read(batch(&shop)).statuses == "[201, 201] 409")
        #expect(shop.sandbox.faults.map(\.urlPart) == ["Nowhere"])
    }

    @Test func `a connection can be cut between change sets`() throws {
        for (effect, isDone) in [(Fault.Effect.dropAnswer, true), (.dropRequest, false)] {
            var shop = try Shop(.v4)
            shop.sandbox.faults = [Fault(effect, part: .number(2))]
            #expect(try batch(&shop) == .cut)
            #expect(exists(shop, "a") == isDone && exists(shop, "b") == isDone && !exists(shop, "c"))
        }
    }

    @Test func `the responses of a JSON batch can be reordered`() throws {
        var shop = try Shop(.v4)
        let requests = ["a", "b"].map {
            #"{"id":"\#($0)","method":"post","url":"Suppliers","headers":{"content-type":"application/json"},"#
                + #""body":{"Name":"\#($0)"}}"#
        }
        let request = shop.request(
            "POST", "/v4/$batch", "{\"requests\":[\(requests.joined(separator: ","))]}", ["OData-Version": "4.01"])
        shop.sandbox.faults = [Fault(.distort(.reversed))]
        guard case .response(let response) = shop.sandbox.reply(to: request) else { throw NoResponse() }
        #expect(try response.json()["responses"]?.array?.map { $0["id"]?.string } == ["b", "a"])
        shop.sandbox.faults = [Fault(.refuse(status: 429), part: .number(1))]
        guard case .response(let refused) = shop.sandbox.reply(to: request) else { throw NoResponse() }
        #expect(try refused.json()["responses"]?.array?.map { $0["status"]?.integer } == [429])
    }

    // MARK: - Scripts

    @Test func `faults are added, listed and removed over HTTP`() throws {
        var shop = try Shop(.v4)
        let script = """
            [{"effect":"refuse","status":503,"headers":{"Retry-After":"2"},"times":2,"skip":1,"method":"POST","url":"$batch"},
             {"effect":"precede","request":{"method":"PATCH","url":"/v4/Orders(1)","headers":{"If-Match":"*"},\
            "body":{"Note":"x"}}},
             {"effect":"cutAnswer","after":9,"part":"any"},{"effect":"withoutBody","part":3}]
            """
        func send(_ method: String, _ body: String = "") -> WireResponse? {
            guard case .response(let response) = shop.sandbox.reply(to: shop.request(method, "/faults", body, [:]))
            else { return nil }
            return response
        }
        #expect(send("POST", script)?.status == 204)
        let other = shop.request("PATCH", "/v4/Orders(1)", #"{"Note":"x"}"#, ["If-Match": "*"])
        guard case .precede(var read) = shop.sandbox.faults[1].effect else { throw NoResponse() }
        read.headers = other.headers
        #expect(read == other)
        let faults = shop.sandbox.faults
        #expect(
            faults[0]
                == Fault(
                    .refuse(status: 503, headers: ["Retry-After": "2"]), times: 2, skipping: 1, method: "POST",
                    urlPart: "$batch"))
        #expect(faults[2] == Fault(.cutAnswer(after: 9), part: .any))
        #expect(faults[3] == Fault(.distort(.withoutBody), part: .number(3)))
        let shown = try #require(send("GET"))
        #expect(send("DELETE")?.status == 204 && shop.sandbox.faults.isEmpty)
        #expect(send("POST", shown.text)?.status == 204 && shop.sandbox.faults == faults)
        #expect(send("PUT")?.status == 405)
    }

    @Test(arguments: [
        "", "7", "[7]", "{}", #"{"effect":"explode"}"#, #"{"effect":"refuse"}"#, #"{"effect":"dropAnswer","after":3}"#,
        #"{"effect":"delay","milliseconds":-1}"#, #"{"effect":"dropAnswer","part":0}"#,
        #"{"effect":"dropAnswer","method":7}"#, #"{"effect":"refuse","status":500,"headers":{"a":1}}"#,
        #"{"effect":"precede","request":{"method":"GET"}}"#,
        #"{"effect":"precede","request":{"method":"GET","url":"/","times":1}}"#,
    ])
    func `an invalid fault is refused with a message`(_ text: String) throws {
        var shop = try Shop(.v4)
        guard case .response(let response) = shop.sandbox.reply(to: shop.request("POST", "/faults", text, [:])) else {
            throw NoResponse()
        }
        #expect(response.status == 400 && response.text.hasSuffix("\n") && response.text.count > 10)
        #expect(shop.sandbox.faults.isEmpty)
    }

    @Test func `each effect is equal after encoding as JSON and decoding`() throws {
        let other = WireRequest(method: "GET", url: "/v4/", headers: ["A": "b"])
        let effects: [Fault.Effect] =
            [
                .refuse(status: 401, headers: ["A": "b"], body: Array("no".utf8)), .dropRequest,
                .cutRequest(after: 1), .dropAnswer, .cutAnswer(after: 2), .delay(milliseconds: 3), .expireTokens,
                .precede(by: other), .follow(by: other), .assignKeys, .ignoreBodyReferences, .keepRefused,
                .truncate(after: 4),
                .replace(contentType: "text/html", body: Array("<p>".utf8)),
            ] + Fault.PayloadCorruption.allCases.map(Fault.Effect.distort)
        var shop = try Shop(.v4)
        shop.sandbox.faults = effects.map { Fault($0, times: 2, skipping: 1) }
        guard case .response(let shown) = shop.sandbox.reply(to: shop.request("GET", "/faults", "", [:])) else {
            throw NoResponse()
        }
        #expect(try Fault.list(shown.body) == shop.sandbox.faults)
    }

    @Test(
        arguments: [
            "{\"effect\":\"delay\",\"milliseconds\":9223372036854775807}", "{\"effect\":\"delay\",\"milliseconds\":-1}",
            "{\"effect\":\"refuse\",\"status\":1000}", "{\"effect\":\"cutAnswer\",\"after\":-1}",
        ])
    func `a number out of range is refused`(_ json: String) {
        #expect(throws: FaultError.self) { try Fault.list(Array(json.utf8)) }
    }
}
