import Gateway
import GatewayCore
import HTTPTypes
import TestSupport
import Testing
import Transport

/// The port for operators.
struct AdminTests {
    private func get(_ port: Int, _ path: String) async throws -> (status: Int, body: String) {
        let request = try #require(HTTPRequest(method: .get, url: "http://127.0.0.1:\(port)\(path)"))
        let (response, body) = try await defaultTransport().send(request, body: [])
        return (response.status.code, String(decoding: body, as: UTF8.self))
    }

    @Test func `requests, states of the ledger and errors of the service are counted`() async throws {
        try await withGateway({ request, connection in
            request.method == "POST" ? false : connection.respond("200 OK", "", Array("12345".utf8))
        }) { gateway, _ in
            let admin = try await AdminServer(gateway.service, .tcp(host: "127.0.0.1", port: 0))
            _ = await Sockets.exchange(
                gateway.port, "GET /odata/shop/A HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            _ = await Sockets.exchange(
                gateway.port,
                "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nRepeatability-Request-ID: r\r\nRepeatability-First-Sent: \(RepeatedRequestTests.now)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            _ = await Sockets.exchange(gateway.port, "GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let text = try await get(admin.port, "/metrics").body
            for line in [
                #"gateway_requests_total{kind="read",status="2xx"} 1"#,
                #"gateway_requests_total{kind="modification",status="5xx"} 1"#,
                #"gateway_requests_total{kind="refused",status="4xx"} 1"#,
                #"gateway_response_bytes_total{kind="read"} 5"#,
                #"gateway_ledger_verdicts_total{verdict="sent"} 1"#,
                #"gateway_ledger_ends_total{end="doubt"} 1"#, #"gateway_ledger_rows{state="doubt"} 1"#,
                #"gateway_request_seconds_count{kind="read"} 1"#,
            ] {
                #expect(text.contains(line + "\n"), "\(line) is missing in\n\(text)")
            }
            #expect(text.contains(#"gateway_origin_errors_total{endpoint="shop",reason=""#))
            await admin.stop()
        }
    }

    @Test func `a gateway that stops is healthy, but not ready`() async throws {
        try await withGateway({ _, connection in connection.respond("200 OK") }) { gateway, _ in
            let admin = try await AdminServer(gateway.service, .tcp(host: "127.0.0.1", port: 0))
            #expect(try await get(admin.port, "/ready").status == 200)
            gateway.service.stop()
            #expect(try await get(admin.port, "/ready").status == 503)
            #expect(try await get(admin.port, "/health").status == 200)
            #expect(try await get(admin.port, "/odata/shop/A").status == 404)
            await admin.stop()
        }
    }
}
