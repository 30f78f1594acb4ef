import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Transport

/// The transport in the background, with a session of the test.
struct BackgroundTransportTests {
    /// A session that answers each request at once, or when the test does.
    private final class Session: BackgroundSession {
        struct State {
            var started: [BackgroundRequest] = []
            var bodies: [String: [UInt8]] = [:]
            var cancelled: [String] = []
        }

        let events: AsyncStream<BackgroundEvent>
        let report: AsyncStream<BackgroundEvent>.Continuation
        let state = Mutex(State())
        private let answer: @Sendable (BackgroundRequest) -> BackgroundOutcome?

        init(
            tasks: [String]? = [],
            _ answer: @escaping @Sendable (BackgroundRequest) -> BackgroundOutcome? = { _ in nil }
        ) {
            (events, report) = AsyncStream.makeStream()
            self.answer = answer
            if let tasks { report.yield(.restored(tasks)) }
        }

        func start(_ request: BackgroundRequest) {
            let body = request.file.flatMap { FileManager.default.contents(atPath: $0) }.map { Array($0) }
            state.withLock {
                $0.started.append(request)
                $0.bodies[request.id] = body
            }
            if let outcome = answer(request) { report.yield(.ended(request.id, outcome)) }
        }

        func cancel(_ id: String) {
            state.withLock { $0.cancelled.append(id) }
            report.yield(.ended(id, .failure(.cancelled, mayHaveBeenSent: true)))
        }

        var started: [BackgroundRequest] { state.withLock(\.started) }
    }

    /// Records the paths of requests.
    private final class Foreground: HTTPTransport {
        let paths = Mutex<[String]>([])

