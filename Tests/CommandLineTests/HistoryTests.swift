import Foundation
import Testing

/// Histories of the simulator, judged by `Tools/check-history`, which shares no code with the engine.
@Suite(.serialized, .timeLimit(.minutes(20))) struct HistoryTests {
    private static let checker = URL(filePath: #filePath).appending(path: "../../../Tools/check-history").standardized

    private func run(_ process: Process, _ workspace: Workspace, printing name: String) throws -> Run {
        try workspace.write("", to: name)
        let output = try #require(FileHandle(forWritingAtPath: workspace.path(name)))
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        return Run(status: process.terminationStatus, output: workspace.read(name))
    }

    private func check(_ arguments: [String], _ workspace: Workspace) throws -> Run {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", Self.checker.path] + arguments
        return try run(process, workspace, printing: "judgement")
    }

    @Test func `a checker without code of the engine accepts the histories of runs and refuses changed ones`() throws {
        let workspace = try Workspace()
        guard try check(["--help"], workspace).status == 0 else {
            print("The histories are not judged: python3 cannot be run.")
            return
        }
        let history = workspace.path("history.jsonl")
        let simulation = Executable.process(
            "tidelog-simulate", ["--seeds", "1..40", "--steps", "30", "--history", history])
        let simulated = try run(simulation, workspace, printing: "simulation")
        #expect(simulated.status == 0, "\(simulated.output)")
        let judged = try check([history, "--self-test"], workspace)
        #expect(judged.status == 0, "\(judged.output)")
        for line in judged.lines { print(line) }
    }

    @Test func `the history of a service that forgets changes is refused`() throws {
        let workspace = try Workspace()
        guard try check(["--help"], workspace).status == 0 else { return }
        let history = workspace.path("history.jsonl")
        let simulation = Executable.process(
            "tidelog-simulate",
            ["--seeds", "1..40", "--steps", "30", "--history", history, "--plant", "forgetfulService"])
        _ = try run(simulation, workspace, printing: "simulation")
        let judged = try check([history], workspace)
        #expect(judged.status == 1 && judged.output.contains("is lost in"), "\(judged.output)")
    }
}
