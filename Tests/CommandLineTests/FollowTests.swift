import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct FollowTests {
    /// Waits until the output has this number of lines.
    private func lines(_ count: Int, of running: Workspace.Running, in workspace: Workspace) -> [String] {
        var lines: [String] = []
        while running.process.isRunning {
            let text = workspace.text(running.output)
            lines = text.split(separator: "\n").map(String.init)
            if lines.count >= count, text.hasSuffix("\n") { break }
            usleep(5_000)
        }
        return lines
    }

    /// Whether the process ends by itself after `act`. Kills it otherwise, so that the test continues.
    private func ends(_ process: Process, after act: (Process) -> Void) -> Bool {
        act(process)
        for _ in 0..<6000 where process.isRunning { usleep(10_000) }
        let hasEnded = !process.isRunning
        if !hasEnded { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        return hasEnded
    }

    @Test(arguments: [false, true])
    func `log --follow prints existing operations and those of other commands until it is interrupted`(json: Bool)
        throws
    {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Ada"}"#)
        let running = try workspace.start(["log", "--follow"] + (json ? ["--json"] : []))
        #expect(lines(1, of: running, in: workspace).count == 1)
        _ = try workspace.output("create", "Customers", #"{"Name":"Grace"}"#)
        _ = try workspace.output("create", "Customers", #"{"Name":"Mary"}"#)
        let all = lines(3, of: running, in: workspace)
        #expect(all.count == 3)
        for (line, name) in zip(all, ["Ada", "Grace", "Mary"]) {
            #expect(line.contains(json ? #""values":{"Name":"\#(name)"},"fate":"pending""# : "Name='\(name)'"))
        }
        try #require(ends(running.process) { $0.interrupt() })
        #expect(running.process.terminationReason == .exit)
        #expect(running.process.terminationStatus == 0)
        #expect(workspace.text(running.error) == "")
        #expect(workspace.text(running.output).split(separator: "\n").count == 3)
    }

    @Test func `log --follow --set continues after a concurrent compaction`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("create", "Orders", #"{"Note":"one"}"#)
        let running = try workspace.start(["log", "--follow", "--set", "Orders"])
        #expect(lines(1, of: running, in: workspace).count == 1)
        // The process is stopped before it opens the file that the second compaction removes.
        kill(running.process.processIdentifier, SIGSTOP)
        _ = try workspace.output("compact", "--keep", "0b")
        let made = try workspace.output("create", "Orders", #"{"Note":"two"}"#)
        let link = try #require(made.split(separator: " ").last).trimmingCharacters(in: .newlines)
        _ = try workspace.output("push")
        _ = try workspace.output("compact", "--keep", "0b")
        _ = try workspace.output("update", link, #"{"Note":"three"}"#)
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"other"}"#)
        _ = try workspace.output("update", link, #"{"Note":"four"}"#)
        kill(running.process.processIdentifier, SIGCONT)
        let all = lines(4, of: running, in: workspace)
        #expect(all.count == 4 && all[1].contains("were compacted"))
        #expect(all[2].hasSuffix("Note='three'") && all[3].hasSuffix("Note='four'"))
        try #require(ends(running.process) { $0.terminate() })
        #expect(running.process.terminationStatus == 0)
    }

    @Test func `log --follow does not wait at a log that is damaged to its end`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        let file = workspace.folder.appendingPathComponent(".tidelog/log/00000000000000000001.segment")
        var bytes = try Data(contentsOf: file)
        for index in 20..<bytes.count { bytes[index] ^= 0xFF }
        try bytes.write(to: file)
        let running = try workspace.start(["log", "--follow"])
        try #require(ends(running.process) { _ in })
        #expect(running.process.terminationStatus == 2)
    }
}
