import Foundation
import TestSupport
import Testing

extension Workspace {
    /// Changes a byte in a block of the store's only segment, in its payload or in its header. Each commit is a block.
    func damage(block: Int, header: Bool = false) throws {
        let segment = folder.appendingPathComponent(".tidelog/log/00000000000000000001.segment")
        var bytes = [UInt8](try Data(contentsOf: segment))
        var offset = 64
        for _ in 1..<block { offset += 44 + Int(bytes[offset + 24]) + Int(bytes[offset + 25]) << 8 }
        bytes[offset + (header ? 9 : 50)] ^= 0xFF
        try Data(bytes).write(to: segment)
    }

    /// Removes the recorded end of the log, as if the process had been killed.
    func forgetEnd() throws {
        try FileManager.default.removeItem(at: folder.appendingPathComponent(".tidelog/log/END"))
    }
}

/// Commands on a store with a lost record. Each command returns the readable data and reports the lost record.
@Suite(.timeLimit(.minutes(20))) struct DamagedStoreTests {
    static let notice =
        "tidelog: The log .tidelog/log is damaged: 1 record is lost (10). The output is based on the readable records. Run 'tidelog repair' "
        + "for details.\n"

    /// Returns a store with updates of two customers and a new order. The second update, record 10, is damaged.
    private func workspace(_ server: SandboxServer, header: Bool = false) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        _ = try workspace.output("update", "Customers(2)", #"{"Name":"Zwei"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"x"}"#)
        try workspace.damage(block: 10, header: header)
        return workspace
    }

    private func expect(
        _ output: String, _ workspace: Workspace, _ arguments: String..., status: Int32 = 0
    ) throws {
        let run = try workspace.run(arguments)
        #expect(run.output == output)
        #expect(run.error == Self.notice)
        #expect(run.status == status)
    }

    @Test(arguments: [false, true])
    func `a state after the damage contains the readable records, and a notice reports the lost ones`(_ header: Bool)
        throws
    {
        let server = try SandboxServer()
        let workspace = try workspace(server, header: header)
        try expect("Eve\n", workspace, "at", "11", "query", "Customers(1)/Name/$value")
        try expect("5\n", workspace, "query", "Orders/$count", "--at", "11")
        let status = try workspace.tidelog("status", "--at", "11")
        #expect(status.lines.last == "1 pending, 1 in doubt.")
        #expect(status.error == Self.notice)
        let plan = try workspace.tidelog("plan", "--at", "11")
        #expect(plan.output.contains("POST Orders HTTP/1.1"))
        #expect(plan.error.hasPrefix(Self.notice))
    }

    @Test func `a replay continues after the damage, and its check reports the lost records`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let replay = try workspace.tidelog("replay")
        #expect(replay.status == 0)
        #expect(replay.error == Self.notice)
        #expect(replay.lines.count == 11)
        #expect(replay.lines[9].hasSuffix("a lost record"))
        let check = try workspace.tidelog("replay", "--check")
        #expect(check.status == 2)
        #expect(check.error == Self.notice)
        #expect(
            check.lines.prefix(2) == ["11 records folded, from the first one.", "1 record of these is lost by damage."])
        let json = try workspace.tidelog("replay", "--check", "--json")
        #expect(json.output.hasPrefix(#"{"sound":true,"records":11,"#))
        #expect(json.output.contains(#","lostRecords":1}"#))
    }

    @Test func `bisect runs its command on repaired copies`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let tidelog = Executable.url.path
        let command = "test $(\(tidelog) query --store {} 'Orders/$count') -lt 5"
        let run = try workspace.tidelog("bisect", "--good", "8", "--run", command)
        #expect(run.lines.contains("The condition is first true after operation 11."))
        #expect(run.error.hasPrefix(Self.notice))
    }

    @Test func `what-if inserts operations into the readable records`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        try workspace.write(#"{"op":"create","set":"Orders","value":{"Note":"in"}}"# + "\n", to: "lines")
        let run = try workspace.tidelog("what-if", "--insert", "lines")
        #expect(run.status == 0)
        #expect(run.error == Self.notice)
        #expect(run.lines.contains("    + Note: 'in'"))
    }

    @Test func `diff prints the notice about lost records once for two states`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let run = try workspace.tidelog("diff", "11", "now")
        #expect(run.status == 0)
        #expect(run.error == Self.notice)
    }

    @Test(arguments: [false, true])
    func `the log command continues after a damaged block, also with a damaged header`(_ header: Bool) throws {
        let server = try SandboxServer()
        let workspace = try workspace(server, header: header)
        let run = try workspace.tidelog("log")
        #expect(run.status == 2)
        #expect(run.lines.count == 3)
        #expect(run.lines[0].hasSuffix("update Customers(~1) Name='Eve'"))
        #expect(run.lines[1].hasPrefix("    10  .tidelog/log/00000000000000000001.segment is damaged at offset "))
        #expect(run.lines[1].hasSuffix(" The log continues with 11."))
        #expect(run.lines[2].hasSuffix("create Orders(~8) Note='x'"))
    }
}
