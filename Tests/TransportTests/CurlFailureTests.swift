import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Transport

/// Connections that fail, and whether the request may have been sent.
struct CurlFailureTests: CurlRequests {
    let transport = CurlTransport()

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
}
