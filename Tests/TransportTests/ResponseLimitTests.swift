import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Transport

/// Services whose responses are too large, too slow or missing.
@Suite(.timeLimit(.minutes(20))) struct ResponseLimitTests {
    private func transport(_ change: (inout ResponseLimits) -> Void) -> CurlTransport {
        var limits = ResponseLimits()
        change(&limits)
        return CurlTransport(TransportOptions(limits: limits))
    }

    private func get(_ server: LoopbackServer) throws -> HTTPRequest {
        try #require(HTTPRequest(method: .get, url: server.base + "/"))
    }

    private func failure(_ server: LoopbackServer, _ transport: CurlTransport) async throws -> TransportError? {
        let request = try get(server)
        do throws(TransportError) {
            _ = try await transport.send(request, body: [])
            return nil
        } catch { return error }
    }

    /// Sends the text one byte at a time until the client closes the connection.
    private static func drip(_ text: String, to connection: LoopbackServer.Connection) {
        for byte in text.utf8 {
            guard connection.write([byte]) else { return }
            usleep(50_000)
        }
    }

    @Test func `a body that arrives one byte at a time times out because of the minimum speed`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            Self.drip(String(repeating: "a", count: 100_000), to: $1)
            return $0.method.isEmpty
        } _: { server in
            let error = try await failure(server, transport { $0.idleTimeout = .seconds(1) })
            #expect(error?.code == .timeout)
        }
    }

    @Test func `a head that arrives one field at a time times out because of the head timeout`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\n")
            Self.drip(String(repeating: "a: b\r\n", count: 1_000), to: $1)
            return $0.method.isEmpty
        } _: { server in
            let error = try await failure(
                server,
                transport {
                    $0.headTimeout = .milliseconds(300)
                    $0.idleTimeout = nil
                })
            #expect(error?.code == .timeout)
            #expect(error?.message.contains("the response head was not received in time") == true)
            #expect(error?.mayHaveBeenSent == true)
        }
    }

    @Test func `a body may take longer than the head timeout`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
            Self.drip("abcdefghijkl", to: $1)
            return $0.method.isEmpty
        } _: { server in
            let sent = try await transport { $0.headTimeout = .milliseconds(200) }.send(get(server), body: [])
            #expect(sent.body.count == 12)
        }
    }

    @Test func `a fast endless body times out because of the total timeout`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\n\r\n")
            while $1.write(Array(repeating: 65, count: 1_000)) { usleep(10_000) }
            return $0.method.isEmpty
        } _: { server in
            let error = try await failure(server, transport { $0.totalTimeout = .milliseconds(500) })
            #expect(error?.code == .timeout)
        }
    }

    @Test(arguments: [false, true])
    func `a media stream has a separate limit`(_ isMedia: Bool) async throws {
        try await withServer {
            $1.respond("200 OK", "", Array(repeating: 65, count: 2_000))
        } _: { server in
            let transport = transport {
                $0.streamedBytes = 1_000
                $0.mediaBytes = 2_000
            }
            let request = try get(server)
            var count = 0
            var error: TransportError?
            do throws(TransportError) {
                let body =
                    isMedia
                    ? try await transport.media(request).body : try await transport.stream(request, body: []).body
                for try await chunk in body { count += chunk.count }
            } catch let failure { error = failure }
            #expect(error?.code == (isMedia ? nil : .tooLarge))
            #expect(count == (isMedia ? 2_000 : 0))
        }
    }

    @Test func `the endless body of an error response is cut off, and the response is returned`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n")
            while $1.write(Array(repeating: 65, count: 10_000)) {}
            return $0.method.isEmpty
        } _: { server in
            let (response, body) = try await transport { $0.refusalBytes = 5_000 }.send(get(server), body: [])
            #expect(response.status.code == 503)
            #expect(response.headerFields[.retryAfter] == "7")
            #expect(body.count == 5_000)
        }
    }

    @Test func `a redirect with an endless body is an error and is not kept in memory`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n")
            while $1.write(Array(repeating: 65, count: 10_000)) {}
            return $0.method.isEmpty
        } _: { server in
            let error = try await failure(server, transport { _ in })
            #expect(error?.code == .tooLarge)
            #expect(error?.message.contains("the body of the redirect has more than 1048576 bytes") == true)
        }
    }

    @Test func `a redirect with a body is followed`() async throws {
        try await withServer {
            $0.target == "/there"
                ? $1.respond("200 OK", "", Array("there".utf8))
                : $1.respond("302 Found", "Location: /there\r\n", Array(repeating: 65, count: 100_000))
        } _: { server in
            let (_, body) = try await transport { _ in }.send(get(server), body: [])
            #expect(String(decoding: body, as: UTF8.self) == "there")
        }
    }

    @Test(arguments: [150_000, 600_000])
    func `the error for a header that is too long for libcurl names the reason`(_ length: Int) async throws {
        try await withServer {
            $1.respond("200 OK", "X-Long: \(String(repeating: "a", count: length))\r\n")
        } _: { server in
            let error = try await failure(server, transport { _ in })
            #expect(error?.code == .tooLarge)
            #expect(error?.message.contains("a header of the response exceeds the limit of libcurl") == true)
            #expect(error?.message.contains("memory") == false)
        }
    }

    @Test func `headers that are too long in total are an error with the code tooLarge`() async throws {
        try await withServer {
            let field = "X-Long: \(String(repeating: "a", count: 50_000))\r\n"
            return $1.respond("200 OK", String(repeating: field, count: 20))
        } _: { server in
            let error = try await failure(server, transport { _ in })
            #expect(error?.code == .tooLarge)
        }
    }

    @Test func `endless trailers are an error`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n")
            while $1.write("X-Trailer: \(String(repeating: "a", count: 1_000))\r\n") {}
            return $0.method.isEmpty
        } _: { server in
            let error = try await failure(server, transport { _ in })
            #expect(error != nil)
        }
    }
}
