import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Transport

@testable import SyncEngine

struct CredentialsTests {
    private static func headers(of url: String) async throws -> String? {
        let transport = SandboxTransport(try Sandbox.shop())
        let session = ServiceSession(
            root: "http://shop.test/v4/", transport: transport, credentials: .bearer("secret"))
        _ = try await session.get(url)
        return transport.requests.last?.headers["Authorization"]
    }

    @Test(arguments: ["Customers", "http://shop.test/v4/Customers", "http://shop.test/elsewhere"])
    func `requests to the service's origin contain the credentials`(url: String) async throws {
        #expect(try await Self.headers(of: url) == "Bearer secret")
    }

    @Test(arguments: [
        "http://other.test/v4/Customers", "https://shop.test/v4/Customers", "http://shop.test:81/v4/",
        "http://shop.test.evil.test/v4/",
    ])
    func `requests to other origins do not contain the credentials`(url: String) async throws {
        #expect(try await Self.headers(of: url) == nil)
    }
}
