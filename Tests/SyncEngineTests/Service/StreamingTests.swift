import HTTPTypes
import ODataWire
import Synchronization
import Testing
import Transport

@testable import OfflineStore
@testable import SyncEngine

struct StreamingTests {
    /// Responds to each GET with the response that the test has set, with a body in chunks.
    private final class Chunked: HTTPTransport {
        struct Answer: Sendable {
            var status = 200
            var headers: [(String, String)] = []
            var chunks: [String] = []
            /// Error in place of the end of the body.
            var error: TransportError?
        }

        private let answers: Mutex<[Answer]>
        let requests = Mutex<[HTTPRequest]>([])
        /// Number of chunks that were read.
        let taken = Mutex(0)

        init(_ answers: [Answer]) { self.answers = Mutex(answers) }

        func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            throw TransportError(.other, "It should be streamed.", mayHaveBeenSent: false)
        }

        func stream(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
            requests.withLock { $0.append(request) }
            let answer = answers.withLock { $0.removeFirst() }
            var response = HTTPResponse(status: .init(code: answer.status))
            for (name, value) in answer.headers {
                response.headerFields.append(HTTPField(name: HTTPField.Name(name)!, value: value))
            }
            let rest = RestOf(answer)
            return (
                response,
                ResponseBody { [self] in
                    taken.withLock { $0 += 1 }
                    return rest.next()
                }
            )
        }

        private final class RestOf: Sendable {
            private let answer: Mutex<Answer>

            init(_ answer: Answer) { self.answer = Mutex(answer) }

            func next() -> Result<[UInt8]?, TransportError> {
                answer.withLock {
                    guard $0.chunks.isEmpty else { return .success(Array($0.chunks.removeFirst().utf8)) }
                    return $0.error.map { .failure($0) } ?? .success(nil)
                }
            }
        }
    }

    private final class Lines: Sendable {
        let list = Mutex<[String]>([])
        var text: String { list.withLock { $0.joined(separator: "\n") } }
    }

    private func session(_ transport: Chunked, hook: AuthenticationHook? = nil) -> ServiceSession {
        ServiceSession(
            root: "http://shop.test/v4/", transport: transport, credentials: .bearer("old"), authentication: hook)
    }

    private func text(_ body: StreamedBody) async throws -> String {
        var bytes: [UInt8] = []
        while let chunk = try await body.next() { bytes += chunk }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `the body of a successful response is streamed on demand`() async throws {
        let transport = Chunked([.init(chunks: ["one ", "two"])])
        let streamed = try await session(transport).stream("Photos(1)/$value")
        #expect(streamed.response.status == 200)
        #expect(transport.taken.withLock { $0 } == 0)
        #expect(try await text(streamed.body) == "one two")
    }

    @Test func `the body of an error response is complete, up to a limit`() async throws {
        let long = String(repeating: "x", count: StreamedResponse.errorLimit)
        let transport = Chunked([
            .init(status: 404, chunks: ["not ", "there"]), .init(status: 500, chunks: ["abc", long, long]),
        ])
        let session = session(transport)
        let refused = try await session.stream("Photos(1)/$value")
        #expect(String(decoding: refused.response.body, as: UTF8.self) == "not there")
        #expect(try await refused.body.next() == nil)
        #expect(try await session.stream("Photos(1)/$value").response.body.count == StreamedResponse.errorLimit)
        #expect(transport.taken.withLock { $0 } == 3 + 2)
    }

    @Test func `credentials are renewed before a body is streamed`() async throws {
        let transport = Chunked([.init(status: 401, headers: [("WWW-Authenticate", "Bearer")]), .init(chunks: ["a"])])
        let session = session(transport) { _ in .bearer("new") }
        let streamed = try await session.stream("Photos(1)/$value")
        #expect(try await text(streamed.body) == "a")
        let tokens = transport.requests.withLock { $0.map { $0.headerFields[.authorization] } }
        #expect(tokens == ["Bearer old", "Bearer new"])
    }

    @Test func `credentials are not sent with a link to another origin`() async throws {
        let transport = Chunked([.init(chunks: ["a"])])
        _ = try await session(transport).stream("http://elsewhere.test/media/1")
        #expect(transport.requests.withLock { $0[0].headerFields[.authorization] } == nil)
    }

    @Test func `an interrupted body is an error after the received chunks`() async throws {
        let error = TransportError(.truncated, "The response ended early.", mayHaveBeenSent: true)
        let transport = Chunked([.init(chunks: ["one"], error: error)])
        let streamed = try await session(transport).stream("Photos(1)/$value")
        #expect(try await streamed.body.next() == Array("one".utf8))
        let thrown = await #expect(throws: TidelogError.self) { try await streamed.body.next() }
        #expect(thrown?.code == .unreachable)
    }

    @Test func `the trace of a streamed body equals that of a complete one`() async throws {
        let lines = Lines()
        let transport = Chunked([
            .init(headers: [("Content-Type", "text/plain"), ("X-Secret", "geheim")], chunks: ["h\u{E9}", "llo"])
        ])
        let session = session(transport)
        session.trace = RequestTrace(withData: true) { line in lines.list.withLock { $0.append(line) } }
        _ = try await text(try await session.stream("Photos(1)/$value?a=b").body)
        #expect(lines.text.contains("returned 200, 6 bytes"))
        #expect(lines.text.contains("h\u{E9}llo"))
        #expect(!lines.text.contains("geheim"))
        #expect(!lines.text.contains("old"))
    }

    @Test func `the trace contains only the beginning of a long body`() async throws {
        let lines = Lines()
        let chunk = String(repeating: "\u{E9}", count: 40_000)
        let transport = Chunked([.init(headers: [("Content-Type", "text/plain")], chunks: [chunk, chunk])])
        let session = session(transport)
        session.trace = RequestTrace(withData: true) { line in lines.list.withLock { $0.append(line) } }
        _ = try await text(try await session.stream("Photos(1)/$value").body)
        #expect(lines.text.contains("… (160000 bytes)"))
        #expect(lines.text.utf8.count < RequestTrace.bodyLimit + 1000)
    }
}
