import EDM
import ODataSandbox
import ODataWire
import Testing

@Suite struct RepeatabilityTests {
    private static let sent = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let create = #"{"Name":"once"}"#

    private func identifier(_ name: String, _ dialect: Repeatability.Dialect) -> [String: String] {
        dialect == .oasis
            ? ["Repeatability-Request-ID": name, "Repeatability-First-Sent": Self.sent]
            : [
                "RequestID": name + String(repeating: "0", count: 32 - name.utf8.count),
                "RepeatabilityCreation": Self.sent,
            ]
    }

    private func shop(
        _ dialect: Dialect = .v4, _ repeatability: Repeatability.Dialect = .oasis, window: Int64? = nil
    ) throws -> Shop {
        var shop = try Shop(dialect)
        shop.sandbox.options.repeatability = Repeatability(repeatability, window: window)
        return shop
    }

    private func names(_ shop: Shop, _ name: String) -> Int {
        shop.state("Suppliers").split(separator: "\n").count { $0.contains(name) }
    }

    private func member(
        _ shop: Shop, _ id: String, _ name: String, _ headers: [String: String] = [:]
    ) -> BatchPart.Member {
        .init(contentID: id, request: shop.request("POST", "Suppliers", "{\"Name\":\"\(name)\"}", headers))
    }

    private func members(_ response: BatchResponse) throws -> [WireResponse] {
        guard case .changeSet(let members) = try #require(response.parts.first) else { return [] }
        return members.map(\.response)
    }

    @Test(arguments: Dialect.allCases, Repeatability.Dialect.allCases)
    func `a repeated creation is not executed again and has the same response`(
        _ dialect: Dialect, _ repeatability: Repeatability.Dialect
    ) throws {
        var shop = try shop(dialect, repeatability)
        let headers = identifier("a1", repeatability)
        let first = shop.send("POST", "Suppliers", Self.create, headers: headers)
        let result = repeatability == .oasis ? "Repeatability-Result" : "RepeatabilityResult"
        #expect(first.status == 201 && first.headers[result] == "accepted")
        #expect(shop.send("POST", "Suppliers", Self.create, headers: headers) == first)
        #expect(names(shop, "once") == 1)
        #expect(shop.send("POST", "Suppliers", Self.create, headers: identifier("a2", repeatability)) != first)
        #expect(names(shop, "once") == 2)
    }

    @Test func `identifiers are ignored without the option`() throws {
        var shop = try Shop(.v4)
        for _ in 0..<2 {
            let response = shop.send("POST", "Suppliers", Self.create, headers: identifier("a1", .oasis))
            #expect(response.headers["Repeatability-Result"] == nil)
        }
        #expect(names(shop, "once") == 2)
        #expect(!shop.get("$metadata").text.contains("Repeatability"))
    }

    @Test func `the metadata declares that repeatable requests are supported`() throws {
        var shop = try shop()
        let text = shop.get("$metadata").text
        #expect(text.contains(#"<Annotation Term="Org.OData.Repeatability.V1.Supported" Bool="true"/>"#))
        #expect(throws: Never.self) { try CSDLReader.read(Array(text.utf8)) }
    }

