import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct LogTests {
    private func filled(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"n"}"#, "--bind", "Customer=Customers(~8)")
        _ = try workspace.output("push")
        _ = try workspace.output("update", "Customers(~8)", #"{"Name":"Later"}"#)
        return workspace
    }

    /// Replaces times, which differ from run to run.
    private func withoutTimes(_ text: String) -> String {
        text.replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ/, with: "TIME")
    }

    @Test func `log prints one line with the outcome for each operation`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        #expect(
            withoutTimes(try workspace.output("log"))
                == """
                     9  TIME  confirmed  create Customers(~8) Name='Neu'
                    10  TIME  confirmed  create Orders(~9) Note='n' · bind Customer → Customers(~8)
                    13  TIME  pending    update Customers(~8) Name='Later'

                """)
        let all = withoutTimes(try workspace.output("log", "--all")).split(separator: "\n").map(String.init)
        #expect(all.count == 13)
        #expect(all[1] == "     2  TIME             query C added: Customers")
        let json = try workspace.tidelog("log", "--json").lines
        #expect(json.count == 3)
        #expect(json[2].hasPrefix(#"{"sequence":13,"time":"#))
        #expect(json[2].hasSuffix(#""action":"update","entity":8,"values":{"Name":"Later"},"fate":"pending"}"#))
    }

    @Test func `the log can be read and checked while another process writes`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let pipe = Pipe()
        let writer = try workspace.start(["apply", "-"], inputHandle: pipe.fileHandleForReading)
        pipe.fileHandleForWriting.write(Data((#"{"op":"delete","entity":"Orders(1)"}"# + "\n").utf8))
        while workspace.read(writer.output).isEmpty, writer.process.isRunning { usleep(1_000) }
        #expect(withoutTimes(try workspace.output("log")).hasSuffix("    14  TIME  pending    delete Orders(~4)\n"))
        #expect(try workspace.output("verify").hasSuffix("The log has no damage.\n"))
        try pipe.fileHandleForWriting.close()
        writer.process.waitUntilExit()
    }

    @Test func `verify prints the size of a sound log`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let lines = try workspace.tidelog("verify").lines
        #expect(lines.first == "1 segment, 13 blocks, 13 records.")
        #expect(lines.last == "The log has no damage.")
        let json = try workspace.output("verify", "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(object["sound"] as? Bool == true)
        let raw = try #require(object["rawBytes"] as? Int)
        let stored = try #require(object["storedBytes"] as? Int)
        #expect(stored > 0 && stored < raw)
    }

    /// Replaces sizes, which depend on the times and ports of the run.
    private func withoutNumbers(_ lines: [String]) -> [String] {
        lines.map {
            $0.replacing(#/█+░*/#, with: "BAR").replacing(/\d+(\.\d+)?/, with: "N").replacing(#/ +/#, with: " ")
                .replacing(/-+/, with: "-")
        }
    }

    @Test func `stats prints the bytes of each segment and each kind of record`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        #expect(
            withoutNumbers(try workspace.tidelog("stats").lines) == [
                "segment last state blocks raw stored file ratio size", "- - - - - - - - -",
                " N N open N N N N N BAR", "kind records raw stored stored each ratio size", "- - - - - - -",
                "serviceInstalled N N N N N BAR", "operation N N N N N BAR", "definingQueryAdded N N N N N BAR",
                "downloadStarted N N N N N BAR", "downloadPage N N N N N BAR", "downloadFinished N N N N N BAR",
                "batchPrepared N N N N N BAR", "batchAnswered N N N N N BAR",
                "N records, N bytes raw, N stored, N in the files: N times smaller.",
                "N operations of N bytes each, compressed.",
            ])
        let json = try workspace.output("stats", "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(object["records"] as? Int == 13)
        #expect(object["operations"] as? Int == 3)
        let kinds = try #require(object["kinds"] as? [[String: Any]])
        #expect(kinds.compactMap { $0["records"] as? Int }.reduce(0, +) == 13)
        #expect(kinds.compactMap { $0["rawBytes"] as? Int }.reduce(0, +) == object["rawBytes"] as? Int)
        let segments = try #require(object["segments"] as? [[String: Any]])
        #expect(segments.first?["state"] as? String == "open")
    }

    @Test func `verify --fast states that the check was fast`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let lines = try workspace.tidelog("verify", "--fast").lines
        #expect(lines.first == "1 segment, 13 blocks, 13 records.")
        #expect(lines.last == "A fast verification found no damage in the log.")
    }

    @Test func `verify compares the description of a store with its log`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        try workspace.write("{", to: ".tidelog/store.json")
        let damaged = try workspace.tidelog("verify")
        #expect(damaged.status == 2)
        #expect(damaged.output.contains("The description of the store cannot be read. (.tidelog/store.json)"))
        try FileManager.default.removeItem(atPath: workspace.path(".tidelog/store.json"))
        let missing = try workspace.tidelog("verify")
        #expect(missing.status == 0)
        #expect(missing.output.contains(".tidelog/store.json is missing."))
    }

    @Test func `verify and log report damage with file and offset and exit with 2`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let file = ".tidelog/log/00000000000000000001.segment"
        var bytes = try Data(contentsOf: workspace.folder.appendingPathComponent(file))
        bytes[1_000] ^= 0xFF
        try bytes.write(to: workspace.folder.appendingPathComponent(file))
        let verified = try workspace.tidelog("verify")
        #expect(verified.status == 2)
        #expect(
            verified.lines.contains {
                $0.hasPrefix("\(file) is damaged at offset 64: the checksum of the payload does not match")
            })
        let shown = try workspace.tidelog("log")
        #expect(shown.status == 2)
        #expect(shown.output.contains("\(file) is damaged at offset 64"))
        #expect(shown.output.contains("update Customers(~8) Name='Later'"))
        #expect(try Data(contentsOf: workspace.folder.appendingPathComponent(file)) == bytes)
    }

    @Test func `an incomplete commit at the end is not damage`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let file = workspace.folder.appendingPathComponent(".tidelog/log/00000000000000000001.segment")
        let bytes = try Data(contentsOf: file)
        try bytes.dropLast(3).write(to: file)
        try workspace.forgetEnd()
        // The views are removed because they show that the commit was complete.
        for name in ["views.sqlite", "views.sqlite-wal", "views.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: workspace.path(".tidelog/" + name))
        }
        let verified = try workspace.tidelog("verify")
        #expect(verified.status == 0)
        #expect(verified.output.contains("of an incomplete commit"))
        #expect(verified.output.hasSuffix("The log has no damage.\n"))
        let opened = try workspace.tidelog("status")
        #expect(opened.status == 0)
        #expect(opened.error.contains("of an incomplete commit were removed from"))
    }

    @Test func `a missing end of the log is damage if the views contain the lost records`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let file = workspace.folder.appendingPathComponent(".tidelog/log/00000000000000000001.segment")
        try Data(contentsOf: file).dropLast(3).write(to: file)
        try workspace.forgetEnd()
        let opened = try workspace.tidelog("status")
        #expect(opened.status == 2)
        #expect(opened.error.contains("The end of the log is missing"))
        #expect(try workspace.tidelog("repair", "--in-place").status == 0)
        #expect(try workspace.tidelog("status").status == 0)
    }

    @Test func `a changed bit of the last commit is damage`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let file = workspace.folder.appendingPathComponent(".tidelog/log/00000000000000000001.segment")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count - 5] ^= 0x10
        try bytes.write(to: file)
        #expect(try workspace.tidelog("verify").status == 2)
        #expect(try workspace.tidelog("status").status == 2)
        #expect(try workspace.tidelog("push").status == 2)
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test func `commands without a log name the next step`() throws {
        let workspace = try Workspace()
        for command in ["log", "verify", "stats"] {
            let run = try workspace.tidelog(command)
            #expect(
                run
                    == Run(
                        status: 1, output: "",
                        error: "tidelog: There is no log in .tidelog/log. Run 'tidelog init' first.\n"))
        }
    }
}
