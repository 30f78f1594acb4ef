import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Synchronization
import TestSupport
import Testing
import Transport

@testable import OfflineStore
@testable import SyncEngine

/// A service whose accepted token changes, and an authentication hook that returns new tokens.
struct AuthenticationTests {
    private final class Questions: Sendable {
        let list = Mutex<[AuthenticationChallenge]>([])
    }

    /// A session of a service that accepts one token at a time, with the challenges of the hook.
    private final class Guarded: Sendable {
        let transport: GuardedTransport
        let session: ServiceSession
        private let questions = Questions()

        /// - Parameter giving: Tokens that the hook returns in order, followed by nil.
        init(_ transport: GuardedTransport, credentials: Credentials = .bearer("old"), giving: [String]) {
            self.transport = transport
            let answers = Mutex(giving)
            let questions = questions
            session = ServiceSession(
                root: "http://shop.test/v4/", transport: transport, credentials: credentials,
                authentication: { challenge in
                    questions.list.withLock { $0.append(challenge) }
                    await Task.yield()
                    return answers.withLock { $0.isEmpty ? nil : .bearer($0.removeFirst()) }
                })
        }

        var asked: [AuthenticationChallenge] { questions.list.withLock { $0 } }

        var tokens: [String] { transport.tokens }
    }

    @Test func `a request with the response 401 is repeated with the credentials of the hook`() async throws {
        let guarded = Guarded(GuardedTransport(accepting: "new"), giving: ["new"])
        let response = try await guarded.session.get("Customers(1)")
        #expect(response.status == 200)
        #expect(guarded.tokens == ["Bearer old", "Bearer new"])
        let challenge = try #require(guarded.asked.first)
        #expect(challenge.status == 401)
        #expect(challenge.schemes == ["Bearer realm=\"shop\""])
        #expect(challenge.service == "http://shop.test/v4/")
        _ = try await guarded.session.get("Customers(2)")
        #expect(guarded.asked.count == 1)
    }

    @Test func `the response to rejected credentials of the hook is returned`() async throws {
        let guarded = Guarded(GuardedTransport(accepting: "new"), giving: ["wrong", "new"])
        #expect(try await guarded.session.get("Customers(1)").status == 401)
        #expect(guarded.tokens == ["Bearer old", "Bearer wrong"])
        #expect(try await guarded.session.get("Customers(1)").status == 200)
    }

    @Test func `a hook that returns nil leaves the response unchanged`() async throws {
        let guarded = Guarded(GuardedTransport(accepting: "new"), giving: [])
        #expect(try await guarded.session.get("Customers(1)").status == 401)
        #expect(guarded.tokens.count == 1)
    }

    @Test func `concurrent requests with the response 401 call the hook once`() async throws {
        let guarded = Guarded(GuardedTransport(accepting: "new"), giving: ["new"])
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await guarded.session.get("Customers(1)").status } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(guarded.asked.count == 1)
    }

    @Test func `a 403 with an OData error is a decision of the service, and one of a gateway calls the hook`()
        async throws
    {
        let words = #"{"error":{"code":"forbidden","message":"Not yours"}}"#
        for (body, count) in [(words, 0), ("<html>", 1)] {
            let transport = GuardedTransport(accepting: "new", status: 403, challenge: nil, body: body)
            let guarded = Guarded(transport, giving: ["new"])
            _ = try await guarded.session.get("Customers(1)")
            #expect(guarded.asked.count == count)
        }
    }

    @Test func `a 401 of another origin does not call the hook`() async throws {
        let guarded = Guarded(GuardedTransport(accepting: "new"), giving: ["new"])
        #expect(try await guarded.session.get("http://other.test/v4/Customers").status == 401)
        #expect(guarded.asked.isEmpty)
    }

    @Test func `a token that expires during an upload is renewed, and the upload continues`()
        async throws
    {
        let shop = try await Shop(.v4)
        for number in 0..<3 { try await shop.create("Customers", ["Name": .string("New \(number)")]) }
        let transport = GuardedTransport(accepting: "new", in: shop.transport)
        let guarded = Guarded(transport, giving: ["new"])
        let engine = SyncEngine(store: shop.store, session: guarded.session)
        let report = try await engine.upload()
        #expect(report.confirmed.count == 3)
        #expect(report.batches == 1)
        #expect(guarded.asked.count == 1)
        let bodies = shop.transport.requests.filter { $0.method == "POST" }.map(\.body)
        #expect(bodies.count == 1)
    }

    // MARK: Headers and cookies of the app

    @Test func `the app's headers and cookies are sent only to the service, and can be changed`() async throws {
        let transport = SandboxTransport(try Sandbox.shop())
        let session = ServiceSession(root: "http://shop.test/v4/", transport: transport)
        session.headers = SessionHeaders(headers: ["X-Tenant": "north"], cookies: ["b": "2", "a": "1"])
        _ = try await session.get("Customers")
        _ = try await session.get("http://other.test/v4/Customers")
        session.headers = SessionHeaders(headers: ["X-Tenant": "south"])
        _ = try await session.get("Customers")
        #expect(transport.requests.map { $0.headers["X-Tenant"] } == ["north", nil, "south"])
        #expect(transport.requests.map { $0.headers["Cookie"] } == ["a=1; b=2", nil, nil])
    }

    @Test func `a header that a request sets itself is not sent twice`() async throws {
        let transport = SandboxTransport(try Sandbox.shop())
        let session = ServiceSession(root: "http://shop.test/v4/", transport: transport)
        session.headers = SessionHeaders(headers: ["accept": "text/plain"])
        _ = try await session.get("Customers", headers: ["Accept": "application/json"])
        #expect(transport.requests.map { $0.headers.values("Accept") } == [["application/json"]])
    }

    @Test func `an invalid header name is refused, and nothing is sent`() async throws {
        let transport = SandboxTransport(try Sandbox.shop())
        let session = ServiceSession(root: "http://shop.test/v4/", transport: transport)
        session.headers = SessionHeaders(headers: ["X Tenant": "north"])
        await #expect {
            _ = try await session.get("Customers")
        } throws: {
            ($0 as? TidelogError)?.code == .invalidRequest
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func `the description of the session headers does not contain their values`() {
        let headers = SessionHeaders(headers: ["X-Key": "secret"], cookies: ["session": "secret"])
        #expect(!"\(headers) \(String(reflecting: headers))".contains("secret"))
    }
}

/// Refuses requests without the accepted token.
private final class GuardedTransport: HTTPTransport {
    private let accepted: String
    private let refusal: (status: Int, challenge: String?, body: String)
    private let service: SandboxTransport
    private let seen = Mutex<[String]>([])

    init(
        accepting token: String, status: Int = 401, challenge: String? = "Bearer realm=\"shop\"", body: String = "",
        in service: SandboxTransport? = nil
    ) {
        accepted = "Bearer " + token
        refusal = (status, challenge, body)
        self.service =
            service
            ?? {
                do { return SandboxTransport(try Sandbox.shop()) } catch { fatalError("\(error)") }
            }()
    }

    var tokens: [String] { seen.withLock { $0 } }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let token = request.headerFields[.authorization] ?? ""
        seen.withLock { $0.append(token) }
        guard token != accepted else { return try await service.send(request, body: body) }
        var response = HTTPResponse(status: .init(code: refusal.status))
        if let challenge = refusal.challenge { response.headerFields[.wwwAuthenticate] = challenge }
        return (response, Array(refusal.body.utf8))
    }
}