    @Test func `a different request with the same identifier is refused`() throws {
        var shop = try shop()
        shop.send("POST", "Suppliers", Self.create, headers: identifier("a1", .oasis))
        let other = shop.send("POST", "Suppliers", #"{"Name":"other"}"#, headers: identifier("a1", .oasis))
        #expect(other.status == 400 && other.errorCode == "NotRepeatable")
        #expect(other.headers["Repeatability-Result"] == "rejected")
        #expect(names(shop, "other") == 0)
    }

    @Test func `identifiers of different clients are independent`() throws {
        var shop = try shop()
        for client in ["one", "two"] {
            let headers = identifier("a1", .oasis).merging(["Repeatability-Client-ID": client]) { $1 }
            #expect(shop.send("POST", "Suppliers", Self.create, headers: headers).status == 201)
        }
        #expect(names(shop, "once") == 2)
    }

    @Test func `a request before the window is refused, known or not`() throws {
        var shop = try shop(window: 60)
        let sent = try #require(HTTPDate.milliseconds(Self.sent))
        shop.sandbox.options.now = GlobalDateTime(millisecondsSince1970: sent + 60_000)
        let headers = identifier("a1", .oasis)
        #expect(shop.send("POST", "Suppliers", Self.create, headers: headers).status == 201)
        shop.sandbox.options.now = GlobalDateTime(millisecondsSince1970: sent + 60_001)
        for name in ["a1", "a2"] {
            let late = shop.send("POST", "Suppliers", Self.create, headers: identifier(name, .oasis))
            #expect(late.status == 412 && late.headers["Repeatability-Result"] == "rejected")
        }
        #expect(names(shop, "once") == 1)
    }

    @Test(arguments: [
        ["Repeatability-Request-ID": "a"], ["Repeatability-First-Sent": sent],
        ["Repeatability-Request-ID": "a", "Repeatability-First-Sent": "yesterday"],
    ])
    func `an incomplete identifier is refused`(_ headers: [String: String]) throws {
        var shop = try shop()
        let response = shop.send("POST", "Suppliers", Self.create, headers: headers)
        #expect(response.status == 400 && response.headers["Repeatability-Result"] == "rejected")
    }

    @Test func `a refusal is repeated, and a failure of the service is not`() throws {
        var shop = try shop()
        let headers = identifier("a1", .oasis)
        let bad = #"{"Nonsense":1}"#
        let refused = shop.send("POST", "Suppliers", bad, headers: headers)
        #expect(refused.status == 400 && refused.headers["Repeatability-Result"] == "accepted")
        #expect(shop.send("POST", "Suppliers", bad, headers: headers) == refused)
        let request = shop.request("POST", "/v4/Suppliers", Self.create, identifier("a2", .oasis))
        shop.sandbox.faults = [Fault(.refuse(status: 503))]
        _ = shop.sandbox.reply(to: request)
        #expect(shop.sandbox.handle(request).status == 201)
    }

    // MARK: - Batches

    @Test(arguments: Dialect.allCases)
    func `a change set whose requests have identifiers is executed once`(_ dialect: Dialect) throws {
        var shop = try shop(dialect)
        let parts = [
            BatchPart.changeSet([
                member(shop, "1", "once", identifier("a1", .oasis)), member(shop, "2", "too", identifier("a2", .oasis)),
            ])
        ]
        let first = try members(shop.batch(parts))
        #expect(first.map(\.status) == [201, 201])
        #expect(first.allSatisfy { $0.headers["Repeatability-Result"] == "accepted" })
        #expect(try members(shop.batch(parts)) == first)
        #expect(names(shop, "once") == 1 && names(shop, "too") == 1)
    }

    @Test func `a change set with different members is a different request`() throws {
        var shop = try shop()
        let (one, two) = (
            member(shop, "1", "once", identifier("a1", .oasis)), member(shop, "2", "too", identifier("a2", .oasis))
        )
        _ = try shop.batch([.changeSet([one, two])])
        for members in [[one], [two], [two, one], [one, member(shop, "2", "third", identifier("a3", .oasis))]] {
            #expect(try shop.batch([.changeSet(members)]).statuses == "400")
        }
        #expect(try shop.batch([.changeSet([one, member(shop, "2", "bare")])]).statuses == "400")
        #expect(names(shop, "once") == 1 && names(shop, "third") == 0 && names(shop, "bare") == 0)
    }

    @Test func `the identifier of a change set may be in the header of its MIME part`() throws {
        var shop = try shop()
        let body = """
            --b\r
            Content-Type: multipart/mixed; boundary=c\r
            Repeatability-Request-ID: a1\r
            Repeatability-First-Sent: \(Self.sent)\r
            \r
            --c\r
            Content-Type: application/http\r
            Content-Transfer-Encoding: binary\r
            Content-ID: 1\r
            \r
            POST Suppliers HTTP/1.1\r
            Content-Type: application/json\r
            \r
            {"Name":"once"}\r
            --c--\r
            --b--\r

            """
        var request = WireRequest(method: "POST", url: "/v4/$batch", headers: [:], body: Array(body.utf8))
        request.headers["Content-Type"] = "multipart/mixed; boundary=b"
        for _ in 0..<2 {
            let response = shop.sandbox.handle(request)
            let batch = try MultipartBatchReader().readResponse(
                response.body, contentType: response.headers["Content-Type"] ?? "")
            #expect(batch.statuses == "[201]")
        }
        #expect(names(shop, "once") == 1)
    }

    @Test func `a repeated batch with an identifier has the same response`() throws {
        var shop = try shop()
        let parts = [BatchPart.changeSet([member(shop, "1", "once")])]
        let headers = identifier("a1", .oasis)
        let first = try shop.rawBatch(parts, headers: headers)
        #expect(first.headers["Repeatability-Result"] == "accepted")
        #expect(try shop.rawBatch(parts, headers: headers) == first)
        #expect(names(shop, "once") == 1)
    }

    @Test func `requests of a JSON batch may have identifiers`() throws {
        var shop = try shop()
        let body = """
            {"requests":[{"id":"1","atomicityGroup":"g","method":"post","url":"Suppliers","headers":{\
            "content-type":"application/json","repeatability-request-id":"a1",\
            "repeatability-first-sent":"\(Self.sent)"},"body":{"Name":"once"}}]}
            """
        let first = shop.send("POST", "$batch", body, headers: ["OData-Version": "4.01"])
        #expect(first.text.contains(#""repeatability-result":"accepted""#))
        #expect(shop.send("POST", "$batch", body, headers: ["OData-Version": "4.01"]) == first)
        #expect(names(shop, "once") == 1)
    }
}
