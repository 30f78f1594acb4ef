import Foundation
import HTTPTypes
import Synchronization
import Testing
import Transport

#if os(Linux)
    /// Servers that libcurl trusts.
    @Suite(.enabled(if: TLSServer.isAvailable, "skipped: there is no TLS server"), .timeLimit(.minutes(30)))
    struct ServerTrustTests {
        private func transport(_ trust: ServerTrust) -> CurlTransport {
            var options = TransportOptions()
            options.connection.serverTrust = trust
            return CurlTransport(options)
        }

        private func get(_ url: String, _ transport: CurlTransport) async throws(TransportError) -> Int {
            guard
                let request = HTTPRequest(method: .get, url: url, headerFields: [.authorization: "Bearer secret"])
            else { return 0 }
            return try await transport.send(request, body: []).response.status.code
        }

        private func failure(_ url: String, _ transport: CurlTransport) async -> TransportError? {
            do throws(TransportError) {
                _ = try await get(url, transport)
                return nil
            } catch { return error }
        }

        @Test func `a server of an unknown authority is refused before a request is sent`() async throws {
            let server = try TLSServer()
            let error = await failure(server.base, transport(.system))
            #expect(error?.code == .tls)
            #expect(error?.mayHaveBeenSent == false)
            #expect(!server.received().contains { $0.hasPrefix("GET") })
        }

        @Test func `a server is trusted if a file names its authority`() async throws {
            let server = try TLSServer()
            let trust = ServerTrust(authorities: server.path("authority.pem"))
            #expect(try await get(server.base, transport(trust)) == 200)
        }

        @Test func `a missing file of authorities is an error`() async throws {
            let server = try TLSServer()
            let error = await failure(server.base, transport(ServerTrust(authorities: "/nowhere/ca.pem")))
            #expect(error?.code == .tls)
            #expect(error?.message.contains("/nowhere/ca.pem") == true, "\(String(describing: error))")
        }

        @Test func `the check receives the certificates once for each connection`() async throws {
            let server = try TLSServer()
            let seen = Mutex<[ServerCertificates]>([])
            let transport = transport(
                ServerTrust(authorities: server.path("authority.pem")) { certificates in
                    seen.withLock { $0.append(certificates) }
                    return true
                })
            for _ in 0..<3 { #expect(try await get(server.base, transport) == 200) }
            let all = seen.withLock { $0 }
            // A connection that was idle for two minutes is not used again.
            #expect(all.count == server.received().count { $0 == "connection" })
            let first = try #require(all.first)
            #expect(first.host == "127.0.0.1" && first.port == server.port)
            let pem = try String(contentsOfFile: server.path("server.pem"), encoding: .utf8)
            let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
            #expect(first.chain.first == Data(base64Encoded: base64).map(Array.init))
        }

        @Test func `a server that the check refuses receives no request, on any connection`() async throws {
            let server = try TLSServer()
            let transport = transport(ServerTrust(authorities: server.path("authority.pem")) { _ in false })
            for _ in 0..<3 {
                let error = await failure(server.base, transport)
                #expect(error?.code == .tls)
                #expect(error?.mayHaveBeenSent == false)
                #expect(error?.message.contains("does not trust the certificate") == true)
            }
            var received = server.received()
            // The server may notice the end of a connection later than the client.
            let deadline = ContinuousClock.now + .seconds(30)
            while received.filter({ $0 == "connection" }).count < 3, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(20))
                received = server.received()
            }
            #expect(received.filter { $0 == "connection" }.count == 3, "\(received)")
            #expect(!received.contains { $0.hasPrefix("GET") }, "\(received)")
        }

        @Test func `the check cannot make an invalid certificate valid`() async throws {
            let server = try TLSServer()
            #expect(await failure(server.base, transport(ServerTrust { _ in true }))?.code == .tls)
            let otherName = "https://localhost:\(server.port)"
            let trust = ServerTrust(authorities: server.path("authority.pem")) { _ in true }
            #expect(await failure(otherName, transport(trust))?.code == .tls)
        }
    }
#endif
