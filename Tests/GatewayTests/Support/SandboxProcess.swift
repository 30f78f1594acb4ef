import Foundation
import HTTPTypes
import TestSupport
import Transport

/// `odata-sandbox` on a free port: the origin of a gateway, without repeatable requests.
final class SandboxProcess: Sendable {
    private let process: ChildProcess
    let origin: String
    private let transport = defaultTransport()

    init(_ arguments: [String] = []) throws {
        process = try ChildProcess("odata-sandbox", ["--quiet"] + arguments, lines: 2)
        origin = String(process.lines[0].dropFirst(3).dropLast(4))
    }

    var port: Int { Int(origin.split(separator: ":").last ?? "") ?? 0 }

    /// Replaces the faults of the service.
    func script(_ faults: String) async throws {
        _ = try await send(.delete, "/faults")
        _ = try await send(.post, "/faults", faults)
    }

    func get(_ path: String) async throws -> String { try await send(.get, path) }

    private func send(_ method: HTTPRequest.Method, _ path: String, _ body: String = "") async throws -> String {
        guard let request = HTTPRequest(method: method, url: origin + path) else {
            throw ChildProcess.Unexpected(description: "\(path) is not a URL.")
        }
        let (response, bytes) = try await transport.send(request, body: Array(body.utf8))
        let text = String(decoding: bytes, as: UTF8.self)
        guard response.status.kind == .successful else {
            throw ChildProcess.Unexpected(description: "\(method) \(path) \(response.status): \(text)")
        }
        return text
    }
}
