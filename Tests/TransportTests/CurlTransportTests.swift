import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Transport

struct CurlTransportTests {
    let transport = CurlTransport()

    private func request(
        _ method: String, _ url: String, _ fields: HTTPFields = [:]
    ) throws -> HTTPRequest {
        let method = try #require(HTTPRequest.Method(method))
        return try #require(HTTPRequest(method: method, url: url, headerFields: fields))
    }

    private func failure(
        of request: HTTPRequest, body: [UInt8] = [], _ transport: CurlTransport? = nil
    ) async -> TransportError? {
        do throws(TransportError) {
            _ = try await (transport ?? self.transport).send(request, body: body)
            return nil
        } catch { return error }
    }

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

    // MARK: Failures

    @Test func `a request over a refused connection was not sent`() async throws {
        let server = try LoopbackServer { _, _ in false }
        server.stop()
        let error = try await failure(of: request("POST", server.base + "/A?token=s3cret"), body: [1])
        #expect(error?.code == .unreachable)
        #expect(error?.mayHaveBeenSent == false)
        #expect(error?.message.hasPrefix("POST \(server.base)/A?…: ") == true)
    }

    @Test func `a request to an unknown host name was not sent`() async throws {
        let error = try await failure(of: request("GET", "http://no-such-host.invalid/"))
        #expect(error?.code == .resolve)
        #expect(error?.mayHaveBeenSent == false)
    }

    @Test func `a handshake that does not end times out, and the request was not sent`() async throws {
        var options = TransportOptions()
        options.limits.connectTimeout = .milliseconds(300)
        let transport = CurlTransport(options)
        try await withServer { _, _ in
            false
        } _: { server in
            let error = try await failure(
                of: request("POST", "https://127.0.0.1:\(server.port)/"), body: [1], transport)
            #expect(error?.code == .timeout)
            #expect(error?.mayHaveBeenSent == false)
        }
    }

