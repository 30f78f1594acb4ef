import Foundation
import TestSupport
import Testing

/// Files and output that a command leaves when a signal ends it.
@Suite(.timeLimit(.minutes(20))) struct InterruptionTests {
    private func waits(until isSo: () -> Bool) -> Bool {
        for _ in 0..<6000 where !isSo() { usleep(10_000) }
        return isSo()
    }

    private func names(_ path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP], [["bisect"], ["minimise", "--output", "small"]])
    func `copies of a store are removed when a signal ends the command`(number: Int32, command: [String]) throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        try FileManager.default.createDirectory(atPath: workspace.path("scratch"), withIntermediateDirectories: true)
        workspace.environment["TMPDIR"] = workspace.path("scratch")
        let running = try workspace.start(command + ["--run", "test -d {}/log && : > started; sleep 5"])
        try #require(waits { FileManager.default.fileExists(atPath: workspace.path("started")) })
        #expect(names(workspace.path("scratch")).count == 1)
        kill(running.process.processIdentifier, number)
        running.process.waitUntilExit()
        #expect(running.process.terminationReason == .uncaughtSignal && running.process.terminationStatus == number)
        #expect(names(workspace.path("scratch")) == [])
        #expect(names(workspace.folder.path).allSatisfy { !$0.hasPrefix("small") })
    }

    /// Sends a signal to a command while it writes the file `page`, and waits until the command ends. Returns false if
    /// it ends before the test finds the incomplete file.
    private func interrupt(_ running: Workspace.Running, _ number: Int32, in workspace: Workspace) -> Bool {
        // The process runs in short intervals, so that the test does not miss the moment at which it writes the file.
        let process = running.process.processIdentifier
        var isWriting = false
        while !isWriting, running.process.isRunning {
            kill(process, SIGSTOP)
            isWriting = names(workspace.folder.path).contains { $0.hasPrefix("page.") && $0.hasSuffix(".new") }
            if isWriting { kill(process, number) }
            kill(process, SIGCONT)
            usleep(2_000)
        }
        running.process.waitUntilExit()
        return isWriting
    }

    @Test(arguments: [SIGINT, SIGTERM], [["report"], ["export"]])
    func `an incomplete file is removed when a signal ends the command`(number: Int32, command: [String]) throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        // So many updates that reading them takes some time.
        let updates = (0..<4_000).map { #"{"op":"update","entity":"Customers(1)","value":{"Name":"\#($0)"}}"# }
        try workspace.write(
            #"{"op":"changeSet","operations":["# + updates.joined(separator: ",") + "]}", to: "updates.jsonl")
        _ = try workspace.output("apply", "updates.jsonl")
        var before = names(workspace.folder.path)
        var running = try workspace.start(command + ["-o", "page"])
        var attempts = 1
        while !interrupt(running, number, in: workspace) {
            try #require(attempts < 20, "Every command finished before the test found its incomplete file.")
            attempts += 1
            try? FileManager.default.removeItem(atPath: workspace.path("page"))
            before = names(workspace.folder.path)
            running = try workspace.start(command + ["-o", "page"])
        }
        #expect(running.process.terminationReason == .uncaughtSignal && running.process.terminationStatus == number)
        let printed = [running.output, running.error]
        #expect(
            names(workspace.folder.path).filter { !printed.contains($0) && !$0.hasPrefix("in-") }
                == before.filter { !$0.hasPrefix("in-") })
    }

    @Test func `a command that bisect runs does not ignore or block termination signals`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        _ = try workspace.tidelog("bisect", "--run", "grep -E '^Sig(Blk|Ign)' /proc/self/status > signals; false")
        let signals = workspace.read("signals").split(separator: "\n").map {
            $0.split(separator: "\t").last.map(String.init)
        }
        try #require(signals.count == 2)
        for mask in signals {
            let mask = try #require(mask.flatMap { UInt64($0, radix: 16) })
            for number in [SIGINT, SIGTERM, SIGPIPE] { #expect(mask & (1 << UInt64(number - 1)) == 0, "\(number)") }
        }
    }
}
