import EDM
import Foundation
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing
import Transport

@testable import OfflineStore
@testable import SyncEngine

/// Secrets in each place that may contain one, with each kind of failure: the log, the views, errors, reasons and
/// traces contain none.
struct SecretsTests {
    private static let mark = "TOPSECRET"

    /// Failures of a request.
    enum Failure: String, CaseIterable, Sendable, CustomStringConvertible {
        case unauthorized, forbidden, tokenRequired, notFound, badRequest, tooLarge, busy, broken, unavailable
        case gatewayTimeout, redirected, cut, unreachable, timeout, garbage, truncated, refusedPart

        var description: String { rawValue }

        private var status: Int? {
            switch self {
            case .unauthorized: 401
            case .forbidden, .tokenRequired: 403
            case .notFound: 404
            case .badRequest: 400
            case .tooLarge: 413
            case .busy: 429
            case .broken: 500
            case .unavailable: 503
            case .gatewayTimeout: 504
            case .garbage: 200
            case .redirected, .cut, .unreachable, .timeout, .truncated, .refusedPart: nil
            }
        }

        /// Returns the response, or nil for the service's own response.
        func response() throws(TransportError) -> (HTTPResponse, [UInt8])? {
            switch self {
            case .redirected:
                throw TransportError(.redirectRefused, "It leads elsewhere.", mayHaveBeenSent: false)
            case .cut: throw TransportError(.disconnected, "It was cut.", mayHaveBeenSent: true)
            case .unreachable: throw TransportError(.unreachable, "Nothing answers.", mayHaveBeenSent: false)
            case .timeout: throw TransportError(.timeout, "It took too long.", mayHaveBeenSent: true)
            default: break
            }
            guard let status else { return nil }
            var response = HTTPResponse(status: .init(code: status))
            if self == .tokenRequired, let name = HTTPField.Name("X-CSRF-Token") {
                response.headerFields[name] = "Required"
            }
            if self == .unauthorized { response.headerFields[.wwwAuthenticate] = "Bearer nonce=\"\(mark)-challenge\"" }
            return (response, Array("<html>".utf8))
        }
    }

    /// The service with a session cookie, a CSRF token, and next links that contain a signature.
    private struct Treacherous: HTTPTransport {
        let service: any HTTPTransport
        let failure: Failure?

        func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            let isFetch = HTTPField.Name("X-CSRF-Token").map { request.headerFields[$0] == "Fetch" } ?? false
            let isHit = !isFetch && request.path?.contains("$metadata") != true
            var (response, answer): (HTTPResponse, [UInt8])
            if isHit, let given = try failure?.response() {
                (response, answer) = given
            } else {
                (response, answer) = try await service.send(request, body: body)
                let text = String(decoding: answer, as: UTF8.self)
                    .replacing("$skiptoken=", with: "sig=\(mark)-link&$skiptoken=")
                answer = Array(text.utf8)
                if isHit, failure == .truncated { answer = Array(answer.prefix(answer.count / 2)) }
            }
            response.headerFields[.setCookie] = "session=\(mark)-cookie; Path=/"
            if isFetch, let name = HTTPField.Name("X-CSRF-Token") { response.headerFields[name] = "\(mark)-csrf" }
            return (response, answer)
        }
    }

    private final class Heard: Sendable {
        let texts = Mutex<[String]>([])
        let withData = Mutex<[String]>([])
        let records = Mutex<[[UInt8]]>([])

        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private func treacherous(_ shop: Shop, _ failure: Failure?, _ heard: Heard, withData: Bool) -> SyncEngine {
        let session = ServiceSession(
            root: shop.engine.session.root, transport: Treacherous(service: shop.transport, failure: failure),
            credentials: .basic(user: "\(Self.mark)-user", password: "\(Self.mark)-password"),
            authentication: { challenge in
                heard.add("\(challenge.service) \(challenge.status)")
                return .bearer("\(Self.mark)-renewed")
            })
        session.headers = SessionHeaders(
            headers: ["X-Api-Key": "\(Self.mark)-header"], cookies: ["app": "\(Self.mark)-app"])
        session.trace = RequestTrace(withData: withData) { line in
            if withData { heard.withData.withLock { $0.append(line) } } else { heard.add(line) }
        }
        let engine = SyncEngine(store: shop.store, session: session)
        engine.observe { event in
            if case .recorded(_, let record) = event {
                heard.records.withLock { $0.append(RecordCodec.encode(record).payload) }
            } else {
                heard.add("\(event)")
            }
        }
        return engine
    }

    private func run(_ heard: Heard, _ body: () async throws -> Void) async {
        do { try await body() } catch { heard.add("\(error) \(String(reflecting: error))") }
    }

    /// Whether the bytes contain a secret. The service's next links do not count: the store keeps them unchanged for
    /// the next download, and does not report them.
    private static func hasSecret(_ bytes: some Sequence<UInt8>) -> Bool {
        var bytes = Array(bytes)
        bytes.replace(Array("\(mark)-link".utf8), with: [])
        return bytes.firstRange(of: Array(mark.utf8)) != nil
    }

    @Test(arguments: Failure.allCases, Dialect.allCases)
    func `no secret is reported or stored after any failure`(_ failure: Failure, _ dialect: Dialect) async throws {
        for batchFormat in dialect == .v2 ? [ServiceOptions.BatchFormat.multipart] : [.multipart, .json] {
            let shop = try await Shop(
                dialect, pageSize: 1, options: LocalStoreOptions(environment: VirtualTime().environment))
            await shop.store.use(
                ServiceOptions(
                    batchFormat: batchFormat, repeatability: dialect == .v4 ? .oasis : .sap,
                    respondsAsync: dialect == .v4))
            let heard = Heard()
            try await shop.create("Customers", ["Name": .string("New")])
            try await shop.create("Orders", ["Note": .string("refused"), "CustomerID": .integer(99)])
            for failure in [failure, nil] {
                for withData in [false, true] {
                    let engine = treacherous(shop, failure, heard, withData: withData)
                    await run(heard) { _ = try await MetadataReading.read(engine.session) }
                    await run(heard) {
                        _ = try await engine.download(["Customers"], DownloadOptions(ignoresPostponement: true))
                    }
                    await run(heard) { _ = try await engine.upload(UploadOptions(ignoresPostponement: true)) }
                    await run(heard) { _ = try await engine.upload(UploadOptions(ignoresPostponement: true)) }
                }
            }
            for pending in try await shop.store.queue.pendingOperations() { heard.add("\(pending)") }
            for entry in try await shop.store.queue.errorArchive() { heard.add("\(entry)") }
            let reported = heard.texts.withLock { $0 }
            #expect(reported.count > 10)
            #expect(reported.filter { $0.contains(Self.mark) }.isEmpty)
            // A trace with data contains addresses unchanged.
            let data = heard.withData.withLock { $0 }.map { $0.replacing("\(Self.mark)-link", with: "") }
            #expect(data.count > 10)
            #expect(data.filter { $0.contains(Self.mark) }.isEmpty)
            #expect(heard.records.withLock { $0 }.filter(Self.hasSecret).isEmpty)
            await shop.store.close()
            let files = try #require(FileManager.default.enumerator(atPath: shop.directory.path))
            for case let file as String in files {
                guard let bytes = FileManager.default.contents(atPath: shop.directory.path + "/" + file) else {
                    continue
                }
                #expect(!Self.hasSecret(bytes), "\(file)")
            }
        }
    }
}
