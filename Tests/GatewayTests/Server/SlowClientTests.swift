import Foundation
import Gateway
import GatewayCore
import TestSupport
import Testing

/// Clients that send slowly, and services that respond slowly, must not stop other requests.
struct SlowClientTests {
    private static let json = "Host: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"

    @Test(arguments: [json, "Host: a\r\nContent-Type: image/png\r\nContent-Length: 1000\r\n"])
    func `a body that arrives too slowly is refused`(_ fields: String) async throws {
        var limits = GatewayLimits()
        limits.arrivalGrace = 0
        try await withGateway(limits: limits, timeout: 20_000, { _, connection in connection.respond("200 OK") }) {
            gateway, _ in
            let answer = await Sockets.exchange(
                gateway.port, "POST /odata/shop/A HTTP/1.1\r\n\(fields)\r\n{", seconds: 10)
            #expect(answer.hasPrefix("HTTP/1.1 408"), "\(answer)")
            #expect(answer.contains("Connection: close"))
        }
    }

    @Test func `a connection whose head arrives too slowly is closed`() async throws {
        var limits = GatewayLimits()
        limits.arrivalGrace = 0
        try await withGateway(limits: limits, { _, connection in connection.respond("200 OK") }) { gateway, origin in
            let descriptor = try #require(Sockets.connect(gateway.port))
            defer { close(descriptor) }
            Sockets.write("GET /odata/shop/A HTTP/1.1\r\nHost".utf8, to: descriptor)
            let rest = await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: Sockets.read(descriptor)) }
            }
            #expect(rest == nil)
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func `an idle connection between two requests is kept`() async throws {
        var limits = GatewayLimits()
        limits.arrivalGrace = 0
        try await withGateway(limits: limits, { _, connection in connection.respond("200 OK") }) { gateway, origin in
            let descriptor = try #require(Sockets.connect(gateway.port))
            defer { close(descriptor) }
            for _ in 0..<2 {
                Sockets.write("GET /odata/shop/A HTTP/1.1\r\nHost: a\r\n\r\n".utf8, to: descriptor)
                let answer = await withCheckedContinuation { continuation in
                    Thread.detachNewThread { continuation.resume(returning: Sockets.read(descriptor)) }
                }
                #expect(answer.map { String(decoding: $0, as: UTF8.self) }?.hasPrefix("HTTP/1.1 200") == true)
                try await Task.sleep(for: .milliseconds(2_500))
            }
            #expect(origin.requests.count == 2)
        }
    }

    @Test func `bodies that have not arrived occupy no places of the service`() async throws {
        var limits = GatewayLimits()
        limits.requestsPerEndpoint = 2
        try await withGateway(limits: limits, { _, connection in connection.respond("200 OK") }) { gateway, _ in
            let slow = (0..<6).compactMap { user -> Int32? in
                let descriptor = Sockets.connect(gateway.port)
                let head = "POST /odata/shop/A HTTP/1.1\r\n\(Self.json)Authorization: Bearer \(user)\r\n\r\n{"
                if let descriptor { Sockets.write(head.utf8, to: descriptor) }
                return descriptor
            }
            defer { for descriptor in slow { close(descriptor) } }
            let deadline = ContinuousClock.now + .seconds(60)
            while gateway.service.requestsInProgress < 6, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
            let answer = await Sockets.exchange(
                gateway.port,
                "GET /odata/shop/A HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
        }
    }

    @Test func `bodies of all requests together have a limit of memory`() async throws {
        var limits = GatewayLimits()
        limits.bodyMemory = 1_500
        try await withGateway(limits: limits, { _, connection in connection.respond("200 OK") }) { gateway, origin in
            func post(_ body: String) -> String {
                "POST /odata/shop/A HTTP/1.1\r\n\(Self.json)Connection: close\r\n\r\n\(body)"
            }
            let descriptor = try #require(Sockets.connect(gateway.port))
            Sockets.write(post(String(repeating: " ", count: 900)).utf8, to: descriptor)
            let deadline = ContinuousClock.now + .seconds(60)
            while gateway.service.bodyBytes < 900, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
            let whole = "{" + String(repeating: " ", count: 998) + "}"
            #expect(await Sockets.exchange(gateway.port, post(whole)).hasPrefix("HTTP/1.1 503"))
            close(descriptor)
            // The gateway may notice the end of the first connection later.
            var answer = ""
            while !answer.hasPrefix("HTTP/1.1 200"), ContinuousClock.now < deadline {
                answer = await Sockets.exchange(gateway.port, post(whole))
            }
            #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `clients that wait for a slow service do not stop the feeds of another service`() async throws {
        var limits = GatewayLimits()
        limits.requests = 8
        let (slow, quick) = (FeedOrigin(), FeedOrigin())
        for origin in [slow, quick] { origin.change { $0.rows = [1: "a"] } }
        // Until the test ends it.
        slow.change { $0.delay = 600 }
        let feed = FeedSettings(name: "orders", query: try #require(CanonicalQuery("Orders")))
        try await withServer(slow.answer) { slowServer in
            try await withServer(quick.answer) { quickServer in
                let gateway = try await GatewayUnderTest(
                    ["slow": slowServer.base + "/svc/", "quick": quickServer.base + "/svc/"], timeout: 600_000,
                    limits: limits, feedStorage: MemoryFeedStorage(), feeds: [feed], feedPatience: 600_000)
                @Sendable func get(_ endpoint: String, _ user: Int) async -> String {
                    await Sockets.exchange(
                        gateway.port,
                        "GET /odata/\(endpoint)/Orders HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n"
                            + "Prefer: odata.track-changes\r\nAuthorization: Bearer \(user)\r\nConnection: close\r\n\r\n",
                        seconds: 300)
                }
                await withTaskGroup(of: Void.self) { group in
                    for user in 0..<8 { group.addTask { _ = await get("slow", user) } }
                    while gateway.service.requestsInProgress < 8 { try? await Task.sleep(for: .milliseconds(10)) }
                    let answer = await get("quick", 100)
                    #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
                    slow.change { $0.delay = 0 }
                }
                await gateway.stop()
            }
        }
    }

    @Test func `a client that does not read a response loses its connection and its place`() async throws {
        var limits = GatewayLimits()
        (limits.responseGrace, limits.arrivalSpeed) = (1, 100 << 20)
        let body = [UInt8](repeating: 0x20, count: 32 << 20)
        try await withGateway(
            limits: limits, timeout: 20_000,
            { _, connection in connection.respond("200 OK", "Content-Type: image/png\r\n", body) }
        ) { gateway, _ in
            let client = try #require(Sockets.connect(gateway.port))
            defer { close(client) }
            Sockets.write("GET /odata/shop/A HTTP/1.1\r\nHost: a\r\n\r\n".utf8, to: client)
            let deadline = ContinuousClock.now + .seconds(60)
            while gateway.service.requestsInProgress < 1, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(gateway.service.requestsInProgress == 1)
            while gateway.service.requestsInProgress > 0, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(gateway.service.requestsInProgress == 0)
        }
    }

    @Test func `a connection can be used after a request that was refused before its body was read`() async throws {
        var limits = GatewayLimits()
        limits.requestsPerUser = 1
        try await withGateway(limits: limits, { _, connection in connection.respond("200 OK") }) { gateway, _ in
            let slow = try #require(Sockets.connect(gateway.port))
            defer { close(slow) }
            let login = "Authorization: Bearer x\r\n"
            Sockets.write("POST /odata/shop/A HTTP/1.1\r\n\(Self.json)\(login)\r\n{".utf8, to: slow)
            while gateway.service.requestsInProgress < 1 { try await Task.sleep(for: .milliseconds(10)) }
            let body = String(repeating: " ", count: 400_000)
            let answers = await Sockets.exchange(
                gateway.port,
                "POST /odata/shop/A HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 400000\r\n\(login)\r\n\(body)"
                    + "GET /odata/shop/A HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", seconds: 20)
            #expect(answers.hasPrefix("HTTP/1.1 429"), "\(answers)")
            #expect(answers.contains("HTTP/1.1 200") || answers.contains("Connection: close"), "\(answers)")
        }
    }

    @Test func `while the gateway stops, responses close their connections`() async throws {
        try await withGateway({ _, connection in connection.respond("200 OK") }) { gateway, _ in
            gateway.service.stop()
            let answer = await Sockets.exchange(gateway.port, "GET /odata/shop/A HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200"))
            #expect(answer.contains("Connection: close"))
        }
    }
}
