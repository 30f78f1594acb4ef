import Foundation
import HTTPTypes
import Transport

/// The real `odata-sandbox` on a free port, which can be given faults and queried.
final class FaultServer: Sendable {
    private let process: Process
    let origin: String
    private let transport = defaultTransport()

    struct Unexpected: Error, CustomStringConvertible { let description: String }

    init(_ arguments: [String] = []) throws {
        // The test bundle is next to the executables of the same build.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/odata-sandbox") {
            folder.deleteLastPathComponent()
        }
        process = Process()
        process.executableURL = folder.appendingPathComponent("odata-sandbox")
        process.arguments = ["--quiet"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while text.count(where: { $0 == "\n" }) < 2 {
            let chunk = output.fileHandleForReading.availableData
            if chunk.isEmpty { break }
            text += String(decoding: chunk, as: UTF8.self)
        }
        guard let line = text.split(separator: "\n").first, line.hasPrefix("V2 "), line.hasSuffix("/v2/") else {
            process.terminate()
            throw Unexpected(description: "The sandbox did not start: \(text)")
        }
        origin = String(line.dropFirst(3).dropLast(4))
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// Replaces the faults.
    func script(_ faults: String) async throws {
        _ = try await send(.delete, "/faults")
        _ = try await send(.post, "/faults", faults)
    }

    /// Returns the faults that have not occurred yet.
    func pendingFaults() async throws -> String { try await send(.get, "/faults") }

    func get(_ path: String) async throws -> String { try await send(.get, path) }

    private func send(_ method: HTTPRequest.Method, _ path: String, _ body: String = "") async throws -> String {
        guard let request = HTTPRequest(method: method, url: origin + path) else {
            throw Unexpected(description: "\(path) is not a URL.")
        }
        let (response, bytes) = try await transport.send(request, body: Array(body.utf8))
        let text = String(decoding: bytes, as: UTF8.self)
        guard response.status.kind == .successful else {
            throw Unexpected(description: "\(method) \(path) \(response.status): \(text)")
        }
        return text
    }
}
