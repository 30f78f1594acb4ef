import Foundation
import GatewayCore
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Transport

/// The transparent part of the gateway, through real sockets.
struct PassingTests {
    private func send(
        _ gateway: GatewayUnderTest, _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:],
        body: [UInt8] = []
    ) async throws -> (response: HTTPResponse, body: [UInt8]) {
        let request = try #require(HTTPRequest(method: method, url: gateway.root + path, headerFields: fields))
        return try await defaultTransport().send(request, body: body)
    }

    @Test func `method, query, fields and bytes pass in both directions`() async throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withGateway({ request, connection in
            connection.respond("200 OK", "Content-Type: image/png\r\nETag: \"7\"\r\nX-Service: a\r\n", request.body)
        }) { gateway, origin in
            let (response, body) = try await send(
                gateway, .put, "shop/Photos(1)/$value?a=%20b&c='ä'".replacing("ä", with: "%C3%A4"),
                [.contentType: "image/png", .authorization: "Bearer t", .ifMatch: "\"6\""], body: bytes)
            #expect(body == bytes)
            #expect(response.headerFields[.eTag] == "\"7\"")
            #expect(response.headerFields[.cacheControl] == "private, no-store")
            let received = try #require(origin.requests.first)
            #expect(received.method == "PUT")
            #expect(received.target == "/svc/Photos(1)/$value?a=%20b&c='%C3%A4'")
            #expect(received.body == bytes)
            #expect(received.header("authorization") == "Bearer t")
            #expect(received.header("if-match") == "\"6\"")
            #expect(received.header("host") == "127.0.0.1:\(origin.port)")
            #expect(received.header("accept-encoding") == nil)
        }
    }

    @Test func `links in answers lead to the gateway, and a request with them reaches the service`() async throws {
        try await withGateway({ request, connection in
            let root = "http://\(request.header("host") ?? "")/svc/"
            return connection.respond(
                "200 OK", "Content-Type: application/json\r\nLocation: \(root)Orders(1)\r\n",
                Array(#"{"@odata.nextLink":"\#(root)Orders?$skiptoken=2","Note":"\#(root)"}"#.utf8))
        }) { gateway, origin in
            let (response, body) = try await send(gateway, .get, "shop/Orders")
            let text = String(decoding: body, as: UTF8.self)
            #expect(
                text == #"{"@odata.nextLink":"\#(gateway.root)shop/Orders?$skiptoken=2","Note":"\#(origin.base)/svc/"}"#
            )
            #expect(response.headerFields[.location] == "\(gateway.root)shop/Orders(1)")
            _ = try await send(
                gateway, .patch, "shop/Orders(1)", [.contentType: "application/json"],
                body: Array(#"{"Customer@odata.bind":"\#(gateway.root)shop/Customers(1)"}"#.utf8))
            #expect(
                origin.requests.last.map { String(decoding: $0.body, as: UTF8.self) }
                    == #"{"Customer@odata.bind":"\#(origin.base)/svc/Customers(1)"}"#)
        }
    }

    @Test func `cookies of one client do not reach the requests of another`() async throws {
        try await withGateway({ request, connection in
            connection.respond("200 OK", "Set-Cookie: session=1; Path=/\r\n")
        }) { gateway, origin in
            for _ in 0..<2 { _ = try await send(gateway, .get, "shop/Orders") }
            #expect(origin.requests.count == 2)
            #expect(origin.requests.allSatisfy { $0.header("cookie") == nil })
        }
    }

    @Test func `redirects, HEAD, 204 and errors are passed through`() async throws {
        try await withGateway({ request, connection in
            switch request.target {
            case "/svc/moved": connection.respond("302 Found", "Location: http://elsewhere.example/x\r\n")
            case "/svc/none": connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            case "/svc/head": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n")
            default: connection.respond("418 Teapot", "Content-Type: text/plain\r\n", Array("short".utf8))
            }
        }) { gateway, _ in
            let moved = await Sockets.exchange(
                gateway.port, "GET /odata/shop/moved HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(moved.hasPrefix("HTTP/1.1 302 Found"))
            #expect(moved.contains("Location: http://elsewhere.example/x"))
            let none = await Sockets.exchange(
                gateway.port, "GET /odata/shop/none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(none.hasPrefix("HTTP/1.1 204 No Content") && none.hasSuffix("\r\n\r\n"))
            let head = await Sockets.exchange(
                gateway.port, "HEAD /odata/shop/head HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(head.lowercased().contains("content-length: 77") && head.hasSuffix("\r\n\r\n"))
            let other = await Sockets.exchange(gateway.port, "GET /odata/shop/other HTTP/1.0\r\n\r\n")
            #expect(other.contains("418") && other.hasSuffix("\r\n\r\nshort"))
        }
    }

    @Test func `a response that is ready before the request was processed keeps the connection`() async throws {
        try await withGateway({ _, connection in connection.respond("200 OK") }) { gateway, _ in
            let counts = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { await Self.exchanges(gateway.port, 1_000) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == [1_000, 1_000, 1_000, 1_000])
        }
    }

    /// Sends requests that the gateway answers itself on one connection, until it announces to close it.
    private static func exchanges(_ port: Int, _ count: Int) async -> Int {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var answered = 0
                if let descriptor = Sockets.connect(port) {
                    while answered < count,
                        Sockets.write("GET /odata/none HTTP/1.1\r\nHost: a\r\n\r\n".utf8, to: descriptor),
                        let answer = Sockets.read(descriptor),
                        !String(decoding: answer, as: UTF8.self).contains("Connection: close")
                    { answered += 1 }
                    close(descriptor)
                }
                continuation.resume(returning: answered)
            }
        }
    }

    @Test func `a large body streams to a slow client without being held in memory`() async throws {
        let size = 60 << 20
        let sent = Mutex(0)
        try await withGateway({ request, connection in
            guard connection.write("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: \(size)\r\n\r\n")
            else {
                return false
            }
            let chunk = [UInt8](repeating: 7, count: 1 << 16)
            for _ in 0..<(size >> 16) {
                guard connection.write(chunk) else { return false }
                sent.withLock { $0 += chunk.count }
            }
            return true
        }) { gateway, _ in
            let request = try #require(HTTPRequest(method: .get, url: gateway.root + "shop/Videos(1)/$value"))
            let (_, body) = try await defaultTransport().stream(request, body: [])
            var iterator = body.makeAsyncIterator()
            var received = try await iterator.next()?.count ?? 0
            // The service is blocked by the buffers in between: those of the sockets and of the gateway.
            try await Task.sleep(for: .milliseconds(500))
            #expect(sent.withLock { $0 } < 40 << 20)
            while let chunk = try await iterator.next() { received += chunk.count }
            #expect(received == size)
        }
    }

    @Test func `a chunked body of unknown length reaches the service`() async throws {
        let (listener, port) = try Sockets.listen()
        let received = Mutex("")
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            var text = ""
            while !text.hasSuffix("0\r\n\r\n"), let bytes = Sockets.read(connection) {
                text += String(decoding: bytes, as: UTF8.self)
            }
            received.withLock { $0 = text }
            Sockets.write("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n".utf8, to: connection)
            close(connection)
            close(listener)
        }
        let gateway = try await GatewayUnderTest(["shop": "http://127.0.0.1:\(port)/svc/"])
        let answer = await Sockets.exchange(
            gateway.port,
            "POST /odata/shop/Photos HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
        )
        #expect(answer.hasPrefix("HTTP/1.1 201 Created"))
        let text = received.withLock { $0 }
        #expect(text.contains("Transfer-Encoding: chunked"))
        #expect(text.replacing(/[0-9]\r\n|\r\n/, with: "").contains("abcdefg"))
        await gateway.stop()
    }

    @Test func `a response that breaks off is not taken for a whole one`() async throws {
        try await withGateway({ _, connection in
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n"
            )
            return false
        }) { gateway, _ in
            let answer = await Sockets.exchange(gateway.port, "GET /odata/shop/A HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(!answer.hasSuffix("0\r\n\r\n"))
            #expect(!answer.contains("HTTP/1.1 200 OK") || answer.contains("{\"a\":"))
        }
    }

    @Test func `a service that cannot be reached is 503, one that does not answer 504`() async throws {
        let closed = try LoopbackPort()
        let gateway = try await GatewayUnderTest(["shop": "http://127.0.0.1:\(closed.number)/svc/"])
        let (response, _) = try await send(gateway, .post, "shop/Orders", body: Array("{}".utf8))
        #expect(response.status.code == 503)
        #expect(response.headerFields[.retryAfter] != nil)
        withExtendedLifetime(closed) {}
        await gateway.stop()
        try await withGateway(
            timeout: 300,
            { _, _ in
                Thread.sleep(forTimeInterval: 2)
                return false
            }
        ) { gateway, _ in
            let (response, _) = try await send(gateway, .post, "shop/Orders", body: Array("{}".utf8))
            #expect(response.status.code == 504)
        }
    }

    @Test func `too many requests of one user wait, and then are 429`() async throws {
        var limits = GatewayLimits()
        limits.requestsPerUser = 2
        let release = DispatchSemaphore(value: 0)
        try await withGateway(
            limits: limits, timeout: 20_000,
            { request, connection in
                if request.target.hasSuffix("slow") { release.wait() }
                return connection.respond("200 OK")
            }
        ) { gateway, origin in
            func status(_ path: String, _ user: String) async throws -> Int {
                try await send(gateway, .get, path, [.authorization: "Bearer \(user)"]).response.status.code
            }
            async let first = status("shop/slow", "a")
            async let second = status("shop/slow", "a")
            while origin.requests.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(try await status("shop/fast", "b") == 200)
            #expect(try await status("shop/fast", "a") == 429)
            for _ in 0..<2 { release.signal() }
            let slow = try await (first, second)
            #expect(slow == (200, 200))
            #expect(try await status("shop/fast", "a") == 200)
        }
    }
}
