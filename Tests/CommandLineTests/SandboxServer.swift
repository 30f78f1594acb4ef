import Foundation

/// An `odata-sandbox` process on a free port, stopped when the value is released.
final class SandboxServer {
    enum Version: String, CaseIterable, Sendable { case v2, v4 }

    private let process: Process
    private var lines: [String] = []

    /// Starts the service.
    ///
    /// - Parameters:
    ///   - lacks: The features that the service does not have.
    ///   - faults: The faults to inject, as JSON, or an empty string.
    init(without lacks: [String] = [], faults: String = "") throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString)")
        if !faults.isEmpty { try Data(faults.utf8).write(to: file) }
        defer { try? FileManager.default.removeItem(at: file) }
        process = Executable.process(
            "odata-sandbox",
            ["--quiet"] + lacks.flatMap { ["--without", $0] } + (faults.isEmpty ? [] : ["--faults", file.path]))
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
        lines = text.split(separator: "\n").map(String.init)
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// Stops the service permanently.
    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// Returns the service root, such as `http://127.0.0.1:PORT/v4/`.
    func root(_ version: Version) -> String {
        let mark = version == .v2 ? "V2 " : "V4 "
        return lines.first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) } ?? "no sandbox"
    }

    var origin: String { String(root(.v4).dropLast("/v4/".count)) }
}

extension Workspace {
    /// Returns a workspace with a store that was pulled from the sandbox.
    static func pulled(_ server: SandboxServer, _ version: SandboxServer.Version, queries: [String] = []) throws
        -> Workspace
    {
        let workspace = try Workspace()
        workspace.origin = server.origin
        let made = try workspace.start(["init", server.root(version)] + queries.flatMap { ["--query", $0] })
        made.process.waitUntilExit()
        _ = try workspace.output("pull")
        return workspace
    }
}
