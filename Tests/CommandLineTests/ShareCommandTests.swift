import Foundation
import TestSupport
import Testing

/// Tests of `export` and `import`.
///
/// Features: OP-05.
@Suite(.timeLimit(.minutes(20))) struct ShareCommandTests {
    private func workspace(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"x"}"#)
        _ = try workspace.output("push")
        _ = try workspace.output("create", "Customers", #"{"Name":"=1+1"}"#)
        return workspace
    }

    /// Returns the digest of the whole state.
    private func digest(_ workspace: Workspace, _ store: String = ".tidelog") throws -> String {
        let text = try workspace.output("compact", "--keep", "everything", "--store", store)
        return try String(#require(text.firstMatch(of: /[0-9a-f]{16}/)).output)
    }

    @Test func `a store that is imported from an export has the same state`() throws {
        let workspace = try workspace(try SandboxServer())
        let run = try workspace.tidelog("export", "-o", "e.jsonl")
        #expect(run == Run(status: 0, output: "", error: ""))
        let reported = try workspace.output("export", "--json", "-o", "e.jsonl").replacing(/\d+/, with: "N")
        #expect(reported == #"{"file":"e.jsonl","bytes":N}"# + "\n")
        let made = try workspace.tidelog("import", "e.jsonl", "--store", "copy")
        #expect(made == Run(status: 0, output: "13 records in copy, the last one 13.\n", error: ""))
        #expect(
            try workspace.output("log", "--all", "--json", "--store", "copy")
                == workspace.output("log", "--all", "--json"))
        #expect(try workspace.output("plan", "--store", "copy") == workspace.output("plan"))
        #expect(try digest(workspace, "copy") == digest(workspace))
        #expect(try workspace.tidelog("verify", "--store", "copy").status == 0)
    }

    @Test func `a compacted store is exported with its snapshot, also through a pipe`() throws {
        let workspace = try workspace(try SandboxServer())
        _ = try workspace.output("compact", "--keep", "0b")
        _ = try workspace.output("create", "Customers", #"{"Name":"Later"}"#)
        _ = try workspace.output("export", "-o", "e.jsonl")
        let export = workspace.read("e.jsonl")
        #expect(export.contains(#"{"snapshot":14,"kindNumber":1,"#))
        let early = try workspace.tidelog("export", "--to", "12")
        #expect(
            early
                == Run(
                    status: 1, output: "",
                    error: "tidelog: A compaction removed the states of the store before operation 14 "
                        + "(.tidelog/log). Request a later state.\n"))
        let made = try workspace.tidelog("import", "-", "--store", "copy", "--json", input: export)
        #expect(made.output == #"{"store":"copy","records":1,"lastSequence":14}"# + "\n")
        #expect(try digest(workspace, "copy") == digest(workspace))
        #expect(try workspace.output("plan", "--store", "copy") == workspace.output("plan"))
    }

    @Test func `the export of an encrypted store warns about plain text and yields the same state`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace()
        let key = String(repeating: "0123456789abcdef", count: 4)
        workspace.environment["TIDELOG_KEY"] = key
        _ = try workspace.output("init", server.root(.v4), "--query", "C=Customers")
        _ = try workspace.output("pull")
        let run = try workspace.tidelog("export", "-o", "e.jsonl")
        #expect(run.status == 0)
        #expect(run.error == "tidelog: The store is encrypted, but the export is not.\n")
        let before = try digest(workspace)
        workspace.environment["TIDELOG_KEY"] = ""
        _ = try workspace.output("import", "e.jsonl", "--store", "copy")
        #expect(try digest(workspace, "copy") == before)
        workspace.environment["TIDELOG_KEY"] = key
        _ = try workspace.output("import", "e.jsonl", "--store", "hidden")
        #expect(try digest(workspace, "hidden") == before)
    }

    @Test func `export and import report that the contents of pending streams are missing`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["P=Photos"])
        try workspace.write("first", to: "a.txt")
        _ = try workspace.output("media", "create", "Photos", "a.txt", "--type", "text/plain")
        let run = try workspace.tidelog("export", "-o", "e.jsonl")
        #expect(
            run
                == Run(
                    status: 0, output: "",
                    error: "tidelog: The export does not contain the contents of streams; "
                        + "1 operation writes one that the service does not have.\n"))
        let made = try workspace.tidelog("import", "e.jsonl", "--store", "copy", "--json")
        #expect(made.output.hasSuffix(#","missingStreams":1}"# + "\n"))
        #expect(
            made.error == "tidelog: An export does not contain the contents of streams; "
                + "1 operation writes one that the service does not have. Copy the files from "
                + "'streams' in the exported store to copy/streams, or write them again before the next push.\n")
        // The advice in the message is sufficient.
        try FileManager.default.copyItem(
            atPath: workspace.path(".tidelog/streams"), toPath: workspace.path("copy/streams"))
        #expect(try workspace.output("push", "--store", "copy").hasPrefix("1 confirmed"))
        // After the push there is no message.
        _ = try workspace.output("export", "-o", "e.jsonl", "--store", "copy")
        #expect(try workspace.tidelog("export", "-o", "e.jsonl", "--store", "copy").error == "")
    }

    @Test func `export writes to a pipe or through a link and overwrites no other file`() throws {
        let workspace = try workspace(try SandboxServer())
        let export = try workspace.output("export")
        #expect(mkfifo(workspace.path("pipe"), 0o600) == 0)
        // The pipe is open for reading and writing, so that no process blocks. The export fits into the buffer of the
        // pipe.
        let pipe = open(workspace.path("pipe"), O_RDWR)
        defer { close(pipe) }
        #expect(export.utf8.count < 60_000)
        #expect(try workspace.tidelog("export", "-o", "pipe") == Run(status: 0, output: "", error: ""))
        var piped = [UInt8](repeating: 0, count: 1 << 16)
        var queued: Int32 = 0
        #expect(ioctl(pipe, UInt(FIONREAD), &queued) == 0)
        let count = queued > 0 ? read(pipe, &piped, piped.count) : 0
        let text = String(decoding: piped.prefix(count), as: UTF8.self)
        #expect(text.replacing(workspace.origin, with: "http://HOST") == export)
        try workspace.write("mine", to: "real.jsonl.new")
        try workspace.write("old", to: "real.jsonl")
        try FileManager.default.createSymbolicLink(
            atPath: workspace.path("link"), withDestinationPath: "real.jsonl")
        #expect(try workspace.tidelog("export", "-o", "link") == Run(status: 0, output: "", error: ""))
        #expect(workspace.text("real.jsonl") == export && workspace.read("real.jsonl.new") == "mine")
        let names = try FileManager.default.contentsOfDirectory(atPath: workspace.folder.path)
        let made = names.filter { $0.hasPrefix("link") || $0.hasPrefix("pipe") || $0.hasPrefix("real") }
        #expect(made.sorted() == ["link", "pipe", "real.jsonl", "real.jsonl.new"])
        let type = try FileManager.default.attributesOfItem(atPath: workspace.path("link"))[.type]
        #expect(type as? FileAttributeType == .typeSymbolicLink)
    }

    @Test func `a failed import leaves no store`() throws {
        let workspace = try workspace(try SandboxServer())
        let whole = try workspace.output("export")
        try workspace.write(whole.split(separator: "\n").prefix(3).joined(separator: "\n"), to: "short.jsonl")
        let short = try workspace.tidelog("import", "short.jsonl", "--store", "copy")
        #expect(
            short
                == Run(
                    status: 1, output: "",
                    error: "tidelog: Line 4 of the export is missing: the export is incomplete. "
                        + "Export the store again with 'tidelog export'.\n"))
        let taken = try workspace.tidelog("import", "short.jsonl", "--store", ".tidelog")
        #expect(
            taken
                == Run(
                    status: 1, output: "",
                    error: "tidelog: The directory already exists (.tidelog). Choose another directory.\n"))
        let missing = try workspace.tidelog("import", "none.jsonl", "--store", "copy")
        #expect(missing.status == 1 && missing.error.hasPrefix("tidelog: none.jsonl cannot be read: "))
        #expect(
            !(try FileManager.default.contentsOfDirectory(atPath: workspace.folder.path)).contains {
                $0.hasPrefix("copy")
            })
    }

    @Test func `the export of a range warns that no store can be created from it`() throws {
        let workspace = try workspace(try SandboxServer())
        let run = try workspace.tidelog("export", "--from", "9", "--to", "10")
        #expect(run.status == 0)
        #expect(
            run.error == "tidelog: The export does not contain the beginning of the log, so it cannot be imported.\n")
        #expect(run.lines.count == 4 && run.lines[0].hasSuffix(#""firstSequence":9,"complete":false}"#))
        #expect(run.lines[2].contains(#""kind":"operation","summary":"create Orders(~8) Note='x'""#))
        let wrong = try workspace.tidelog("export", "--format", "xml")
        #expect(wrong.status == 64)
    }

    @Test func `table and trace formats of an export are printed completely`() throws {
        let workspace = try workspace(try SandboxServer())
        let time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/
        let table = try workspace.output("export", "--format", "csv", "--from", "9").replacing(time, with: "TIME")
        #expect(
            table == """
                sequence,time,kind,fate,action,entities,batch,operations,status,code,message,summary\r
                9,TIME,operation,confirmed,update,Customers(~1),,,,,,update Customers(~1) Name='Eve'\r
                10,TIME,operation,confirmed,create,Orders(~8),,,,,,create Orders(~8) Note='x'\r
                11,TIME,batchPrepared,,,,1,9 10,,,,batch 1 prepared: 2 operations in 2 change sets\r
                12,TIME,batchAnswered,,,Orders(~8),1,9 10,,,,batch 1 answered: 2 confirmed\r
                13,TIME,operation,pending,create,Customers(~9),,,,,,create Customers(~9) Name='=1+1'\r

                """)
        let trace = try workspace.output("export", "--format", "trace", "--from", "13")
            .replacing(/"ts":\d+/, with: #""ts":N"#)
        #expect(
            trace == """
                {"displayTimeUnit":"ms","traceEvents":[
                {"name":"process_name","ph":"M","pid":1,"args":{"name":"Entity sets"}},
                {"name":"process_name","ph":"M","pid":2,"args":{"name":"Batches"}},
                {"name":"process_name","ph":"M","pid":3,"args":{"name":"Downloads"}},
                {"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"Customers"}},
                {"name":"create","cat":"Entity sets","ph":"X","ts":N,"dur":1000,"pid":1,"tid":1,"args":{"sequence":13,"summary":"create Customers(~9) Name='=1+1'"}}]}

                """)
    }

    // MARK: Redaction

    @Test func `a redacted store has the same queue, plan and links, and none of the values`() throws {
        let server = try SandboxServer(
            faults: #"[{"effect":"refuse","status":409,"method":"POST","url":"Customers","part":"any","times":1}]"#)
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders?$filter=Amount gt 1"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Refused"}"#, "--tag", "hidden tag")
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Zebedee"}"#)
        _ = try workspace.tidelog("push")
        _ = try workspace.output("create", "Orders", #"{"Note":"Zebedee"}"#)
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"kept"}"#)
        let run = try workspace.tidelog("redact", "-o", "red", "--keep", "Orders/Note", "--jsonl", "red.jsonl")
        #expect(run.status == 0 && run.error == "")
        #expect(run.output.replacing(/^\d+/, with: "N") == "N records in red, with replaced values.\n")
        #expect(try workspace.tidelog("verify", "--store", "red").status == 0)

        // The number, action, entity and state. The rest of a line contains text from the service.
        func states(_ store: String) throws -> [[String]] {
            try workspace.output("status", "--json", "--store", store).split(separator: "\n").map { line in
                ["sequence", "action", "entityID", "state", "next"].map { name in
                    let member = line.firstMatch(of: try! Regex("\"\(name)\":(\"[^\"]*\"|[0-9]+)"))
                    return member.map { String($0.0) } ?? ""
                }
            }
        }
        func plan(_ store: String) throws -> [String] {
            try workspace.output("plan", "--store", store).split(whereSeparator: \.isNewline).filter {
                $0.hasPrefix("Content-ID") || $0.contains("HTTP/1.1")
            }.map { String($0).replacing(/\(\d+\)/, with: "(KEY)") }
        }
        #expect(try states("red") == states(".tidelog") && states("red").count == 3)
        #expect(try plan("red") == plan(".tidelog") && !plan("red").isEmpty)
        for query in ["Orders?$expand=Customer", "Customers?$expand=Orders"] {
            func shape(_ store: String) throws -> [Int] {
                try workspace.output("query", query, "--json", "--store", store).split(separator: "\n").map {
                    $0.matches(of: /@entityID/).count
                }
            }
            #expect(try shape("red") == shape(".tidelog"))
        }
        let log = try workspace.output("log", "--all", "--json", "--store", "red") + workspace.read("red.jsonl")
        for secret in ["Refused", "hidden tag", "Ada", "InjectedFault", "127.0.0.1", "sandbox"] {
            #expect(!log.contains(secret), "\(secret)")
        }
        #expect(log.contains("Note='kept'") && log.contains("Name="))
        _ = try workspace.output("import", "red.jsonl", "--store", "again")
        #expect(try digest(workspace, "again") == digest(workspace, "red"))
        let nowhere = try workspace.tidelog("redact", "-o", "other", "--jsonl", "none/x")
        #expect(
            nowhere
                == Run(
                    status: 1, output: "",
                    error: "tidelog: The file cannot be written: No such file or directory (none/x). "
                        + "Check the free space and the permissions.\n"))
        try FileManager.default.createDirectory(
            atPath: workspace.path("other.unfinished/log"), withIntermediateDirectories: true)
        try workspace.write("mine", to: "other.unfinished/log/notes")
        let taken = try workspace.tidelog("redact", "-o", "other")
        #expect(
            taken
                == Run(
                    status: 1, output: "",
                    error: "tidelog: The path exists and is not an unfinished store (other.unfinished). "
                        + "Move it away, or choose another directory.\n"))
        #expect(workspace.read("other.unfinished/log/notes") == "mine")
        #expect(!FileManager.default.fileExists(atPath: workspace.path("other")))
        try FileManager.default.removeItem(atPath: workspace.path("other.unfinished"))
        let wrong = try workspace.tidelog("redact", "-o", "other", "--keep", "Orders/Nothing")
        #expect(
            wrong
                == Run(
                    status: 1, output: "",
                    error: "tidelog: Orders/Nothing is not a property of an entity set. Write it as Set/Property.\n"))
    }

    @Test func `redact creates no store if its export cannot be written`() throws {
        let workspace = try workspace(try SandboxServer())
        let run = try workspace.tidelog("redact", "-o", "red", "--jsonl", "/dev/full")
        #expect(
            run
                == Run(
                    status: 1, output: "",
                    error: "tidelog: The file cannot be written: No space left on device (/dev/full). "
                        + "Check the free space and the permissions.\n"))
        let names = try FileManager.default.contentsOfDirectory(atPath: workspace.folder.path)
        #expect(names.filter { $0.hasPrefix("red") } == [])
    }

    @Test(arguments: [true, false])
    func `redact warns that the new store is not encrypted, also if the log got its key later`(early: Bool) throws {
        let server = try SandboxServer()
        let workspace = try Workspace()
        let key = String(repeating: "0123456789abcdef", count: 4)
        workspace.environment["TIDELOG_KEY"] = early ? key : ""
        _ = try workspace.output("init", server.root(.v4), "--query", "C=Customers")
        workspace.environment["TIDELOG_KEY"] = key
        _ = try workspace.output("pull")
        _ = try workspace.output("create", "Customers", #"{"Name":"Ada"}"#)
        let run = try workspace.tidelog("redact", "-o", "red")
        #expect(run.status == 0)
        #expect(run.error == "tidelog: The store is encrypted, but the redacted copy is not.\n")
        #expect(
            try workspace.tidelog("export", "-o", "e.jsonl").error
                == "tidelog: The store is encrypted, but the export is not.\n")
        workspace.environment["TIDELOG_KEY"] = ""
        #expect(try workspace.tidelog("verify", "--store", "red").status == 0)
    }
}
