import Foundation
import HTTPTypes
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

    /// Starts the server on a free port, runs `body` with its service root, and ends the server.
    func run(_ settings: [String: String] = [:], _ body: (String) async throws -> Void) async throws {
        let port = try Self.freePort()
        let process = Process()
        process.executableURL = pythonURL
        process.arguments = ["-B", "-c", Self.launcher, scriptURL.path, String(port)]
        process.environment = Self.environment.merging(settings) { $1 }.merging(["CONTENT_ID": "1"]) { $1 }
        let lifeline = Pipe()
        process.standardInput = lifeline
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            // A busy server may ignore the request to terminate. Its test has ended in any case.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try? lifeline.fileHandleForWriting.close()
        }
        let root = root(port: port)
        try await Self.waitForAnswer(root, process)
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

    /// Returns a port that was free a moment ago.
    private static func freePort() throws -> Int {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw NotStarted(reason: "No socket.") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        guard status == 0 else { throw NotStarted(reason: "No free port.") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