    @Test func `a truncated body is an error with the code truncated`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            return false
        } _: { server in
            let error = try await failure(of: request("POST", server.base), body: [1])
            #expect(error?.code == .truncated)
            #expect(error?.mayHaveBeenSent == true)
        }
    }

    @Test func `a truncated chunked body is an error`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
            return false
        } _: { server in
            let error = try await failure(of: request("GET", server.base))
            #expect([.truncated, .disconnected].contains(error?.code))
        }
    }

    @Test(arguments: ["POST", "PATCH", "MERGE", "DELETE", "PUT"])
    func `a request whose connection breaks is not sent twice`(_ method: String) async throws {
        try await withServer {
            $0.method == "GET" ? $1.respond("200 OK") : false
        } _: { server in
            _ = try await transport.send(request("GET", server.base), body: [])
            let error = try await failure(of: request(method, server.base), body: [1])
            #expect(error?.code == .disconnected)
            #expect(error?.mayHaveBeenSent == true)
            #expect(server.requests.map(\.method) == ["GET", method])
        }
    }

    @Test func `a response that is not HTTP is an error`() async throws {
        try await withServer {
            $1.write("SSH-2.0-hello\r\n")
            return false
        } _: { server in
            let error = try await failure(of: request("GET", server.base))
            #expect(error?.code != nil)
        }
    }

    @Test func `a service that never answers times out, and the request may have been sent`() async throws {
        var options = TransportOptions()
        options.limits.totalTimeout = .milliseconds(200)
        let release = DispatchSemaphore(value: 0)
        try await withServer { _, _ in
            release.wait()
            return false
        } _: { server in
            let error = try await failure(of: request("POST", server.base), body: [1], CurlTransport(options))
            #expect(error?.code == .timeout)
            #expect(error?.mayHaveBeenSent == true)
            release.signal()
        }
    }

    @Test func `a response that stops before its end times out`() async throws {
        var options = TransportOptions()
        options.limits.idleTimeout = .seconds(1)
        let transport = CurlTransport(options)
        let release = DispatchSemaphore(value: 0)
        try await withServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            release.wait()
            return false
        } _: { server in
            let error = try await failure(of: request("GET", server.base), transport)
            release.signal()
            #expect(error?.code == .timeout)
        }
    }

    @Test func `a response that exceeds the size limit is refused`() async throws {
        var options = TransportOptions()
        options.limits.bufferedBytes = 1000
        try await withServer {
            $1.respond("200 OK", "", Array(repeating: 65, count: $0.target == "/a" ? 1000 : 1001))
        } _: {
            server in
            let transport = CurlTransport(options)
            #expect(try await transport.send(request("GET", server.base + "/a"), body: []).body.count == 1000)
            let error = try await failure(of: request("GET", server.base + "/b"), transport)
            #expect(error?.code == .tooLarge)
        }
    }

    @Test(arguments: [5000, 300_000])
    func `a response with too many header fields is refused`(_ fields: Int) async throws {
        try await withServer {
            $1.respond("200 OK", String(repeating: "a:\r\n", count: fields))
        } _: { server in
            let error = try await failure(of: request("GET", server.base))
            #expect(error != nil)
        }
    }

    @Test(arguments: [
        "ftp://h/", "http://", "http://u:s3cret@h/", "http://h/a b", "http://h:99999/", "h/a", "http://h/ä",
    ])
    func `an invalid URL is refused`(_ url: String) throws {
        #expect(HTTPRequest(method: .get, url: url) == nil)
    }

    @Test func `a request without a usable URL is not sent`() async throws {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "u:s3cret@127.0.0.1", path: "/")
        let error = await failure(of: request)
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("s3cret") == false)
    }

    // MARK: Concurrency

    @Test func `a cancelled task ends at once, and its error states that the request may have been sent`() async throws
    {
        let arrived = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        try await withServer { _, _ in
            arrived.continuation.yield()
            release.wait()
            return false
        } _: { server in
            let request = try request("POST", server.base)
            let task = Task { await failure(of: request, body: [1]) }
            for await _ in arrived.stream { break }
            task.cancel()
            let error = await task.value
            release.signal()
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveBeenSent == true)
        }
    }

    @Test func `a task that is cancelled before it begins sends no request`() async throws {
        try await withServer {
            $1.respond("200 OK", "", $0.body)
        } _: { server in
            let request = try request("POST", server.base)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await failure(of: request, body: [1])
            }
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveBeenSent == false)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `each of many concurrent requests receives its own response`() async throws {
        try await withServer {
            $1.respond("200 OK", "", Array($0.target.utf8) + $0.body)
        } _: { server in
            let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for number in 0..<200 {
                    let request = try request(number % 3 == 0 ? "POST" : "GET", server.base + "/\(number)")
                    let body = number % 3 == 0 ? Array("-\(number)".utf8) : []
                    group.addTask {
                        (number, String(decoding: try await transport.send(request, body: body).body, as: UTF8.self))
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(answers.count == 200)
            for (number, answer) in answers {
                #expect(answer == (number % 3 == 0 ? "/\(number)-\(number)" : "/\(number)"))
            }
        }
    }

    @Test func `queries share a connection`() async throws {
        try await withServer {
            $1.respond("200 OK", "", $0.body)
        } _: { server in
            for _ in 0..<5 { _ = try await transport.send(request("GET", server.base), body: []) }
            // On a busy machine, a connection may be closed in between and a new one opened.
            #expect(Set(server.requests.map(\.connection)).count < 5)
        }
    }

    @Test(arguments: ["POST", "PATCH", "PUT", "DELETE"])
    func `an unsafe request uses a new connection`(_ method: String) async throws {
        try await withServer {
            $1.respond("200 OK", "", $0.body)
        } _: { server in
            for _ in 0..<3 { _ = try await transport.send(request("GET", server.base), body: []) }
            _ = try await transport.send(request(method, server.base), body: [])
            let connections = server.requests.map(\.connection)
            #expect(connections.count == 4)
            #expect(!connections.dropLast().contains(try #require(connections.last)), "\(connections)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func `stopping a loop ends its thread`() async throws {
        weak var released: CurlLoop?
        do {
            let loop = try CurlLoop(connectionsPerHost: 1)
            released = loop
            loop.stop()
        }
        // The thread retains the loop while it runs. If the thread does not end, the time limit fails the test.
        while released != nil { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func `stopping a loop cancels the active request and all later ones`()
        async throws
    {
        let arrived = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        try await withServer { _, _ in
            arrived.continuation.yield()
            release.wait()
            return false
        } _: { server in
            let loop = try CurlLoop(connectionsPerHost: 1)
            let outgoing = try OutgoingRequest(request("POST", server.base), body: [1])
            let transfers = (0..<2).map { _ in
                CurlTransfer(outgoing, TransportOptions(), buffer: ResponseBuffer(capacity: nil))
            }
            loop.start(transfers[0])
            for await _ in arrived.stream { break }
            loop.stop()
            let first = await transfers[0].buffer.whole()
            loop.start(transfers[1])
            let second = await transfers[1].buffer.whole()
            release.signal()
            #expect(throws: TransportError.self) { try first.get() }
            #expect(throws: TransportError.self) { try second.get() }
            #expect(server.requests.count == 1)
        }
    }

    // MARK: Streaming

    @Test func `a streamed body is received completely and in order`() async throws {
        let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 >> 4) }
        try await withServer {
            $1.respond("200 OK", "", sent + $0.body)
        } _: { server in
            let (response, body) = try await transport.stream(request("GET", server.base), body: [])
            #expect(response.status == .ok)
            var received: [UInt8] = []
            for try await chunk in body { received += chunk }
            #expect(received == sent)
        }
    }

    @Test func `a sender waits while the reader does not read`() async throws {
        let written = Mutex(0)
        let size = 64 << 20
        try await withServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            let chunk = [UInt8](repeating: 7, count: 1 << 20)
            while written.withLock({ $0 }) < size, connection.write(chunk) { written.withLock { $0 += chunk.count } }
            return false
        } _: { server in
            let (_, body) = try await transport.stream(request("GET", server.base), body: [])
            var iterator = body.makeAsyncIterator()
            var received = try await iterator.next()?.count ?? 0
            // The sender blocks when the buffers of the sockets are full. Then the number of written bytes no longer
            // changes.
            var before = -1
            while before != written.withLock({ $0 }) {
                before = written.withLock { $0 }
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(before < size)
            while let chunk = try await iterator.next() { received += chunk.count }
            #expect(received == size)
        }
    }

    @Test func `a truncated streamed body returns the received bytes and then throws an error`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            return false
        } _: { server in
            let (_, body) = try await transport.stream(request("GET", server.base), body: [])
            var received: [UInt8] = []
            let error = await #expect(throws: TransportError.self) {
                for try await chunk in body { received += chunk }
            }
            #expect(error?.code == .truncated)
            #expect(received == Array("half".utf8))
        }
    }

    @Test func `a streamed body that the caller drops is not received further`() async throws {
        let ended = AsyncStream.makeStream(of: Void.self)
        try await withServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\n")
            while connection.write([UInt8](repeating: 7, count: 1 << 16)) {}
            ended.continuation.yield()
            return false
        } _: { server in
            _ = try await transport.stream(request("GET", server.base), body: []).response
            for await _ in ended.stream { break }
        }
    }
}
