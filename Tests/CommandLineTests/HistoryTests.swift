import Foundation
import TestSupport
import Testing

/// The program `Tools/check-history`.
private enum Checker {
    private static let url = URL(filePath: #filePath).appending(path: "../../../Tools/check-history").standardized

    static let isAvailable = (try? run(["--help"]))?.status == 0

    static func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
        try ChildProcess.run(URL(fileURLWithPath: "/usr/bin/env"), ["python3", url.path] + arguments)
    }
}

/// Histories of the simulator, judged by `Tools/check-history`, which shares no code with the engine.
@Suite(
    .serialized, .timeLimit(.minutes(20)), .enabled(if: Checker.isAvailable, "skipped: python3 cannot be run"))
struct HistoryTests {
    @Test func `a checker without code of the engine accepts the histories of runs and refuses changed ones`() throws {
        let workspace = try Workspace()
        let history = workspace.path("history.jsonl")
        let simulated = try ChildProcess.run(
            "tidelog-simulate", ["--seeds", "1..40", "--steps", "30", "--history", history])
        #expect(simulated.status == 0, "\(simulated.text)")
        let judged = try Checker.run([history, "--self-test"])
        #expect(judged.status == 0, "\(judged.text)")
        print(judged.text)
    }

    @Test func `the history of a service that forgets changes is refused`() throws {
        let workspace = try Workspace()
        let history = workspace.path("history.jsonl")
        _ = try ChildProcess.run(
            "tidelog-simulate",
            ["--seeds", "1..40", "--steps", "30", "--history", history, "--plant", "forgetfulService"])
        let judged = try Checker.run([history])
        #expect(judged.status == 1 && judged.text.contains("is lost in"), "\(judged.text)")
    }
}
