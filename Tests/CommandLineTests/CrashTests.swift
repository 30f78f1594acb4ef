import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

@Suite(.serialized, .timeLimit(.minutes(20))) struct CrashTests {
    /// The number of lines in a file. Each third line is a change set of two operations.
    private static let lineCount = 60

    private func file(round: Int) -> String {
        (1...Self.lineCount).map { number in
            let name = "\(round)-\(number)"
            let create = #"{"op":"create","set":"Customers","value":{"Name":"\#(name)"}}"#
            guard number.isMultiple(of: 3) else { return create }
            return
                #"{"op":"changeSet","operations":[\#(create),{"op":"create","set":"Orders","value":{"Note":"\#(name)"}}]}"#
        }.joined(separator: "\n")
    }

    private func texts(_ workspace: Workspace, _ set: String, _ property: String) throws -> [String] {
        try workspace.output("query", "\(set)?$select=\(property)", "--json").split(separator: "\n").map { line in
            let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return json?[property] as? String ?? ""
        }
    }

    @Test func `after a kill every acknowledged line is in the store and no operation is incomplete`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace()
        _ = try workspace.output("init", server.root(.v4))
        var customers: [String] = []
        var orders: [String] = []
        for round in 1...24 {
            try workspace.write(file(round: round), to: "ops.jsonl")
            let running = try workspace.start(["apply", "ops.jsonl", "--json"])
            // The process is killed between two acknowledgements, from before the first one to near the end of the
            // file.
            let target = (round * 7) % (Self.lineCount - 5)
            while workspace.read(running.output).count(where: { $0 == "\n" }) < target, running.process.isRunning {
                usleep(500)
            }
            kill(running.process.processIdentifier, SIGKILL)
            running.process.waitUntilExit()
            let acknowledged = workspace.read(running.output).count { $0 == "\n" }
            #expect(acknowledged >= target)
            let names = try texts(workspace, "Customers", "Name").filter { $0.hasPrefix("\(round)-") }
            // The store contains the first lines of the file: all acknowledged lines, and possibly the next one, which
            // was durable but not acknowledged.
            #expect(names == (0..<names.count).map { "\(round)-\($0 + 1)" })
            #expect((acknowledged...acknowledged + 1).contains(names.count), "round \(round)")
            customers += names
            orders += names.indices.filter { ($0 + 1).isMultiple(of: 3) }.map { names[$0] }
        }
        // Everything from earlier rounds is still present, and no change set is incomplete.
        #expect(try texts(workspace, "Customers", "Name") == customers)
        #expect(try texts(workspace, "Orders", "Note") == orders)
        // The views are derived: rebuilt from the log, they have the same content.
        for name in ["views.sqlite", "views.sqlite-wal", "views.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: workspace.path(".tidelog/\(name)"))
        }
        #expect(try texts(workspace, "Customers", "Name") == customers)
    }
}