        func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            paths.withLock { $0.append(request.path ?? "") }
            return (HTTPResponse(status: .ok), Array("foreground".utf8))
        }
    }

    private let folder = TemporaryDirectory()
    private let foreground = Foreground()

    private func transport(_ session: Session, _ cookies: BackgroundCookies = BackgroundCookies())
        -> BackgroundTransport
    {
        var options = TransportOptions()
        options.credentials = { _ throws(TransportError) in .bearer("token") }
        return BackgroundTransport(
            session, foreground: foreground, cookies: cookies, folder: folder.path, options: options)
    }

    private func request(_ method: HTTPRequest.Method, _ path: String) throws -> HTTPRequest {
        try #require(HTTPRequest(method: method, url: "https://service.example/\(path)"))
    }

    private static func response(
        _ status: Int, _ body: BackgroundResponse.Body, url: String? = nil
    ) -> BackgroundOutcome {
        .response(BackgroundResponse(head: HTTPResponse(status: .init(code: status)), url: url, body: body))
    }

    private var files: [String] { TemporaryDirectory.files(folder.path) }

    @Test func `a batch is sent from a file that is removed afterwards, with the credentials`() async throws {
        let session = Session { _ in Self.response(202, .bytes(Array("done".utf8))) }
        let (response, body) = try await transport(session).send(
            request(.post, "$batch"), body: Array("--batch".utf8))
        #expect(response.status.code == 202)
        #expect(String(decoding: body, as: UTF8.self) == "done")
        let sent = try #require(session.started.first)
        #expect(session.state.withLock { $0.bodies[sent.id] } == Array("--batch".utf8))
        #expect(sent.request.headerFields[.authorization] == "Bearer token")
        #expect(files.isEmpty)
    }

    @Test func `a page is read from the file of the response, which is removed afterwards`() async throws {
        let path = BackgroundFile.path(folder.path, "page", "response")
        let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        let session = Session { _ in
            TemporaryDirectory.write(content, to: path)
            return Self.response(200, .file(path))
        }
        let (response, body) = try await transport(session).stream(request(.get, "Orders"), body: [])
        #expect(response.status == .ok)
        var bytes: [UInt8] = []
        for try await chunk in body { bytes += chunk }
        #expect(bytes == content)
        withExtendedLifetime(body) {}
    }

    @Test func `a body that is not read to its end leaves no file`() async throws {
        let path = BackgroundFile.path(folder.path, "page", "response")
        let session = Session { _ in
            TemporaryDirectory.write([1, 2, 3], to: path)
            return Self.response(200, .file(path))
        }
        _ = try await transport(session).media(request(.get, "Photos(1)/$value"))
        #expect(files.isEmpty)
    }

    @Test func `requests without a body and for a location use the foreground`() async throws {
        let session = Session()
        let transport = transport(session)
        _ = try await transport.send(request(.get, "$metadata"), body: [])
        _ = try await transport.locate(request(.get, "Orders(1)"))
        #expect(foreground.paths.withLock { $0 } == ["/$metadata", "/Orders(1)"])
        #expect(session.started.isEmpty)
    }

    @Test func `a response of another origin is refused`() async throws {
        let session = Session { _ in Self.response(200, .bytes([]), url: "https://login.example/") }
        let request = try request(.post, "$batch")
        do throws(TransportError) {
            _ = try await transport(session).send(request, body: [1])
            Issue.record("the response is from another origin")
        } catch {
            #expect(error.code == .redirectRefused)
            #expect(error.mayHaveBeenSent)
            #expect(error.message.contains("https://login.example"))
        }
    }

    @Test func `a failure of the session has its code and names the request`() async throws {
        let session = Session { _ in .failure(.unreachable, mayHaveBeenSent: false) }
        let request = try request(.post, "$batch")
        do throws(TransportError) {
            _ = try await transport(session).send(request, body: [1])
            Issue.record("the session fails")
        } catch {
            #expect(error.code == .unreachable)
            #expect(!error.mayHaveBeenSent)
            #expect(error.message.contains("POST https://service.example/$batch"))
        }
        #expect(files.isEmpty)
    }

    @Test func `a cancelled upload ends when the session has ended it`() async throws {
        let session = Session()
        let transport = transport(session)
        let request = try request(.post, "$batch")
        let upload = Task { () -> TransportError? in
            do throws(TransportError) {
                _ = try await transport.send(request, body: [1])
                return nil
            } catch { return error }
        }
        while session.started.isEmpty { await Task.yield() }
        upload.cancel()
        let error = await upload.value
        #expect(error?.code == .cancelled)
        #expect(error?.mayHaveBeenSent == true)
        #expect(session.state.withLock { $0.cancelled } == session.started.map(\.id))
        #expect(files.isEmpty)
    }

    @Test func `tasks and files of an earlier process are gone before the first request is sent`() async throws {
        let old = BackgroundFile.path(folder.path, "old", "request")
        TemporaryDirectory.write([1], to: old)
        TemporaryDirectory.write([1], to: "\(folder.path)/other.txt")
        let session = Session(tasks: ["old"]) { _ in
            Self.response(200, .bytes(FileManager.default.fileExists(atPath: old) ? [1] : [0]))
        }
        let transport = transport(session)
        let path = "\(folder.path)/stream.bin"
        TemporaryDirectory.write([7, 8], to: path)
        let (_, body) = try await transport.send(
            request(.put, "Photos(1)/$value"), file: RequestFile(path: path, count: 2))
        #expect(body == [0])
        #expect(session.state.withLock { $0.cancelled } == ["old"])
        #expect(files.sorted() == ["\(folder.path)/other.txt", path].sorted())
    }

    @Test func `cookies of the foreground are sent, and those of responses are kept`() async throws {
        let kept = Mutex<[String]>([])
        let session = Session { _ in
            var head = HTTPResponse(status: .ok)
            head.headerFields[.setCookie] = "session=2"
            return .response(BackgroundResponse(head: head, url: nil, body: .bytes([])))
        }
        let cookies = BackgroundCookies(
            header: { _ in "session=1" },
            keep: { head, _ in kept.withLock { $0.append(head.headerFields[.setCookie] ?? "") } })
        _ = try await transport(session, cookies).send(request(.post, "$batch"), body: [1])
        #expect(session.started.first?.request.headerFields[.cookie] == "session=1")
        #expect(kept.withLock { $0 } == ["session=2"])
    }

    @Test func `waiting for the events of the system ends when they were reported, also before`() async throws {
        let session = Session()
        let transport = transport(session)
        session.report.yield(.eventsReported)
        await transport.eventsReported()
        let waiting = Task { await transport.eventsReported() }
        session.report.yield(.eventsReported)
        await waiting.value
    }
}
