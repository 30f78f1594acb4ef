import Foundation
import ODataWire
import Synchronization

/// The program `odata-sandbox` on a free port, with the data of its start.
///
/// A test has the program for itself. When the value is released, the process waits for a later test with the same
/// arguments, for which it resets its data.
package final class SandboxServer: Sendable {
    package enum Version: String, CaseIterable, Sendable { case v2, v4 }

    private static let idle = Mutex<[[String]: [ChildProcess]]>([:])

    private let arguments: [String]
    private let isReused: Bool
    private let process: ChildProcess
    package let origin: String

    /// Returns a service.
    ///
    /// - Parameters:
    ///   - arguments: Options of the program that change its capabilities.
    ///   - faults: The faults to inject, as JSON, or an empty string.
    ///   - isReused: Whether later tests may use the process. False if clients may send requests after the test.
    package init(_ arguments: [String] = [], faults: String = "", isReused: Bool = true) throws {
        self.arguments = arguments
        self.isReused = isReused
        process =
            try (isReused ? Self.reset(arguments) : nil)
            ?? ChildProcess(
                ChildProcess.executable("odata-sandbox"), ["--quiet"] + arguments, lines: 2, isShared: isReused)
        origin = "http://127.0.0.1:\(process.port)"
        if !faults.isEmpty { _ = try send("POST", "/faults", faults) }
    }

    /// Returns a process that waits, after a reset. Skips those that have crashed or do not respond.
    private static func reset(_ arguments: [String]) -> ChildProcess? {
        while let process = idle.withLock({ $0[arguments]?.popLast() }) {
            if (try? send("POST", "/reset", to: process.port, timeout: 30)) != nil { return process }
        }
        return nil
    }

    deinit { if isReused { Self.idle.withLock { $0[arguments, default: []].append(process) } } }

    /// Stops the service.
    package func stop() { process.kill() }

    package var port: Int { process.port }

    /// Returns the service root, such as `http://127.0.0.1:PORT/v4/`.
    package func root(_ version: Version) -> String { "\(origin)/\(version)/" }

    /// Replaces the faults.
    package func script(_ faults: String) throws {
        _ = try send("DELETE", "/faults")
        _ = try send("POST", "/faults", faults)
    }

    /// Returns the faults that have not occurred yet.
    package func pendingFaults() throws -> String { try send("GET", "/faults") }

    package func get(_ path: String) throws -> String { try send("GET", path) }

    private func send(_ method: String, _ path: String, _ body: String = "") throws -> String {
        try Self.send(method, path, body, to: port)
    }

    private static func send(
        _ method: String, _ path: String, _ body: String = "", to port: Int, timeout: Int? = nil
    ) throws -> String {
        var connection = try HTTPConnection(port: port, timeout: timeout)
        let response = try connection.send(WireRequest(method: method, url: path, body: Array(body.utf8)))
        let text = String(decoding: response.body, as: UTF8.self)
        guard (200..<300).contains(response.status) else {
            throw ChildProcess.Unexpected(description: "\(method) \(path) \(response.status): \(text)")
        }
        return text
    }
}
