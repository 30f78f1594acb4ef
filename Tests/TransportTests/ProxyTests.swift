import Foundation
import HTTPTypes
import TestSupport
import Testing
import Transport

/// Proxies with libcurl. The proxy is a server of the test.
struct ProxyTests {
    private func transport(_ proxy: ProxySelection) -> CurlTransport {
        var options = TransportOptions()
        options.connection.proxy = proxy
        return CurlTransport(options)
    }

    private func proxy(_ server: LoopbackServer, user: String? = nil, password: String? = nil) -> ProxySelection {
        .http(HTTPProxy(host: "127.0.0.1", port: server.port, user: user, password: password))
    }

    private func request(_ url: String) throws -> HTTPRequest {
        try #require(HTTPRequest(method: .get, url: url, headerFields: [.authorization: "Bearer secret"]))
    }

    private func failure(_ url: String, _ proxy: ProxySelection) async throws -> TransportError? {
        let request = try request(url)
        do throws(TransportError) {
            _ = try await transport(proxy).send(request, body: [])
            return nil
        } catch { return error }
    }

    @Test func `a request over HTTP is sent to the proxy, with the credentials of both`() async throws {
        try await withServer {
            $1.respond("200 OK", "", Array("through \($0.target)".utf8))
        } _: { server in
            let transport = transport(proxy(server, user: "ann", password: "pass"))
            let (response, body) = try await transport.send(request("http://service.invalid/v4/Orders"), body: [])
            #expect(response.status == .ok)
            #expect(String(decoding: body, as: UTF8.self) == "through http://service.invalid/v4/Orders")
            let received = try #require(server.requests.first)
            let expected = "Basic " + Data("ann:pass".utf8).base64EncodedString()
            #expect(received.header("proxy-authorization") == expected)
            #expect(received.header("authorization") == "Bearer secret")
        }
    }

    @Test func `a request over TLS opens a tunnel, and the proxy does not receive its header`() async throws {
        try await withServer {
            $1.respond("407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"p\"\r\n")
        } _: { server in
            let error = try await failure("https://service.invalid/v4/Orders", proxy(server))
            #expect(error?.code == .unreachable)
            #expect(error?.mayHaveBeenSent == false)
            let sentence = "the proxy refused the connection with the status 407"
            #expect(error?.message.contains(sentence) == true, "\(String(describing: error))")
            let received = try #require(server.requests.first)
            #expect(received.method == "CONNECT")
            #expect(received.target == "service.invalid:443")
            #expect(received.header("authorization") == nil)
        }
    }

    @Test(arguments: [ProxySelection.system, .none, .http(HTTPProxy(host: "127.0.0.1", port: 1))])
    func `a request to the own machine uses no proxy`(_ proxy: ProxySelection) async throws {
        try await withServer {
            $1.respond("200 OK", "", Array($0.target.utf8))
        } _: { server in
            let (_, body) = try await transport(proxy).send(request("\(server.base)/v4/"), body: [])
            #expect(String(decoding: body, as: UTF8.self) == "/v4/")
        }
    }

    @Test func `a proxy that does not respond is an error, and nothing was sent`() async throws {
        let error = try await failure("http://service.invalid/", .http(HTTPProxy(host: "127.0.0.1", port: 1)))
        #expect(error?.code == .unreachable)
        #expect(error?.mayHaveBeenSent == false)
    }

    @Test func `descriptions contain no passwords`() {
        let proxy = HTTPProxy(host: "proxy", port: 8080, user: "ann", password: "hidden1")
        let certificate = ClientCertificate.pkcs12(path: "a.p12", password: "hidden2")
        var options = ConnectionOptions()
        options.proxy = .http(proxy)
        options.clientCertificate = certificate
        var text = "\(proxy) \(certificate) \(options)"
        dump(options, to: &text)
        #expect(text.contains("proxy:8080"))
        #expect(!text.contains("hidden"), "\(text)")
    }
}
