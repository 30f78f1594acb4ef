import Foundation
import TestSupport

/// The result of a process: its exit code and its complete output.
struct Run: Equatable {
    var status: Int32
    var output: String
    var error: String = ""

    var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// The executable `tidelog` that was built together with the tests.
enum Executable {
    static let url = ChildProcess.executable("tidelog")

    static func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        return process
    }
}

/// A new directory for one test, in which `tidelog` runs. The store is `.tidelog` unless the arguments select a
/// different one.
final class Workspace {
    let folder: URL
    /// The origin that is replaced by `http://HOST` in the output, because ports differ from run to run.
    var origin = "http://HOST"
    /// Variables that are added to the environment of the process.
    var environment: [String: String] = [:]
    /// The service that is running as long as the workspace exists.
    private var server: SandboxServer?

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidelog-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Returns a workspace with a store that was pulled from the sandbox.
    static func pulled(_ server: SandboxServer, _ version: SandboxServer.Version, queries: [String] = []) throws
        -> Workspace
    {
        let workspace = try Workspace()
        workspace.server = server
        workspace.origin = server.origin
        _ = try workspace.run(["init", server.root(version)] + queries.flatMap { ["--query", $0] })
        _ = try workspace.output("pull")
        return workspace
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    func read(_ name: String) -> String {
        (try? Data(contentsOf: folder.appendingPathComponent(name))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Runs `tidelog` and waits until it ends.
    func tidelog(_ arguments: String..., input: String = "") throws -> Run { try run(arguments, input: input) }

    /// Returns the output of a successful run. Throws an error with the text of standard error if the run fails.
    func output(_ arguments: String..., input: String = "") throws -> String {
        let run = try run(arguments, input: input)
        guard run.status == 0 else {
            throw UnexpectedFailure(description: "tidelog \(arguments.joined(separator: " ")): \(run.error)")
        }
        return run.output
    }

    /// Runs `tidelog` and waits until it ends.
    func run(_ arguments: [String], input: String = "") throws -> Run {
        let running = try start(arguments, input: input)
        running.process.waitUntilExit()
        return Run(
            status: running.process.terminationStatus, output: text(running.output), error: text(running.error))
    }

    struct UnexpectedFailure: Error, CustomStringConvertible { let description: String }

    struct Running {
        let process: Process
        /// The names of the files to which the process prints. Unlike pipes, files never block the process.
        let output: String
        let error: String
    }

    /// Starts `tidelog` with `inputHandle` as standard input or, if it is nil, with `input`.
    func start(_ arguments: [String], input: String = "", inputHandle: FileHandle? = nil) throws -> Running {
        let process = Executable.process(arguments)
        process.currentDirectoryURL = folder
        // The configuration that a command stores for the user is in the directory of the test, not in that of the
        // actual user.
        process.environment = ProcessInfo.processInfo.environment.merging(["XDG_CONFIG_HOME": path("config")]) { $1 }
            .merging(environment) { $1 }
        let names = ["in", "out", "err"].map { "\($0)-\(UUID().uuidString)" }
        try write(input, to: names[0])
        try write("", to: names[1])
        try write("", to: names[2])
        process.standardInput = try inputHandle ?? FileHandle(forReadingFrom: folder.appendingPathComponent(names[0]))
        process.standardOutput = try FileHandle(forWritingTo: folder.appendingPathComponent(names[1]))
        process.standardError = try FileHandle(forWritingTo: folder.appendingPathComponent(names[2]))
        try process.run()
        return Running(process: process, output: names[1], error: names[2])
    }

    func text(_ name: String) -> String { read(name).replacing(origin, with: "http://HOST") }
}
