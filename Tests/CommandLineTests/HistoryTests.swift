import Foundation
import TestSupport
import Testing

/// Histories of the simulator, judged by `Tools/check-history`, which shares no code with the engine.
@Suite(.serialized, .timeLimit(.minutes(20))) struct HistoryTests {
    private static let checker = URL(filePath: #filePath).appending(path: "../../../Tools/check-history").standardized

    private func check(_ arguments: [String]) throws -> (status: Int32, text: String) {
        try ChildProcess.run(URL(fileURLWithPath: "/usr/bin/env"), ["python3", Self.checker.path] + arguments)
    }

    @Test func `a checker without code of the engine accepts the histories of runs and refuses changed ones`() throws {
        let workspace = try Workspace()
        guard try check(["--help"]).status == 0 else {
            print("The histories are not judged: python3 cannot be run.")
            return
        }
        let history = workspace.path("history.jsonl")
        let simulated = try ChildProcess.run(
            "tidelog-simulate", ["--seeds", "1..40", "--steps", "30", "--history", history])
        #expect(simulated.status == 0, "\(simulated.text)")
        let judged = try check([history, "--self-test"])
        #expect(judged.status == 0, "\(judged.text)")
        print(judged.text)
    }

    @Test func `the history of a service that forgets changes is refused`() throws {
        let workspace = try Workspace()
        guard try check(["--help"]).status == 0 else { return }
        let history = workspace.path("history.jsonl")
        _ = try ChildProcess.run(
            "tidelog-simulate",
            ["--seeds", "1..40", "--steps", "30", "--history", history, "--plant", "forgetfulService"])
        let judged = try check([history])
        #expect(judged.status == 1 && judged.text.contains("is lost in"), "\(judged.text)")
    }
}
