import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Transport

struct CurlTransportTests: CurlRequests {
    let transport = CurlTransport()

    // MARK: Requests

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "MERGE", "DELETE"])
    func `method, target, headers and body of a request are sent unchanged`(_ method: String) async throws {
        try await withServer {
            $1.respond("200 OK", "", $0.body)
        } _: { server in
            let body = Array(#"{"Name":"Zoë"}"#.utf8)
            let target = "/s/Customers('a/../b')?$filter=Name%20eq%20'x'"
            let (response, received) = try await transport.send(
                request(method, server.base + target, [.contentType: "application/json", .ifMatch: "W/\"1\""]),
                body: body)
            #expect(response.status == .ok)
            #expect(received == body)
            let seen = try #require(server.requests.first)
            #expect(seen.method == method)
            #expect(seen.target == target)
            #expect(seen.body == body)
            #expect(seen.header("content-type") == "application/json")
            #expect(seen.header("if-match") == "W/\"1\"")
            #expect(seen.header("expect") == nil)
        }
    }

    @Test(arguments: [true, false])
    func `a response with the trailer OData-Error is an error, and other trailers are ignored`(
        _ isError: Bool
    ) async throws {
        let name = isError ? "OData-error" : "X-Checksum"
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: \(name)\r\n\r\n")
            $1.write("c\r\n{\"value\":[]}\r\n0\r\n\(name): {\"message\":\"out of memory\"}\r\n\r\n")
            return $0.method != "GET"
        } _: { server in
            let whole = await failure(of: try request("GET", server.base))
            #expect((whole?.code == .errorTrailer) == isError)
            #expect(whole == nil || whole?.message.contains("out of memory") == true)
            let (_, body) = try await transport.stream(request("GET", server.base), body: [])
            var bytes: [UInt8] = []
            var streamed: TransportError?
            do throws(TransportError) {
                for try await chunk in body { bytes += chunk }
            } catch { streamed = error }
            #expect((streamed?.code == .errorTrailer) == isError)
            #expect(String(decoding: bytes, as: UTF8.self) == "{\"value\":[]}")
        }
    }

    @Test func `a body without a content type is sent without one`() async throws {
        try await withServer {
            $1.respond("204 No Content", $0.header("content-type") ?? "")
        } _: { server in
            let (response, _) = try await transport.send(request("POST", server.base), body: [1, 2])
            #expect(response.status == .noContent)
            #expect(server.requests.first?.header("content-type") == nil)
        }
    }

    @Test func `a POST without a body is sent with a content length of 0`() async throws {
        try await withServer {
            $1.respond("200 OK", "", $0.body)
        } _: { server in
            _ = try await transport.send(request("POST", server.base), body: [])
            #expect(server.requests.first?.header("content-length") == "0")
        }
    }

    @Test func `a body of eight megabytes is sent and received unchanged`() async throws {
        try await withServer {
            $1.respond("200 OK", "", $0.body)
        } _: { server in
            let body = (0..<8 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            let (_, received) = try await transport.send(request("PUT", server.base), body: body)
            #expect(received == body)
        }
    }

    // MARK: Responses

    @Test(arguments: [("GET", "204 No Content"), ("GET", "304 Not Modified"), ("HEAD", "200 OK")])
    func `a response without a body is complete`(_ method: String, _ status: String) async throws {
        let text = "HTTP/1.1 \(status)\r\nETag: \"1\"\r\n" + (method == "HEAD" ? "Content-Length: 99\r\n\r\n" : "\r\n")
        try await withServer {
            $1.write(text)
        } _: { server in
            for _ in 0..<2 {
                let (response, body) = try await transport.send(request(method, server.base), body: [])
                #expect(status.hasPrefix("\(response.status.code)"))
                #expect(response.headerFields[.eTag] == "\"1\"")
                #expect(body.isEmpty)
            }
        }
    }

    @Test func `an interim response is ignored`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n")
            return $1.respond("201 Created", "X-Late: 1\r\n", Array("x".utf8))
        } _: { server in
            let (response, _) = try await transport.send(request("POST", server.base), body: [])
            #expect(response.status == .created)
            #expect(response.headerFields.map(\.name.rawName) == ["X-Late", "Content-Length"])
        }
    }

    @Test func `repeated header fields are kept`() async throws {
        try await withServer {
            $1.respond("200 OK", "X-A: 1\r\nX-A:2 \r\n")
        } _: { server in
            let (response, _) = try await transport.send(request("GET", server.base), body: [])
            #expect(response.headerFields[values: .init("X-A")!] == ["1", "2"])
        }
    }

    @Test func `a compressed body is decoded`() async throws {
        let compressed: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        try await withServer {
            $1.respond("200 OK", "Content-Encoding: gzip\r\n", compressed)
        } _: { server in
            let (_, body) = try await transport.send(request("GET", server.base), body: [])
            #expect(String(decoding: body, as: UTF8.self) == "hello")
            #expect(server.requests.first?.header("accept-encoding")?.contains("gzip") == true)
        }
    }

    @Test func `a cookie that a response sets is sent with later requests`() async throws {
        try await withServer {
            $1.respond("200 OK", "Set-Cookie: session=7; Path=/\r\n")
        } _: { server in
            _ = try await transport.send(request("GET", server.base), body: [])
            _ = try await transport.send(request("POST", server.base), body: [])
            _ = try await CurlTransport().send(request("GET", server.base), body: [])
            #expect(server.requests.map { $0.header("cookie") } == [nil, "session=7", nil])
        }
    }

    // MARK: Credentials

    @Test func `a 401 is a response like any other`() async throws {
        try await withServer { request, connection in
            request.header("authorization") == "Basic dXM6cMOkw58="
                ? connection.respond("200 OK")
                : connection.respond("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", Array("no".utf8))
        } _: { server in
            let (refused, body) = try await transport.send(request("GET", server.base), body: [])
            #expect(refused.status == .unauthorized)
            #expect(String(decoding: body, as: UTF8.self) == "no")
            var options = TransportOptions()
            options.credentials = { _ in .basic(user: "us", password: "pä\u{DF}") }
            let (accepted, _) = try await CurlTransport(options).send(request("GET", server.base), body: [])
            #expect(accepted.status == .ok)
        }
    }

    @Test func `the description of credentials contains no secrets`() {
        var text = ""
        dump([Credentials.bearer("s3cret"), .basic(user: "s3cret", password: "s3cret")], to: &text)
        text += "\(Credentials.bearer("s3cret")) \(String(reflecting: Credentials.basic(user: "s3cret", password: "")))"
        #expect(!text.contains("s3cret"))
    }

    // MARK: Redirects

    @Test(arguments: [(307, "POST"), (308, "PATCH"), (307, "GET"), (302, "GET"), (301, "HEAD")])
    func `a redirect within the origin is followed with method and body`(_ status: Int, _ method: String) async throws {
        try await withServer {
            $0.target == "/old"
                ? $1.respond("\(status) Moved", "Location: /new?x=1\r\n", $0.method == "HEAD" ? [] : Array("away".utf8))
                : $1.respond("200 OK")
        } _: { server in
            let body = method == "GET" || method == "HEAD" ? [] : Array("body".utf8)
            let (response, received) = try await transport.send(request(method, server.base + "/old"), body: body)
            #expect(response.status == .ok)
            #expect(received.isEmpty)
            #expect(server.requests.map(\.method) == [method, method])
            #expect(server.requests.map(\.target) == ["/old", "/new?x=1"])
            #expect(server.requests.map(\.body) == [body, body])
        }
    }

    @Test func `the location after a redirect is returned, and nil without a redirect`() async throws {
        try await withServer {
            $0.target == "/old" ? $1.respond("302 Moved", "Location: /new?x=1\r\n") : $1.respond("200 OK")
        } _: { server in
            let moved = try await transport.locate(request("GET", server.base + "/old"))
            #expect(moved.location == server.base + "/new?x=1")
            let there = try await transport.locate(request("GET", server.base + "/new"))
            #expect(there.location == nil)
        }
    }

    @Test(arguments: [301, 302, 303])
    func `a redirect that would drop the body is returned as the response`(_ status: Int) async throws {
        try await withServer {
            $1.respond("\(status) Moved", "Location: /new\r\n", Array("x".utf8))
        } _: { server in
            let (response, body) = try await transport.send(request("POST", server.base), body: [1])
            #expect(response.status.code == status)
            #expect(response.headerFields[.location] == "/new")
            #expect(body == Array("x".utf8))
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ["http://elsewhere.invalid/login?token=s3cret", "https://127.0.0.1:1/", "//elsewhere.invalid/"])
    func `a redirect to another origin is refused with an error that names the host`(_ location: String) async throws {
        try await withServer {
            $1.respond("307 Moved", "Location: \(location)\r\n")
        } _: { server in
            let error = try await failure(of: request("POST", server.base), body: [1])
            #expect(error?.code == .redirectRefused)
            #expect(error?.mayHaveBeenSent == false)
            let host = location.contains("elsewhere") ? "http://elsewhere.invalid," : "https://127.0.0.1:1,"
            #expect(error?.message.contains(host) == true)
            #expect(error?.message.contains("s3cret") == false)
        }
    }

    @Test(arguments: ["GET", "POST", "PATCH", "MERGE", "DELETE"], [301, 302, 303, 307, 308])
    func `no request with any method is redirected to another origin`(_ method: String, _ status: Int) async throws {
        let other = try LoopbackServer { $1.respond("200 OK") }
        defer { other.stop() }
        try await withServer {
            $1.respond("\(status) Moved", "Location: \(other.base)/elsewhere\r\n")
        } _: { server in
            let error = try await failure(
                of: request(method, server.base + "/$batch"), body: method == "GET" ? [] : [1])
            #expect(error?.code == .redirectRefused)
            // With 303 See Other, the service may have processed the request: the location refers to the result.
            #expect(error?.mayHaveBeenSent == (status == 303))
            #expect(other.requests.isEmpty)
        }
    }

    @Test func `an endless chain of redirects is refused`() async throws {
        try await withServer {
            $1.respond("302 Moved", "Location: \($0.target)x\r\n")
        } _: { server in
            let error = try await failure(of: request("GET", server.base + "/"))
            #expect(error?.code == .redirectRefused)
            #expect(server.requests.count == ResponseLimits().maximumRedirects + 1)
        }
    }
}
