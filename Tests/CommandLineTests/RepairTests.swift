import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct RepairTests {
    private static let segment = ".tidelog/log/00000000000000000001.segment"

    /// Returns a store with thirteen records. Record 12 is the response to the first batch.
    private func filled(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"n"}"#, "--bind", "Customer=Customers(~8)")
        _ = try workspace.output("push")
        _ = try workspace.output("update", "Customers(~8)", #"{"Name":"Later"}"#)
        return workspace
    }

    @Test func `a sound store needs no repair`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        #expect(try workspace.tidelog("repair") == Run(status: 0, output: "No damage was found.\n"))
        #expect(
            try workspace.tidelog("repair", "--in-place", "--json")
                == Run(status: 0, output: "{\"plan\":\"nothing\"}\n"))
    }

    @Test func `repair prints readable and lost records, changes nothing and exits with 2`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        try workspace.damage(block: 12)
        let before = try Data(contentsOf: workspace.folder.appendingPathComponent(Self.segment))
        let run = try workspace.tidelog("repair")
        #expect(run.status == 2)
        #expect(
            run.lines.dropFirst() == [
                "12 records can be read, 1 is lost: 12.",
                "Nothing was changed. 'tidelog repair --output NEW' creates a store from the readable records; 'tidelog repair "
                    + "--in-place' replaces the log of this store and keeps the damaged log.",
            ])
        let json = try workspace.tidelog("repair", "--json")
        #expect(
            json.output
                == #"{"plan":"salvage","damages":1,"mendedBits":0,"firstSequence":1,"readable":12,"lost":1,"lostRanges":[[12,12]],"passedOver":[],"snapshots":[],"stateIsWhole":false}"#
                + "\n")
        #expect(try Data(contentsOf: workspace.folder.appendingPathComponent(Self.segment)) == before)
    }

    @Test func `a salvaged store opens, and operations before the lost records are in doubt`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        try workspace.damage(block: 12)
        let run = try workspace.tidelog("repair", "--output", "saved")
        #expect(run.status == 0)
        #expect(
            run.lines == [
                "12 records can be read, 1 is lost: 12.",
                "Created the store saved. The damaged store was not changed.",
                "Run 'tidelog status': operations before the lost records are in doubt, because their responses may be among "
                    + "them; the next push determines their outcomes if possible. Then run 'tidelog pull' to download missing entities again.",
            ])
        #expect(try workspace.output("verify", "--store", "saved").hasSuffix("The log has no damage.\n"))
        let status = try workspace.output("status", "--store", "saved")
        #expect(status.contains("in doubt"))
        let log = try workspace.tidelog("log", "--store", "saved")
        #expect(log.status == 0)
        #expect(log.lines.contains("    12  a record that was lost by damage; its content cannot be recovered"))
        // The service has both entities. The pull reads them again, and the push does not send them twice.
        _ = try workspace.tidelog("push", "--store", "saved")
        _ = try workspace.output("pull", "--store", "saved")
        let names = try workspace.output("query", "--store", "saved", "Customers?$filter=Name eq 'Neu'", "--json")
        #expect(names.contains(#""Name":"Neu""#))
    }

    @Test func `repair --in-place keeps the damaged log and rebuilds the views`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        try workspace.damage(block: 12)
        #expect(try workspace.tidelog("status").status == 2)
        let run = try workspace.tidelog("repair", "--in-place")
        #expect(run.status == 0)
        #expect(run.output.contains("The damaged log is kept as .tidelog/log.damaged-1;"))
        #expect(!FileManager.default.fileExists(atPath: workspace.path(".tidelog/views.sqlite")))
        #expect(FileManager.default.fileExists(atPath: workspace.path(".tidelog/log.damaged-1")))
        #expect(try workspace.tidelog("status").status == 0)
        #expect(try workspace.tidelog("repair") == Run(status: 0, output: "No damage was found.\n"))
    }

    @Test func `the next command completes a repair that was interrupted between its two renames`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let (log, repaired) = (workspace.path(".tidelog/log"), workspace.path(".tidelog/log.repaired"))
        try FileManager.default.moveItem(atPath: log, toPath: repaired)
        #expect(try workspace.tidelog("status").status == 0)
        #expect(FileManager.default.fileExists(atPath: log))
        #expect(!FileManager.default.fileExists(atPath: repaired))
    }

    @Test func `an incomplete commit at the end is cut by repair and is not damage`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let file = workspace.folder.appendingPathComponent(Self.segment)
        try Data(contentsOf: file).dropLast(3).write(to: file)
        try workspace.forgetEnd()
        let plan = try workspace.tidelog("repair")
        #expect(plan.status == 0)
        #expect(plan.output.contains("of an incomplete commit. No damage"))
        let run = try workspace.tidelog("repair", "--in-place")
        #expect(run.status == 0)
        #expect(run.output.contains("of an incomplete commit were removed from"))
        #expect(try workspace.tidelog("repair") == Run(status: 0, output: "No damage was found.\n"))
    }

    @Test func `a store that lost its metadata reports the loss and reads the metadata again with pull`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        try workspace.damage(block: 1)
        try FileManager.default.removeItem(atPath: workspace.path(".tidelog/views.sqlite"))
        _ = try workspace.output("repair", "--in-place")
        let status = try workspace.tidelog("status")
        #expect(status.status == 2)
        #expect(status.error.contains("no metadata") && status.error.contains("'tidelog pull'"))
        #expect(try workspace.tidelog("pull").status == 0)
        #expect(try workspace.tidelog("status").status == 0)
    }

    @Test func `repair reports conflicting options and an existing directory`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        #expect(try workspace.tidelog("repair", "--in-place", "--output", "x").status == 64)
        try workspace.damage(block: 12)
        let taken = try workspace.tidelog("repair", "--output", ".tidelog")
        #expect(taken.status == 1)
        #expect(taken.error == "tidelog: The directory already exists (.tidelog). Choose another directory.\n")
    }
}
