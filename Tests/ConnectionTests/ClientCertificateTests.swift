import HTTPTypes
import Testing
import Transport

#if os(Linux)
    /// SE-03: the certificate that libcurl presents to a server.
    @Suite(.enabled(if: TLSServer.isAvailable, "skipped: there is no TLS server"), .timeLimit(.minutes(30)))
    struct ClientCertificateTests {
        private func get(
            _ server: TLSServer, _ certificate: ClientCertificate?
        ) async throws(TransportError) -> String {
            var options = TransportOptions()
            options.connection.serverTrust.authorities = server.path("authority.pem")
            options.connection.clientCertificate = certificate
            guard let request = HTTPRequest(method: .get, url: server.base) else { return "" }
            return String(decoding: try await CurlTransport(options).send(request, body: []).body, as: UTF8.self)
        }

        private func failure(_ server: TLSServer, _ certificate: ClientCertificate?) async -> TransportError? {
            do throws(TransportError) {
                _ = try await get(server, certificate)
                return nil
            } catch { return error }
        }

        @Test func `a server that requires a certificate accepts the one of a PKCS 12 file`() async throws {
            let server = try TLSServer(requiresClient: true)
            #expect(try await get(server, .pkcs12(path: server.path("client.p12"), password: "secret")) == "client")
        }

        @Test func `a server that requires a certificate accepts the one of PEM files`() async throws {
            let server = try TLSServer(requiresClient: true)
            let certificate = ClientCertificate.pem(
                certificate: server.path("client.pem"), key: server.path("client.key"))
            #expect(try await get(server, certificate) == "client")
        }

        @Test func `a server that requires a certificate refuses a client without one`() async throws {
            let server = try TLSServer(requiresClient: true)
            #expect(await failure(server, nil) != nil)
        }

        @Test(arguments: [
            ClientCertificate.pkcs12(path: "/nowhere/client.p12", password: "secret"), .keychain(label: "Tests"),
        ])
        func `a certificate that cannot be used is an error before anything is sent`(
            _ certificate: ClientCertificate
        ) async throws {
            let server = try TLSServer()
            let error = await failure(server, certificate)
            #expect(error?.code == .tls)
            #expect(error?.mayHaveBeenSent == false)
            #expect(!server.received().contains { $0.hasPrefix("GET") })
        }

        @Test func `a wrong password is an error that does not contain it`() async throws {
            let server = try TLSServer(requiresClient: true)
            let error = await failure(server, .pkcs12(path: server.path("client.p12"), password: "w-r-o-n-g"))
            #expect(error?.code == .tls)
            #expect(error?.message.contains("w-r-o-n-g") == false)
        }
    }
#endif
