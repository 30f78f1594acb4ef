import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Transport

struct RequestFileTests {
    private let transport = CurlTransport()

    private func request(_ method: String, _ url: String) throws -> HTTPRequest {
        let method = try #require(HTTPRequest.Method(method))
        return try #require(HTTPRequest(method: method, url: url, headerFields: [.contentType: "image/png"]))
    }

    /// Calls `body` with a file of this number of bytes.
    private func withFile(_ count: Int, _ body: (RequestFile, [UInt8]) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).bin")
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await body(RequestFile(path: file.path, count: count), bytes)
    }

    @Test(arguments: ["POST", "PUT"], [0, 1, 3_000_000])
    func `the bytes of a file are sent as the body`(method: String, count: Int) async throws {
        try await withFile(count) { file, bytes in
            try await withServer {
                $1.respond("200 OK", "", [7])
            } _: { server in
                let (response, received) = try await transport.send(request(method, server.base + "/x"), file: file)
                #expect(response.status == .ok)
                #expect(received == [7])
                let seen = try #require(server.requests.first)
                #expect(seen.method == method)
                #expect(seen.body == bytes)
                #expect(seen.header("content-length") == String(count))
                #expect(seen.header("content-type") == "image/png")
                #expect(seen.header("expect") == nil)
            }
        }
    }

    @Test func `a redirect receives the complete file again`() async throws {
        try await withFile(200_000) { file, bytes in
            try await withServer {
                $0.target == "/a" ? $1.respond("307 Moved", "Location: /b\r\n") : $1.respond("204 No Content")
            } _: { server in
                let (response, _) = try await transport.send(request("PUT", server.base + "/a"), file: file)
                #expect(response.status == .noContent)
                #expect(server.requests.map(\.body) == [bytes, bytes])
            }
        }
    }

    @Test func `a missing file is an error before the request is sent`() async throws {
        try await withServer {
            $1.respond("204 No Content")
        } _: { server in
            let file = RequestFile(path: "/nowhere/at/all", count: 3)
            let error = await #expect(throws: TransportError.self) {
                try await transport.send(request("PUT", server.base + "/a"), file: file)
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.mayHaveBeenSent == false)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a file that is shorter than its declared size is an error`() async throws {
        try await withFile(100) { file, _ in
            #expect(throws: TransportError.self) { try RequestFile(path: file.path, count: 101).bytes() }
            let whole = try file.bytes()
            #expect(whole.count == 100)
        }
    }
}
