import Foundation

/// The system calls of a run of `tidelog` that write, sync, rename and create directories, recorded by `strace`.
struct SystemCalls {
    /// Whether `strace` is installed and may trace processes.
    static let isAvailable: Bool = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        program = folders.map { "\($0)/strace" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        let works = program.map { (try? status($0, ["-o", "/dev/null", "true"])) == 0 } ?? false
        if !works { print("skipped: there is no strace that may trace processes") }
        return works
    }()

    /// Assigned once, by ``isAvailable``, before the first test.
    private nonisolated(unsafe) static var program: String?

    /// The calls in the order in which they started, as `strace` prints them: `fsync(5</path>) = 0`.
    let calls: [String]

    /// Runs `tidelog`, which must succeed.
    init(of arguments: String..., in workspace: Workspace) throws {
        let program = try Self.program.orThrow()
        let log = workspace.path("calls-\(UUID().uuidString)")
        let tidelog = Executable.url.path
        let traced = "trace=/sync,/write,/rename,/mkdir"
        let status = try Self.status(
            program, ["-f", "-y", "-s", "300", "-e", traced, "-o", log, tidelog] + arguments, in: workspace.folder)
        guard status == 0 else { throw Workspace.UnexpectedFailure(description: "strace: \(status)") }
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        // Each line starts with the number of the thread. The ends of interrupted calls are left out.
        calls = lines.map { String($0.drop { $0.isNumber || $0 == " " }) }.filter { !$0.hasPrefix("<...") }
    }

    private static func status(_ program: String, _ arguments: [String], in folder: URL? = nil) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = folder }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Returns the index of the first call after `start` whose name contains `name` and whose arguments contain `text`.
    func first(_ name: String, _ text: String, after start: Int = -1) -> Int? {
        calls.indices.first { $0 > start && matches(calls[$0], name, text) }
    }

    /// Returns the index of the last such call.
    func last(_ name: String, _ text: String) -> Int? { calls.indices.last { matches(calls[$0], name, text) } }

    private func matches(_ call: String, _ name: String, _ text: String) -> Bool {
        let parts = call.split(separator: "(", maxSplits: 1)
        return parts.count == 2 && parts[0].contains(name) && parts[1].contains(text)
    }
}

extension Optional {
    /// Returns the value. Throws an error if there is none.
    fileprivate func orThrow() throws -> Wrapped {
        guard let self else { throw Workspace.UnexpectedFailure(description: "there is no strace") }
        return self
    }
}
