import Foundation
import Gateway
import GatewayCore
import HTTPTypes
import ODataWire
import Synchronization
import TestSupport
import Testing
import Transport

/// Single requests with repeatability identifiers, sent through the gateway to a service that counts executed requests.
struct RepeatedRequestTests {
    private func post(
        _ gateway: GatewayUnderTest, id: String = "r1", user: String = "a", body: String = "{\"n\":1}",
        sap: Bool = false,
        sent: String? = nil
    ) async throws -> (response: HTTPResponse, body: String) {
        var request = try #require(HTTPRequest(method: .post, url: gateway.root + "shop/Orders"))
        let now = sent ?? Self.now
        let fields =
            sap
            ? [("RequestID", id), ("RepeatabilityCreation", now)]
            : [("Repeatability-Request-ID", id), ("Repeatability-First-Sent", now), ("Repeatability-Client-ID", "c")]
        for (name, value) in fields + [("Authorization", "Bearer \(user)"), ("Content-Type", "application/json")] {
            request.headerFields[HTTPField.Name(name)!] = value
        }
        let (response, bytes) = try await defaultTransport().send(request, body: Array(body.utf8))
        return (response, String(decoding: bytes, as: UTF8.self))
    }

    static let now: String = {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date())
    }()

    private static let created: LoopbackServer.Answer = { request, connection in
        connection.respond(
            "201 Created",
            "Content-Type: application/json\r\nLocation: http://\(request.header("host") ?? "")/svc/Orders(5)\r\n",
            Array("{\"ID\":5}".utf8))
    }

    @Test(arguments: [false, true])
    func `a repetition is answered from the ledger`(_ sap: Bool) async throws {
        try await withGateway(Self.created) { gateway, origin in
            let first = try await post(gateway, sap: sap)
            let second = try await post(gateway, sap: sap)
            for answer in [first, second] {
                #expect(answer.response.status.code == 201)
                #expect(answer.body == "{\"ID\":5}")
                #expect(answer.response.headerFields[.location] == "\(gateway.root)shop/Orders(5)")
                let name = HTTPField.Name(sap ? "RepeatabilityResult" : "Repeatability-Result")!
                #expect(answer.response.headerFields[name] == "accepted")
            }
            #expect(origin.requests.count == 1)
        }
    }

    /// A batch whose change set created an entity, and whose second change set was refused.
    private static func batch(_ boundary: String) -> String {
        """
        --\(boundary)
        Content-Type: multipart/mixed; boundary=c

        --c
        Content-Type: application/http
        Content-ID: 1

        HTTP/1.1 201 Created
        Location: http://origin.test/svc/Orders(5)
        Content-Type: application/json

        {"ID":5}
        --c--
        --\(boundary)
        Content-Type: application/http

        HTTP/1.1 409 Conflict
        Content-Type: application/json

        {"error":{}}
        --\(boundary)--

        """.replacing("\n", with: "\r\n")
    }

    @Test(arguments: [false, true])
    func `the first response to a batch and its repetition contain the result of each unit`(_ sap: Bool) async throws {
        try await withGateway({ _, connection in
            connection.respond(
                sap ? "202 Accepted" : "200 OK", "Content-Type: multipart/mixed; boundary=b\r\nSet-Cookie: a=1\r\n",
                Array(Self.batch("b").utf8))
        }) { gateway, origin in
            for _ in 0..<2 {
                let answer = try await postBatch(gateway, sap: sap)
                let marks = answer.body.components(
                    separatedBy: sap ? "RepeatabilityResult: accepted" : "Repeatability-Result: accepted")
                #expect(marks.count == 3, "\(answer.body)")
                #expect(answer.body.contains("{\"ID\":5}"))
            }
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `a failed change set without identifiers keeps its Content-ID in a composed answer`() async throws {
        let failed = """
            --b
            Content-Type: application/http
            Content-ID: 3

            HTTP/1.1 409 Conflict

            --b--

            """.replacing("\n", with: "\r\n")
        let answers = Mutex([Self.batch("b"), failed])
        try await withGateway({ _, connection in
            connection.respond(
                "200 OK", "Content-Type: multipart/mixed; boundary=b\r\n",
                Array(answers.withLock { $0.removeFirst() }.utf8))
        }) { gateway, origin in
            _ = try await postBatch(gateway, sap: false)
            let unidentified = BatchPart.changeSet(
                [2, 3].map { .init(contentID: "\($0)", request: WireRequest(method: "DELETE", url: "Orders(\($0))")) })
            let answer = try await postBatch(gateway, sap: false, last: unidentified)
            #expect(answer.body.contains("Content-ID: 3\r\n\r\nHTTP/1.1 409"), "\(answer.body)")
            #expect(origin.requests.count == 2)
        }
    }

    @Test(arguments: ["503 Service Unavailable", "429 Too Many Requests", "400 Bad Request"])
    func `a status of the rest of a batch is not the response to the units that were executed before`(
        _ status: String
    ) async throws {
        let calls = Mutex(0)
        try await withGateway({ _, connection in
            let call = calls.withLock { count in
                count += 1
                return count
            }
            let multipart = "Content-Type: multipart/mixed; boundary=b\r\n"
            return switch call {
            case 1: connection.respond("200 OK", multipart, Array(Self.batch("b").utf8))
            case 2: connection.respond(status, "Retry-After: 1\r\n")
            default:
                connection.respond(
                    "200 OK", multipart,
                    Array("--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 409 Conflict\r\n\r\n--b--\r\n".utf8))
            }
        }) { gateway, origin in
            let unidentified = BatchPart.changeSet([
                .init(contentID: "2", request: WireRequest(method: "DELETE", url: "Orders(2)"))
            ])
            _ = try await postBatch(gateway, sap: false, last: unidentified)
            // A client would send both change sets anew after the status of the service.
            #expect(try await postBatch(gateway, sap: false).response.status.code == 504)
            let answer = try await postBatch(gateway, sap: false)
            #expect(answer.response.status.code == 200 && answer.body.contains("{\"ID\":5}"), "\(answer.body)")
            #expect(origin.requests.count == 3)
        }
    }

    @Test func `the bodies of a JSON batch are unchanged: JSON without a content type, and binary content`()
        async throws
    {
        let answer = #"""
            {"responses":[{"id":"1","status":201,"body":{"ID":5}},
            {"id":"2","status":200,"headers":{"content-type":"image/png"},"body":"AP_-"}]}
            """#
        try await withGateway({ _, connection in
            connection.respond("200 OK", "Content-Type: application/json\r\n", Array(answer.utf8))
        }) { gateway, _ in
            var request = try #require(HTTPRequest(method: .post, url: gateway.root + "shop/$batch"))
            request.headerFields[.contentType] = "application/json"
            let body = """
                {"requests":[{"id":"1","method":"POST","url":"Orders","headers":{"content-type":"application/json",
                "repeatability-request-id":"r","repeatability-client-id":"c","repeatability-first-sent":"\(Self.now)"},
                "body":{}},{"id":"2","method":"GET","url":"Photos(1)/$value"}]}
                """
            for _ in 0..<2 {
                let (_, bytes) = try await defaultTransport().send(request, body: Array(body.utf8))
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(text.contains("accepted") && text.contains(#""body":{"ID":5}"#), "\(text)")
                #expect(text.contains(#""AP_-""#), "\(text)")
            }
        }
    }

    private func postBatch(
        _ gateway: GatewayUnderTest, sap: Bool, last: BatchPart? = nil
    ) async throws -> (response: HTTPResponse, body: String) {
        func part(_ id: String, _ number: Int) -> BatchPart {
            let fields =
                sap
                ? ["RequestID": id, "RepeatabilityCreation": Self.now]
                : [
                    "Repeatability-Request-ID": id, "Repeatability-First-Sent": Self.now,
                    "Repeatability-Client-ID": "c",
                ]
            var headers = HTTPHeaders(fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
            headers["Content-Type"] = "application/json"
            let request = WireRequest(method: "POST", url: "Orders", headers: headers, body: Array("{}".utf8))
            return .changeSet([.init(contentID: "\(number)", request: request)])
        }
        let body = try MultipartBatchWriter().write(
            BatchRequest(parts: [part("r1", 1), last ?? part("r2", 2)]), boundary: "r", changeSetBoundary: { "s\($0)" })
        var request = try #require(HTTPRequest(method: .post, url: gateway.root + "shop/$batch"))
        request.headerFields[.contentType] = MultipartBatchWriter.contentType(boundary: "r")
        let (response, bytes) = try await defaultTransport().send(request, body: body)
        return (response, String(decoding: bytes, as: UTF8.self))
    }

    @Test func `a rejection is an outcome too, a missing login is not`() async throws {
        let status = Mutex("409 Conflict")
        try await withGateway({ _, connection in connection.respond(status.withLock { $0 }) }) { gateway, origin in
            for _ in 0..<2 {
                let answer = try await post(gateway)
                #expect(answer.response.status.code == 409)
            }
            #expect(origin.requests.count == 1)
            for (id, text, code) in [
                ("r2", "401 Unauthorized", 401), ("r3", "403 Forbidden", 403), ("r4", "429 Too Many Requests", 429),
            ] {
                status.withLock { $0 = text }
                let first = try await post(gateway, id: id)
                status.withLock { $0 = "204 No Content" }
                let second = try await post(gateway, id: id)
                #expect(first.response.status.code == code)
                #expect(second.response.status.code == 204)
            }
            #expect(origin.requests.count == 7)
        }
    }

    @Test func `identifiers of another user, other contents and old requests are refused`() async throws {
        try await withGateway(Self.created) { gateway, origin in
            _ = try await post(gateway)
            let foreign = try await post(gateway, user: "b")
            #expect(foreign.response.status.code == 412)
            #expect(!foreign.body.contains("\"ID\":5"))
            #expect(try await post(gateway, body: "{\"n\":2}").response.status.code == 400)
            #expect(
                try await post(gateway, id: "r9", sent: "Sun, 06 Nov 1994 08:49:37 GMT").response.status.code == 412)
            #expect(try await post(gateway, id: "r9", sent: "now").response.status.code == 400)
            #expect(try await post(gateway, id: String(repeating: "x", count: 999)).response.status.code == 400)
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `parallel repetitions are executed once`() async throws {
        try await withGateway({ request, connection in
            Thread.sleep(forTimeInterval: 0.2)
            return Self.created(request, connection)
        }) { gateway, origin in
            let codes = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 { group.addTask { try await post(gateway).response.status.code } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes == Array(repeating: 201, count: 6))
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `a lost response is in doubt, and the repetition is rejected with the advice to read`() async throws {
        try await withGateway({ _, _ in false }) { gateway, origin in
            #expect(try await post(gateway).response.status.code == 504)
            let second = try await post(gateway)
            #expect(second.response.status.code == 412)
            #expect(second.response.headerFields[HTTPField.Name("Repeatability-Result")!] == "rejected")
            #expect(try await post(gateway).response.status.code == 412)
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `a client that disconnects does not lose the outcome`() async throws {
        try await withGateway({ request, connection in
            Thread.sleep(forTimeInterval: 0.3)
            return Self.created(request, connection)
        }) { gateway, origin in
            let descriptor = try #require(Sockets.connect(gateway.port))
            Sockets.write(
                "POST /odata/shop/Orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nContent-Type: application/json\r\nContent-Length: 7\r\nRepeatability-Request-ID: r1\r\nRepeatability-Client-ID: c\r\nRepeatability-First-Sent: \(Self.now)\r\n\r\n{\"n\":1}"
                    .utf8, to: descriptor)
            while origin.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            close(descriptor)
            let answer = try await post(gateway)
            #expect(answer.response.status.code == 201)
            #expect(origin.requests.count == 1)
        }
    }

    /// The gateway "crashes" at a step: from then on this storage keeps nothing, and another gateway starts with the rows.
    private actor CrashingStorage: LedgerStorage {
        enum Step: CaseIterable { case beforeClaim, afterClaim, beforeOutcome, afterOutcome }

        let rows: MemoryLedgerStorage
        let step: Step

        init(_ rows: MemoryLedgerStorage, _ step: Step) { (self.rows, self.step) = (rows, step) }

        func claim(_ claims: [LedgerClaim], _ rules: LedgerRules) async throws(LedgerStorageError) -> [LedgerVerdict] {
            if step == .beforeClaim { throw LedgerStorageError("crash") }
            let verdicts = try await rows.claim(claims, rules)
            if step == .afterClaim { throw LedgerStorageError("crash") }
            return verdicts
        }

        func complete(_ ends: [LedgerCompletion], _ rules: LedgerRules) async throws(LedgerStorageError) -> [Bool] {
            if step == .beforeOutcome { throw LedgerStorageError("crash") }
            _ = try await rows.complete(ends, rules)
            throw LedgerStorageError("crash")
        }

        func forget(_ rules: LedgerRules, limit: Int) async throws(LedgerStorageError) -> Int { 0 }
        func rows(in state: LedgerRow.UnitState?, limit: Int) async throws(LedgerStorageError) -> [LedgerRow] { [] }
        func openRows() async throws(LedgerStorageError) -> [LedgerRow.UnitState: Int] { [:] }
        func secret() async throws(LedgerStorageError) -> [UInt8] { try await rows.secret() }
    }

    @Test(arguments: CrashingStorage.Step.allCases)
    private func `after an end at any step, the request was executed at most once, and the client learns the outcome`(
        _ step: CrashingStorage.Step
    ) async throws {
        let rows = MemoryLedgerStorage()
        try await withServer(Self.created) { origin in
            let services = ["shop": origin.base + "/svc/"]
            let broken = try await GatewayUnderTest(
                services, storage: CrashingStorage(rows, step), timeout: 300, margin: 0)
            let first = try await post(broken).response
            await broken.stop()
            let repaired = try await GatewayUnderTest(services, storage: rows, timeout: 300, margin: 0)
            let second = try await post(repaired).response
            await repaired.stop()
            switch step {
            case .beforeClaim:
                // Nothing was forwarded, but without the ledger that is unknown of earlier attempts.
                #expect(first.status.code == 504)
                #expect(second.status.code == 201)
                #expect(origin.requests.count == 1)
            case .afterClaim:
                #expect(first.status.code == 504)
                #expect(second.status.code == 412)
                #expect(origin.requests.isEmpty)
            case .beforeOutcome:
                #expect(first.status.code == 504)
                #expect(second.status.code == 412)
                #expect(origin.requests.count == 1)
            case .afterOutcome:
                #expect(first.status.code == 504)
                #expect(second.status.code == 201)
                #expect(origin.requests.count == 1)
            }
        }
    }
}
