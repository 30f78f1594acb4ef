import Foundation
import HTTPTypes
import TestSupport
import Testing
import Transport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// An independent OData server that runs during one test.
enum InteropServer: String, Sendable {
    case odatapy
    case mockSAP = "mock-sap"

    private var script: String {
        switch self {
        case .odatapy: "odatapy_service.py"
        case .mockSAP: "mock_sap_service.py"
        }
    }

    private func root(port: Int) -> String {
        switch self {
        case .odatapy: "http://127.0.0.1:\(port)/odata/"
        case .mockSAP: "http://127.0.0.1:\(port)/sap/opu/odata/sap/SHOP_SRV/"
        }
    }

    /// The way of the client's requests to the server.
    enum Route: Sendable, CaseIterable {
        case direct
        /// Through `tidelog-gateway`, with its ledger.
        case gateway
    }

    // MARK: Requirements

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    private static var packageRoot: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
    }

    private var scriptURL: URL {
        let folder =
            Self.environment["TIDELOG_INTEROP"].map { URL(fileURLWithPath: $0) }
            ?? Self.packageRoot.deletingLastPathComponent().appendingPathComponent("shared/interop")
        return folder.appendingPathComponent(script)
    }

    private var pythonURL: URL { Self.packageRoot.appendingPathComponent(".venv-\(rawValue)/bin/python") }

    /// The reason why the server cannot run here, or nil. The reason for each server is printed once per process.
    private var unavailable: String? {
        if let reason = Self.environment["TIDELOG_INTEROP_UNAVAILABLE"], !reason.isEmpty { return reason }
        if !FileManager.default.fileExists(atPath: scriptURL.path) {
            return "the script that starts it is not there: \(script) (TIDELOG_INTEROP names its folder)"
        }
        if !FileManager.default.isExecutableFile(atPath: pythonURL.path) {
            return "there is no virtual environment .venv-\(rawValue); Tools/test makes it"
        }
        return nil
    }

    private static let reported: [InteropServer: Bool] = Dictionary(
        uniqueKeysWithValues: [InteropServer.odatapy, .mockSAP].map { server in
            if let reason = server.unavailable { print("Skipped: interop tests against \(server.rawValue): \(reason)") }
            return (server, server.unavailable == nil)
        })

    var isAvailable: Bool { Self.reported[self] ?? false }

    // MARK: Running

    struct NotStarted: Error {
        let reason: String
    }

    /// A script that runs the server only while its standard input is open, so that the server ends with the tests even
    /// if they crash.
    private static let launcher = """
        import os, runpy, sys, threading
        threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
        sys.argv = sys.argv[1:]
        runpy.run_path(sys.argv[0], run_name="__main__")
        """

    /// Starts the server on a free port, and a gateway if the route has one. Runs `body` with the service root, and ends
    /// both.
    func run(
        _ route: Route, _ settings: [String: String] = [:], _ body: (String) async throws -> Void
    ) async throws {
        try await run(settings) { root in
            guard route == .gateway else { return try await body(root) }
            try await Self.withGateway(root) { gateway in try await body(gateway.root(Self.endpoint)) }
        }
    }

    /// The name of the server as a service of the gateway.
    static let endpoint = "origin"

    /// Runs `body` with a gateway in front of the service, and ends the gateway.
    static func withGateway(_ root: String, _ body: (GatewayProcess) async throws -> Void) async throws {
        let gateway = try GatewayProcess([endpoint: root])
        try gateway.start()
        defer { gateway.kill() }
        try await body(gateway)
    }

    /// Starts the server on a free port, runs `body` with its service root, and ends the server.
    func run(_ settings: [String: String] = [:], _ body: (String) async throws -> Void) async throws {
        let port = try LoopbackPort()
        let process = Process()
        process.executableURL = pythonURL
        process.arguments = ["-B", "-c", Self.launcher, scriptURL.path, String(port.number)]
        process.environment = Self.environment.merging(settings) { $1 }.merging(["CONTENT_ID": "1"]) { $1 }
        let lifeline = Pipe()
        process.standardInput = lifeline
        let folder = TemporaryDirectory()
        let log = folder.path + "/log"
        TemporaryDirectory.write([], to: log)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: log) ?? FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            // A busy server may ignore the request to terminate. Its test has ended in any case.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try? lifeline.fileHandleForWriting.close()
            withExtendedLifetime(port) {}
        }
        let root = root(port: port.number)
        do {
            try await Self.waitForAnswer(root, process)
        } catch let error as NotStarted {
            throw NotStarted(
                reason: error.reason + " " + String(decoding: TemporaryDirectory.read(log) ?? [], as: UTF8.self))
        }
        try await body(root)
    }

    private static func waitForAnswer(_ root: String, _ process: Process) async throws {
        let transport = defaultTransport()
        // Counts attempts instead of time: while other tests keep all processors busy, half a minute can pass between
        // two attempts.
        for _ in 0..<600 {
            guard process.isRunning else { throw NotStarted(reason: "The server ended by itself.") }
            if let request = HTTPRequest(method: .get, url: root + "$metadata"),
                let (response, _) = try? await transport.send(request, body: []), response.status == .ok
            {
                return
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw NotStarted(reason: "The server did not answer.")
    }
}
