import Foundation
import GatewayCore
import TestSupport
import Testing

/// Requests that try to reach more than they should: they get 4xx, and the service sees nothing of them.
struct HostileClientTests {
    private static let chunked = "Transfer-Encoding: chunked\r\n"

    @Test(arguments: [
        "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\(chunked)\r\n0\r\n\r\nGET /odata/shop/smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 50\r\n\r\nabcdGET /odata/shop/smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nContent-Length: 1e3\r\n\r\n",
        "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\(chunked)\r\nzz\r\nabc\r\n0\r\n\r\n",
        "POST /odata/shop/A HTTP/1.0\r\nHost: a\r\n\(chunked)\r\n0\r\n\r\n",
        "GET /odata/shop/A HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /odata/shop/A HTTP/1.1\r\n\r\n",
        "GET http://evil.example/odata/shop/A HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /odata/shop/../../admin HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /odata/shop/%2e%2e/%2e%2e/admin HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /odata/shop/..;/..;/manager/html HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /odata/shop/%2e%2e%3b/manager HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /other/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /odata/shopping/A HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /odata/shop/A HTTP/1.1\r\nHost: a\r\nConnection: Authorization\r\n\r\n",
        "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
        "TRACE /odata/shop/A HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /odata/shop/A HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n",
        "\u{16}\u{3}\u{1}garbage\r\n\r\n",
    ])
    func `an ambiguous or misdirected request is refused`(_ text: String) async throws {
        try await withGateway({ _, connection in connection.respond("200 OK") }) { gateway, origin in
            let answer = await Sockets.exchange(gateway.port, text, seconds: 2)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
            #expect(!answer.contains("HTTP/1.1 200"))
            #expect(origin.requests.isEmpty)
        }
    }

    @Test(arguments: ["$batch", "%24batch"], ["../../manager", "..;/x", "/manager/html", "http://evil.example/"])
    func `a request in a batch cannot leave the service`(_ path: String, _ target: String) async throws {
        try await withGateway({ _, connection in connection.respond("200 OK") }) { gateway, origin in
            func post(_ contentType: String, _ body: String) async -> String {
                await Sockets.exchange(
                    gateway.port,
                    "POST /odata/shop/\(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: \(contentType)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
                    seconds: 3)
            }
            for fields in [
                "", "Repeatability-Request-ID: x\r\nRepeatability-First-Sent: \(RepeatedRequestTests.now)\r\n",
            ] {
                let part = "--b\r\nContent-Type: application/http\r\n\r\n"
                let multipart =
                    "\(part)GET Orders HTTP/1.1\r\n\r\n\r\n\(part)POST \(target) HTTP/1.1\r\n\(fields)\r\n\r\n--b--\r\n"
                #expect(await post("multipart/mixed; boundary=b", multipart).hasPrefix("HTTP/1.1 400"))
            }
            let json = #"{"requests":[{"id":"1","method":"get","url":"\#(target)"}]}"#
            #expect(await post("application/json", json).hasPrefix("HTTP/1.1 400"))
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func `bodies, heads and batches above the limits are refused`() async throws {
        var limits = GatewayLimits()
        limits.bodyBytes = 10_000
        limits.batchParts = 3
        try await withGateway(limits: limits, { _, connection in connection.respond("200 OK") }) { gateway, origin in
            func exchange(_ head: String, _ body: String) async -> String {
                await Sockets.exchange(gateway.port, "\(head)Host: a\r\nConnection: close\r\n\r\n\(body)", seconds: 3)
            }
            let long = String(repeating: "a", count: 20_000)
            #expect(
                await exchange("POST /odata/shop/A HTTP/1.1\r\nContent-Length: 20000\r\n", long).hasPrefix(
                    "HTTP/1.1 413"))
            #expect(
                await exchange("POST /odata/shop/A HTTP/1.1\r\nContent-Length: 99999999999999\r\n", "").hasPrefix(
                    "HTTP/1.1 413"))
            let chunks = "4e20\r\n\(long)\r\n0\r\n\r\n"
            let chunked = await exchange(
                "POST /odata/shop/A HTTP/1.1\r\nContent-Type: application/json\r\n\(Self.chunked)", chunks)
            #expect(chunked.hasPrefix("HTTP/1.1 413"), "\(chunked)")
            #expect(await exchange("GET /odata/shop/\(long) HTTP/1.1\r\n", "").hasPrefix("HTTP/1.1 414"))
            let fields = (0..<200).map { "X\($0): \(String(repeating: "b", count: 400))\r\n" }.joined()
            #expect(await exchange("GET /odata/shop/A HTTP/1.1\r\n\(fields)", "").hasPrefix("HTTP/1.1 4"))
            let part =
                "--b\r\nContent-Type: application/http\r\n\r\nPOST A HTTP/1.1\r\nRepeatability-Request-ID: x\r\n\r\n\r\n"
            let batch = String(repeating: part, count: 5) + "--b--\r\n"
            let answer = await exchange(
                "POST /odata/shop/$batch HTTP/1.1\r\nContent-Type: multipart/mixed; boundary=b\r\nContent-Length: \(batch.utf8.count)\r\n",
                batch)
            #expect(answer.hasPrefix("HTTP/1.1 413") && answer.contains("Repeatability-Result: rejected"), "\(answer)")
            #expect(origin.requests.allSatisfy { $0.body.count < 10_000 })
        }
    }

    @Test func `a header field cannot change the response for other users`() async throws {
        try await withGateway({ request, connection in
            let seen = request.headers.map(\.name).sorted().joined(separator: ",")
            return connection.respond("200 OK", "Cache-Control: public, max-age=600\r\nAge: 5\r\n", Array(seen.utf8))
        }) { gateway, _ in
            let answer = await Sockets.exchange(
                gateway.port,
                "GET /odata/shop/A HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nX-Original-URL: /admin\r\nForwarded: host=evil.example\r\nX_Host: e\r\nConnection: close\r\n\r\n"
            )
            #expect(answer.hasSuffix("\r\n\r\nhost,via"), "\(answer)")
            #expect(answer.contains("Cache-Control: private, no-store"))
            #expect(!answer.contains("max-age") && !answer.contains("evil"))
        }
    }

    @Test func `a client that sends nothing or half a request does not block other clients`() async throws {
        try await withGateway({ _, connection in connection.respond("200 OK") }) { gateway, _ in
            let idle = (0..<50).compactMap { _ in Sockets.connect(gateway.port) }
            for descriptor in idle {
                Sockets.write(
                    "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab".utf8, to: descriptor)
            }
            for descriptor in idle.dropFirst(4) { close(descriptor) }
            let answer = await Sockets.exchange(
                gateway.port,
                "GET /odata/shop/A HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
            for descriptor in idle.prefix(4) { close(descriptor) }
        }
    }
}
