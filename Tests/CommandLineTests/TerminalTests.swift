import Foundation
import TestSupport
import Testing

/// Output that is printed only to a terminal: colors, and tables that fit its width.
@Suite(.timeLimit(.minutes(20))) struct TerminalTests {
    /// Returns a store with a confirmed customer (6), a rejected order (7), an undone update (10) and a pending one
    /// (12).
    private func workspace() throws -> Workspace {
        let server = try SandboxServer(
            faults: #"[{"effect":"refuse","status":409,"method":"POST","url":"Orders","part":"any"}]"#)
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"n"}"#)
        _ = try workspace.tidelog("push")
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        let last = try #require(try workspace.output("log").split(separator: "\n").last?.split(separator: " ").first)
        _ = try workspace.output("undo", String(last))
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"A rather long name that no narrow table takes"}"#)
        return workspace
    }

    private func uncoloured(_ text: String) -> String { text.replacing(/\u{1B}\[\d*m/, with: "") }

    @Test func `log and diff use colours on a terminal`() throws {
        let workspace = try workspace()
        let (green, yellow, red, faint, off) = ("\u{1B}[32m", "\u{1B}[33m", "\u{1B}[31m", "\u{1B}[2m", "\u{1B}[0m")
        let time = "2026-01-01T00:00:00.000Z"
        #expect(
            try workspace.onTerminal(80, "log") == """
                     6  \(time)  \(green)confirmed\(off)  create Customers(~4) Name='Neu'
                     7  \(time)  \(red)rejected \(off)  create Orders(~5) Note='n'
                    10  \(time)  \(faint)undone   \(off)  update Customers(~1) Name='Eve'
                    11  \(time)             1 operation undone: 10
                    12  \(time)  \(yellow)pending  \(off)  update Customers(~1) Name='A rather long name that no narrow table takes'

                """)
        let difference = try workspace.onTerminal(80, "diff", "5", "7")
        #expect(difference.contains("\(green)+ Customers(~4)\(off)\n"))
        #expect(try workspace.onTerminal(80, "diff", "7", "5").contains("\(red)- Customers(~4)\(off)\n"))
        #expect(try workspace.onTerminal(80, "replay", "--from", "11").hasPrefix("    12  \(faint)"))
    }

    @Test(arguments: [("NO_COLOR", "1"), ("TERM", "dumb")])
    func `environment variables disable colours and do not change the text`(variable: (name: String, value: String))
        throws
    {
        let workspace = try workspace()
        let coloured = try workspace.onTerminal(80, "log")
        workspace.environment[variable.name] = variable.value
        let plain = try workspace.onTerminal(80, "log")
        #expect(!plain.contains("\u{1B}") && coloured.contains("\u{1B}"))
        #expect(plain == uncoloured(coloured))
    }

    @Test func `output to a program has no colours and no cut cells unless a variable requests them`() throws {
        let workspace = try workspace()
        for command in [["log"], ["status"], ["diff", "5", "7"]] {
            let run = try workspace.run(command)
            #expect(!run.output.contains("\u{1B}"))
        }
        workspace.environment["COLUMNS"] = "40"
        #expect(try workspace.output("query", "Customers(1)?$select=Name").contains("A rather long name that no narr"))
        workspace.environment["CLICOLOR_FORCE"] = "1"
        // The variable may be set in the environment of the tests.
        workspace.environment["NO_COLOR"] = ""
        #expect(try workspace.output("log").contains("\u{1B}[32mconfirmed"))
        workspace.environment["NO_COLOR"] = "1"
        #expect(!(try workspace.output("log").contains("\u{1B}")))
    }

    @Test(arguments: [40, 60, 80] as [UInt16])
    func `a table is not wider than the terminal`(columns: UInt16) throws {
        let workspace = try workspace()
        let lines = try workspace.onTerminal(columns, "status").split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
        // A wide terminal shows the complete table.
        let whole = try workspace.onTerminal(300, "status").split(separator: "\n").map(String.init)
        #expect(whole.allSatisfy { !$0.contains("…") } && whole.contains { $0.count > columns })
    }

    @Test func `a narrow table cuts the widest column and leaves numbers whole`() throws {
        let workspace = try workspace()
        #expect(
            try workspace.onTerminal(60, "status") == """
                operation  action             state     reason
                ---------  -----------------  --------  --------------------
                        7  create Orders(~5)  rejected  the service respond…
                       12  update Customers…  pending

                1 pending, 1 rejected, 1 undone.

                """)
        workspace.environment["COLUMNS"] = "50"
        #expect(
            try workspace.onTerminal(300, "status").split(separator: "\n").allSatisfy { $0.count <= 50 })
    }
}
